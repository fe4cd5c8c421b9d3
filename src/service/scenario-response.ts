import { parseJson } from "../plan/objects.ts";
import { joinBytes, NO_BYTES } from "../runtime/bytes.ts";
import { decoder } from "../runtime/text.ts";
import type { RequestContent } from "./content.ts";
import { splitBytesElements, toJsonElements } from "./json-tensors.ts";
import type { ResponseKind } from "./openai/response-kind.ts";
import { hasTensors, hasText } from "./openai/response-kind.ts";
import type { ServerUsage } from "./openai/response-parts.ts";
import { type Response, readResponse } from "./openai/response-text.ts";
import { isShortFloat, readShortFloats } from "./short-floats.ts";
import type { Tensor } from "./tensor.ts";

/** A tensor of a request or a response, as functions of a scenario see it. */
export interface ScenarioTensor {
  /** Data type in KServe v2: `FP32`, `INT64`, `BYTES`. */
  readonly datatype: string;
  /** Dimensions, as they were sent. */
  readonly shape: readonly number[];
  /** Little-endian elements; each element of BYTES follows its length. */
  readonly bytes: Uint8Array;
  /** Returns the elements in order: numbers, booleans, texts of BYTES, or `bigint` of INT64 and UINT64. */
  values(): readonly (number | bigint | boolean | string)[];
}

/** The request of a response. */
export interface AnsweredRequest {
  /** The request's body, parsed; undefined if it is not JSON, and for tensors. */
  readonly body: unknown;
  /** Bytes of the body; empty for tensors. */
  readonly bytes: Uint8Array;
  /** The request's tensors by name; empty for payloads. */
  readonly tensors: Readonly<Record<string, ScenarioTensor>>;
  /** The request's tags; may be empty. In a mix, `target` is the name of its target. */
  readonly tags: Readonly<Record<string, string>>;
}

/** A scenario's function that checks a response. Returns true or nothing if it is right, false or the reason if it is wrong. */
export type CheckResponse = (response: ScenarioResponse) => boolean | string | undefined;

/**
 * The response to one request, for the function `check`. Values are decoded when they are used. The memory of `bytes` is reused after the
 * call.
 */
export interface ScenarioResponse {
  /** The body; for a stream, all its messages or events, joined. */
  readonly bytes: Uint8Array;
  /** The messages or server-sent events, in order; a single one if the response is not a stream. */
  readonly parts: readonly Uint8Array[];
  /** Text of a language model's response; for a stream, all pieces, joined. Empty for other responses. */
  readonly content: string;
  /**
   * Reason why a language model ended its response, in the server's words, such as `stop` or `length`; undefined if not
   * reported.
   */
  readonly finishReason: string | undefined;
  /** Token counts of a language model's response, as the server reports them; undefined if it reports none. */
  readonly usage: ServerUsage | undefined;
  /** The tensors by name, from the last response if there are several; empty for other responses. */
  readonly tensors: Readonly<Record<string, ScenarioTensor>>;
  /** The request that was answered. */
  readonly request: AnsweredRequest;
  /** Returns the response as UTF-8 text. */
  text(): string;
  /** Parses the response as JSON. @throws SyntaxError */
  json(): unknown;
}

/** Source data of a response. */
export interface ResponseSource {
  readonly parts: readonly Uint8Array[];
  /** The tensors of the last response; empty for other responses. */
  readonly tensors: readonly Tensor[];
  readonly request: RequestContent;
  readonly tags: Readonly<Record<string, string>>;
  /** Kind of the response. Absent: not a response of a language model. */
  readonly kind?: ResponseKind | undefined;
}

/** Creates the response that is passed to functions of a scenario. */
export function createScenarioResponse({ parts, tensors, request, tags, kind }: ResponseSource): ScenarioResponse {
  const joined = (): Uint8Array => (parts.length === 1 ? (parts[0] as Uint8Array) : joinBytes([...parts]));
  const text = (): string => decoder.decode(joined());
  let known: Response | undefined;
  const ofModel = (): Response | undefined => {
    if (kind === undefined || hasTensors(kind)) return undefined;
    known ??= readResponse(
      kind,
      parts.map((part) => decoder.decode(part)),
    );
    return known;
  };
  return {
    get bytes() {
      return joined();
    },
    parts,
    get content() {
      return readContent(ofModel(), tensors, kind);
    },
    get finishReason() {
      return ofModel()?.finishReason;
    },
    get usage() {
      return ofModel()?.usage;
    },
    get tensors() {
      return toScenarioTensors(tensors);
    },
    get request() {
      return describeRequest(request, tags);
    },
    text,
    json: () => JSON.parse(text()) as unknown,
  };
}

function readContent(read: Response | undefined, tensors: readonly Tensor[], kind: ResponseKind | undefined): string {
  if (kind === undefined || !hasText(kind)) return "";
  if (hasTensors(kind)) {
    const values = toScenarioTensors(tensors)["text_output"]?.values() ?? [];
    return values.map(String).join("");
  }
  return (read?.output ?? []).map((piece) => piece.text).join("");
}

function describeRequest(request: RequestContent, tags: AnsweredRequest["tags"]): AnsweredRequest {
  const bytes = "bytes" in request ? request.bytes : NO_BYTES;
  return {
    bytes,
    tags,
    get body() {
      return bytes.length === 0 ? undefined : parseJson(decoder.decode(bytes));
    },
    get tensors() {
      return "bytes" in request ? {} : toScenarioTensors(request);
    },
  };
}

function toScenarioTensors(tensors: readonly Tensor[]): Record<string, ScenarioTensor> {
  return Object.fromEntries(
    tensors.map(({ name, datatype, shape, bytes }) => [
      name,
      { datatype, shape, bytes, values: () => readValues({ datatype, bytes }) },
    ]),
  );
}

/**
 * Returns tensors as plain data for expressions: the elements of each tensor in order, by its name. 64-bit integers that numbers cannot
 * represent are texts. A tensor is decoded when it is read.
 */
export function toTensorData(tensors: readonly Tensor[]): object {
  const data = {};
  for (const { name, datatype, bytes } of tensors) {
    const get = (): unknown[] =>
      readValues({ datatype, bytes }).map((value) =>
        typeof value !== "bigint" ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value),
      );
    Object.defineProperty(data, name, { enumerable: true, get });
  }
  return data;
}

function readValues({
  datatype,
  bytes,
}: Pick<Tensor, "datatype" | "bytes">): readonly (number | bigint | boolean | string)[] {
  if (datatype === "BYTES") return (splitBytesElements(bytes) ?? []).map((element) => decoder.decode(element));
  if (isShortFloat(datatype)) return readShortFloats(datatype, bytes);
  const texts = toJsonElements(datatype, bytes) ?? [];
  const isLong = datatype === "INT64" || datatype === "UINT64";
  return texts.map((text) => (isLong ? BigInt(text) : datatype === "BOOL" ? text === "true" : Number(text)));
}
