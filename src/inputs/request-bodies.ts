import { resolve } from "node:path";
import { defined } from "../plan/objects.ts";
import { showValue } from "../plan/show-value.ts";
import type { BodyPlan, FormPartPlan } from "../service/http/requests-plan.ts";

/** The bodies of requests, as a scenario writes them. */

/** A value that can be written as JSON. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue | undefined };

/** Properties of a file in a request, besides its bytes. */
export interface FileOptions {
  /**
   * Value of Content-Type. Default: from the file name extension, for example `image/jpeg`; otherwise
   * `application/octet-stream`.
   */
  readonly type?: string;
  /** File name in a form. Default: the name of the file. */
  readonly name?: string;
}

/** A file whose bytes are sent; see `file()`. A class, so that JSON with the same fields is still JSON. */
export class FileBody {
  readonly file: string;
  readonly options: FileOptions;

  constructor(file: string, options: FileOptions) {
    this.file = file;
    this.options = options;
  }
}

/** The value of a form's field: text, a number, bytes or a file; a list sends the field several times. */
export type FormField = string | number | boolean | Uint8Array | FileBody;

/** A form of type multipart/form-data; see `multipart()`. */
export class MultipartBody {
  readonly fields: FormFields;

  constructor(fields: FormFields) {
    this.fields = fields;
  }
}

/** The fields of a form by name, in the order in which they are sent. */
export type FormFields = Readonly<Record<string, FormField | readonly FormField[]>>;

/** The body of a request: text, bytes, a file, a form, or a list or an object, which is sent as JSON. */
export type RequestBody =
  | string
  | Uint8Array
  | FileBody
  | MultipartBody
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue | undefined };

/** One request, as a function returns it. Omitted fields are taken from the target. */
export interface RequestOfScenario {
  /** Method. Default: the target's. */
  readonly method?: string | undefined;
  /** Path and query, with the leading slash. Default: the target's. */
  readonly path?: string | undefined;
  /** Headers that replace the target's headers of the same name. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Body. Default: the target's. */
  readonly body?: RequestBody | undefined;
}

/** Converts a body to its form in a plan; undefined if the value is not a body. @param folder base of relative paths */
export function toBodyPlan(body: unknown, folder: string): BodyPlan | undefined {
  if (typeof body === "string") return { form: "text", text: body };
  if (body instanceof Uint8Array) return { form: "bytes", base64: Buffer.from(body).toString("base64") };
  if (body instanceof FileBody) return toFilePlan(body, folder);
  if (body instanceof MultipartBody) return toFormPlan(body, folder);
  if (typeof body !== "object" || body === null || ArrayBuffer.isView(body)) return undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch {
    // The value has cycles or bigints.
  }
  return text === undefined ? undefined : { form: "json", text };
}

/** Describes a value that is not a body, for errors. */
export function describeBody(value: unknown): string {
  return typeof value === "function" ? "a function" : showValue(value);
}

function toFilePlan({ file, options }: FileBody, folder: string): Extract<BodyPlan, { form: "file" }> {
  const { type } = options;
  return { form: "file", file: resolve(folder, file), ...defined({ contentType: type }) };
}

function toFormPlan({ fields }: MultipartBody, folder: string): BodyPlan | undefined {
  if (typeof fields !== "object" || fields === null || !Object.values(fields).flat().every(isField)) return undefined;
  const parts = Object.entries(fields).flatMap(([name, field]) =>
    (Array.isArray(field) ? (field as readonly FormField[]) : [field as FormField]).map((value) =>
      toPartPlan(name, value, folder),
    ),
  );
  return { form: "multipart", parts };
}

function toPartPlan(name: string, value: FormField, folder: string): FormPartPlan {
  if (value instanceof Uint8Array)
    return { name, value: { form: "bytes", base64: Buffer.from(value).toString("base64") } };
  if (typeof value !== "object") return { name, value: { form: "text", text: String(value) } };
  const { name: fileName } = value.options;
  return { name, ...defined({ fileName }), value: toFilePlan(value, folder) };
}

function isField(value: unknown): boolean {
  return (
    ["string", "number", "boolean"].includes(typeof value) || value instanceof Uint8Array || value instanceof FileBody
  );
}
