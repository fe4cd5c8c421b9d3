import { basename, extname } from "node:path";
import { functionOf } from "../plan/functions.ts";
import { defined } from "../plan/objects.ts";
import { unreadable, userError } from "../plan/problem.ts";
import { countOf } from "../plan/units.ts";
import { NO_BYTES } from "../runtime/bytes.ts";
import { MOST_BODY_BYTES, readFileBytes } from "../runtime/files.ts";
import { encoder } from "../runtime/text.ts";
import type { PayloadRequest } from "../service/content.ts";
import type { BodyPlan, FormPartPlan, RequestsInputsPlan } from "../service/http/requests-plan.ts";
import { type EncodedBody, encodeForm, type FormPart } from "../service/multipart.ts";
import { describeUserError, readReturned } from "../service/user-defined/user-error.ts";
import {
  HEADER_NAME,
  HEADER_VALUE,
  HTTP_METHODS,
  type HttpMethod,
  REQUEST_PATH,
  REQUEST_PATH_RULE,
} from "../transport/request.ts";
import { type DataStep, type Dataset, NO_TENSORS } from "./dataset.ts";
import { describeBody, type RequestBody, type RequestOfScenario, toBodyPlan } from "./request-bodies.ts";

/** Requests that a plan describes or a scenario's function makes, as bytes. */

/** Maximum size of all requests that a scenario's function makes, which stay in memory. */
export const MAX_MADE_BYTES = 1024 * 1024 * 1024; // 1 GiB

/**
 * Makes the requests of a plan, once and before the load.
 * @throws UserError if a file cannot be read, or if the function throws or does not return requests
 */
export function makeRequests({ requests, made }: RequestsInputsPlan): Dataset {
  const steps = requests.map((request) => toStep(request.body, request));
  if (made !== undefined) steps.push(...callFunction(made));
  return { streams: [steps], isFromJson: true, warnings: [] };
}

function callFunction({ by, returns, count, folder }: NonNullable<RequestsInputsPlan["made"]>): DataStep[] {
  const make = functionOf<(n: number) => unknown>(by);
  const steps: DataStep[] = [];
  let totalBytes = 0;
  for (let n = 0; n < count; n++) {
    const place = `${by.function}, request ${n}`;
    const request = callOnce(make, n, place);
    const step = readReturned(place, request, () =>
      toMadeStep(
        returns === "request" ? checkRequest(request, place) : { body: request as RequestBody },
        place,
        folder,
      ),
    );
    steps.push(step);
    totalBytes += step.payload?.length ?? 0;
    if (totalBytes <= MAX_MADE_BYTES) continue;
    const message = `the bodies of the first ${countOf(n + 1, "request")} have ${totalBytes} bytes, more than ${MAX_MADE_BYTES}`;
    throw userError("invalid-value", place, message, "Make fewer different requests with distinct, or smaller ones.");
  }
  return steps;
}

function callOnce(make: (n: number) => unknown, n: number, place: string): unknown {
  let value: unknown;
  try {
    value = make(n);
  } catch (error) {
    throw userError("exception", place, `throws: ${describeUserError(error)}`, "Correct the function.");
  }
  if (!(value instanceof Promise)) return value;
  value.catch(() => {});
  throw userError("invalid-value", place, "returns a promise", "Prepare the data first, and return it at once.");
}

function toMadeStep({ body, ...request }: MadeRequest, place: string, folder: string): DataStep {
  if (body === undefined) return toStep(undefined, request);
  const plan = toBodyPlan(body, folder);
  if (plan !== undefined) return toStep(plan, request);
  throw userError("invalid-value", place, "returns no body", BODY_HINT, describeBody(body));
}

const BODY_HINT = "Return text, bytes, an object or a list, which are sent as JSON, file(…) or multipart(…).";

type MadeRequest = PayloadRequest & { readonly body?: RequestBody | undefined };

