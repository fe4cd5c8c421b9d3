import * as v from "valibot";
import type { TargetPlan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { OutputOf } from "../../plan/schema.ts";
import { DEFAULT_CONTENT_TYPE, DEFAULT_PART } from "../../service/torchserve/target.ts";
import { refuseMore } from "../arguments.ts";
import { nameSchema, strictOptions } from "../fields.ts";
import { serverForm } from "../form.ts";
import type { Inputs } from "../input-data.ts";
import { splitUrls, type Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, inner, landed, landing, schemasOf } from "./target-field.ts";
import {
  headersField,
  type ModelOptions,
  modelField,
  needsOther,
  serverEntries,
  tlsField,
  toServerPlan,
} from "./target-fields.ts";

/** Options of {@link torchserve}. */
export interface TorchServeOptions extends ModelOptions {
  /** Version of the model. Default: the server's default version. */
  readonly version?: string;
  /** Form of a request: a form (multipart/form-data) with the file as its only part, or the file itself. Default: `"multipart"`. */
  readonly body?: "multipart" | "raw";
  /** Name of the form's part, by which the handler finds the file (multipart only). Default: `"data"`. */
  readonly part?: string;
  /** Content type of the file (raw only); handlers get `application/json` decoded. Default: `"application/octet-stream"`. */
  readonly contentType?: string;
  /** Address of the management API, which lists the models of the server for errors. Default: the server's next port. */
  readonly managementUrl?: string;
}

/**
 * A TorchServe server. Each request is one file of {@link files}: TorchServe itself joins requests in flight into batches.
 * @param url `host:port` (default port: 8080), or an `http://` or `https://` URL. With several addresses, requests go to each
 * one in turn.
 * @example
 * torchserve("localhost:8080", { model: "resnet-18" })
 */
export function torchserve(
  url: string | readonly string[],
  options: TorchServeOptions,
): Target<"http", "bytes", never> {
  refuseMore("torchserve(url, options)", arguments);
  return { kind: "torchserve", ...splitUrls(url), options: options as { readonly protocol?: "http" } };
}

const INPUTS_HINT = 'Write input.files("images/*.jpg"), or input.files([…]).';

export const torchServeBuilder: TargetBuilder<TorchServeTarget> = {
  form: serverForm("torchserve"),
  takes: "payloads",
  takesFiles: true,
  inputsHint: INPUTS_HINT,
  check: checkInputs,
  schema: torchServeSchema,
  toPlan: toTorchServePlan,
};

/** Files cannot be generated, and prompts need a language model. */
function checkInputs(_target: TorchServeTarget, inputs: Inputs | undefined): Problem[] {
  if (inputs !== undefined) return [];
  return [problem("missing", "inputs", "torchserve(…) takes files", INPUTS_HINT)];
}

type TorchServeTarget = OutputOf<typeof torchServeSchema>;

function torchServeFields() {
  const line = (what: string) => v.optional(v.pipe(nameSchema(what), v.regex(/^[^\r\n\0]*$/, "must be one line")));
  return {
    model: modelField(),
    version: landing(v.optional(v.string("must be text")), "modelVersion", (version = "") => version),
    body: inner(v.optional(v.picklist(["multipart", "raw"], 'must be "multipart" or "raw"'))),
    part: inner(line("a part of the form")),
    contentType: inner(line("a content type")),
    headers: headersField(),
    managementUrl: landing(v.optional(nameSchema("host:port or a URL")), "managementUrl"),
    tls: tlsField(),
  } satisfies FieldsFor<TorchServeOptions>;
}

function torchServeSchema() {
  const options = strictOptions(schemasOf(torchServeFields()));
  return v.pipe(
    v.object({
      kind: v.literal("torchserve"),
      ...serverEntries('torchserve("localhost:8080", { model: "NAME" })'),
      options,
    }),
    needsOther("part", "body", (body) => body !== "raw", ['needs body: "multipart"']),
    needsOther("contentType", "body", (body) => body === "raw", ['needs body: "raw"']),
  );
}

function toTorchServePlan({ options, ...server }: TorchServeTarget, folder: string): TargetPlan {
  const { body, part = DEFAULT_PART, contentType = DEFAULT_CONTENT_TYPE } = options;
  return {
    kind: "torchserve",
    ...toServerPlan(server),
    protocol: "http",
    body: body === "raw" ? { kind: "raw", contentType } : { kind: "multipart", part },
    batchSize: 1,
    isStreaming: false,
    ...landed(torchServeFields(), options, folder),
  };
}
