import { isObject, parseJson } from "../../plan/objects.ts";
import { decoder } from "../../runtime/text.ts";
import {
  type CreateResponseCheck,
  faultOf,
  type ResponseCheck,
  type ResponseFault,
  type ResponseHead,
} from "../../transport/response-check.ts";
import { CollectedPieces } from "../collected-pieces.ts";
import { type ExpectedResponse, explainUnexpected } from "../expected-response.ts";
import { KnownResponses, ResponseForm } from "../known-responses.ts";
import { EMPTY_RESPONSE, isPage, NOT_JSON, NOT_OBJECT, PAGE_FOUND, SENT_ERROR } from "../response-faults.ts";
import type { Datatype, SharedPlace } from "../tensor.ts";
import { explainElements, explainOutput } from "./response-outputs.ts";

type Places = ReadonlyMap<string, SharedPlace> | undefined;

/**
 * Creates the checks of HTTP bodies for a run's slots.
 * @param places outputs in shared memory, by name @param expected default: any model and outputs
 */
export function createHttpChecks(places: Places, expected?: ExpectedResponse): CreateResponseCheck {
  const known = new KnownResponses();
  const form = new ResponseForm(JSON_HEAD_BYTES, JSON_TAIL_BYTES, true);
  return () => new HttpResponseCheck(known, form, places, expected);
}

/** Enough to cover names, datatypes and shapes at the start of JSON responses. */
const JSON_HEAD_BYTES = 256;
const JSON_TAIL_BYTES = 2;

class HttpResponseCheck implements ResponseCheck {
  /** Known responses with binary data. */
  private readonly known: KnownResponses;
  /** Form of responses that are only JSON. */
  private readonly form: ResponseForm;
  private readonly places: Places;
  private readonly expected: ExpectedResponse | undefined;
  private readonly pieces = new CollectedPieces();
  private jsonBytes = 0;
  private hasEvents = false;

  constructor(known: KnownResponses, form: ResponseForm, places: Places, expected: ExpectedResponse | undefined) {
    this.expected = expected;
    this.known = known;
    this.form = form;
    this.places = places;
  }

  whole(bytes: Uint8Array, start: number, end: number, { jsonBytes }: ResponseHead): ResponseFault | undefined {
    this.jsonBytes = jsonBytes;
    return this.check(bytes, start, end, end - start);
  }

  begin({ jsonBytes }: ResponseHead): void {
    this.jsonBytes = jsonBytes;
    this.hasEvents = false;
    // After the JSON part, only the length matters.
    this.pieces.begin(jsonBytes === 0 ? undefined : jsonBytes);
  }

  piece(bytes: Uint8Array, start: number, end: number): void {
    this.pieces.add(bytes, start, end);
  }

  event(bytes: Uint8Array, start: number, end: number): void {
    if (!this.hasEvents) this.piece(bytes, start, end);
    this.hasEvents = true;
  }

  end(): ResponseFault | undefined {
    const { totalBytes } = this.pieces;
    return this.pieces.end((bytes) =>
      this.hasEvents
        ? faultOf("a stream of events came in place of an inference response", bytes)
        : this.check(bytes, 0, bytes.length, totalBytes),
    );
  }

  /** @param totalBytes length of the body. `bytes[start, end)` contains at least its JSON part */
  private check(bytes: Uint8Array, start: number, end: number, totalBytes: number): ResponseFault | undefined {
    const { jsonBytes } = this;
    const isAllJson = jsonBytes === 0 || jsonBytes === totalBytes;
    if (isAllJson ? this.form.has(bytes, start, end) : this.known.has(bytes, start, jsonBytes, totalBytes))
      return undefined;
    const headBytes = isAllJson ? totalBytes : jsonBytes;
    if (headBytes > totalBytes) {
      const reason = `Inference-Header-Content-Length ${jsonBytes} is longer than the response's ${totalBytes} bytes`;
      return faultOf(reason, bytes, start, end);
    }
    const text = decoder.decode(bytes.subarray(start, start + headBytes));
    const reason = explainText(text, totalBytes - headBytes, this.places, this.expected);
    if (reason !== undefined) return faultOf(reason, bytes, start, end);
    if (isAllJson) this.form.add(bytes, start, end);
    else this.known.add(bytes.subarray(start, start + jsonBytes), totalBytes, fixedPlaces(text, jsonBytes));
    return undefined;
  }
}

/** Returns the parts that must be equal in responses with binary data: the JSON part except for the request's id. */
function fixedPlaces(text: string, jsonBytes: number): number[] {
  const [head, id] = /^\{"id":"([^"\\]*)"/.exec(text) ?? [];
  // For non-ASCII text, offsets of characters and bytes differ.
  if (head === undefined || id === undefined || /[^\x20-\x7e]/.test(head)) return [0, jsonBytes];
  const from = head.length - 1 - id.length;
  return [0, from, from + id.length, jsonBytes];
}

/** Explains why a JSON part followed by this number of bytes is not a valid response; undefined if it is valid. */
function explainText(
  text: string,
  dataBytes: number,
  places: Places,
  expected: ExpectedResponse | undefined,
): string | undefined {
  if (text.trim() === "") return EMPTY_RESPONSE;
  if (isPage(text)) return PAGE_FOUND;
  const json = parseJson(text);
  if (json === undefined) return NOT_JSON;
  if (!isObject(json)) return NOT_OBJECT;
  const { error, outputs, model_name: model } = json;
  if (error !== undefined && error !== null) return SENT_ERROR;
  if (!Array.isArray(outputs)) return "the response has no outputs";
  return (
    explainOutputs(outputs, dataBytes, places) ??
    (expected === undefined ? undefined : explainUnexpected(expected, model, outputs))
  );
}

function explainOutputs(outputs: readonly unknown[], dataBytes: number, places: Places): string | undefined {
  let rest = dataBytes;
  for (const item of outputs) {
    if (typeof item !== "object" || item === null) return "an output is not an object";
    const { name, datatype, shape, data, parameters } = item as Readonly<Record<string, unknown>>;
    const size = (parameters as { readonly binary_data_size?: unknown } | undefined)?.binary_data_size;
    const byteCount = typeof size === "number" ? size : undefined;
    const elements: unknown[] | undefined = Array.isArray(data) ? data.flat(Number.POSITIVE_INFINITY) : undefined;
    const elementCount = elements?.length;
    const isElsewhere = places?.has(String(name)) === true;
    const reason = explainOutput({ name, datatype, shape, byteCount, elementCount, isElsewhere });
    if (reason !== undefined) return reason;
    const wrong = elements && explainElements(String(name), datatype as Datatype, elements);
    if (wrong !== undefined) return wrong;
    if (!isElsewhere) rest -= byteCount ?? 0;
  }
  if (rest === 0) return undefined;
  return `the response's length is ${Math.abs(rest)} bytes ${rest > 0 ? "more" : "less"} than its outputs' sizes add up to`;
}