/** Checks the result of a function. @throws UserError if it is not a request */
function checkRequest(value: unknown, place: string): MadeRequest {
  const fail = (message: string, hint: string, got: unknown): never => {
    throw userError("invalid-value", place, message, hint, describeBody(got));
  };
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return fail("returns no request", "Return { method, path, headers, body }, or a part of it.", value);
  const { method, path, headers = {}, body, ...others } = value as RequestOfScenario;
  const [other] = Object.keys(others);
  if (other !== undefined) fail("returns an unknown field", "The fields are method, path, headers and body.", other);
  if (method !== undefined && !HTTP_METHODS.includes(method as HttpMethod))
    fail("returns an unknown method", `Use one of ${HTTP_METHODS.join(", ")}.`, method);
  if (path !== undefined && !(typeof path === "string" && REQUEST_PATH.test(path)))
    fail(`returns a path that is wrong: it ${REQUEST_PATH_RULE}`, "Correct the path.", path);
  for (const [name, text] of Object.entries(headers))
    if (!HEADER_NAME.test(name) || typeof text !== "string" || !HEADER_VALUE.test(text))
      fail(
        "returns a header that cannot be sent",
        "Headers are texts without line breaks, by name.",
        `${name}: ${String(text)}`,
      );
  return {
    ...(method === undefined ? {} : { method: method as HttpMethod }),
    ...defined({ path }),
    headers: Object.entries(headers),
    body,
  };
}

function toStep(body: BodyPlan | undefined, { method, path, headers }: PayloadRequest): DataStep {
  const encoded = body === undefined ? undefined : encodeBody(body);
  const request: PayloadRequest = {
    ...defined({ method, path, headers }),
    ...(encoded === undefined ? {} : { contentType: encoded.contentType }),
  };
  return { payload: encoded?.bytes ?? NO_BYTES, request, inputs: NO_TENSORS, expected: NO_TENSORS };
}

/** Encodes a body. @throws UserError if a file cannot be read */
export function encodeBody(body: BodyPlan): EncodedBody {
  switch (body.form) {
    case "multipart":
      return encodeForm(body.parts.map(encodePart));
    case "text":
      return { bytes: encoder.encode(body.text), contentType: body.contentType ?? "text/plain; charset=utf-8" };
    case "json":
      return { bytes: encoder.encode(body.text), contentType: body.contentType ?? "application/json" };
    case "bytes":
      return {
        bytes: new Uint8Array(Buffer.from(body.base64, "base64")),
        contentType: body.contentType ?? OTHER_TYPE,
      };
    case "file":
      return {
        bytes: readFile(body.file),
        contentType: body.contentType ?? TYPES[extname(body.file).toLowerCase()] ?? OTHER_TYPE,
      };
  }
}

/** Encodes a part of a form. Text fields have no type, like in browsers. @throws UserError if a file cannot be read */
export function encodePart({ name, fileName, value }: FormPartPlan): FormPart {
  const { bytes, contentType } = encodeBody(value);
  const file = fileName ?? (value.form === "file" ? basename(value.file) : undefined);
  const isPlain = value.form === "text" && value.contentType === undefined && file === undefined;
  return { name, bytes, ...defined({ fileName: file }), ...(isPlain ? {} : { contentType }) };
}

function readFile(path: string): Uint8Array {
  try {
    return readFileBytes(path, MOST_BODY_BYTES);
  } catch (error) {
    throw unreadable(path, error, "Check its path and permissions.");
  }
}

const OTHER_TYPE = "application/octet-stream";

/** Types of files that model servers accept, by file name extension. */
const TYPES: Readonly<Record<string, string>> = {
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
  ".csv": "text/csv",
  ".xml": "application/xml",
  ".html": "text/html",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".png": "image/png",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".wav": "audio/wav",
  ".mp3": "audio/mpeg",
  ".flac": "audio/flac",
  ".mp4": "video/mp4",
  ".pdf": "application/pdf",
};
