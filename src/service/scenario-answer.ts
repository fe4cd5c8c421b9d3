import { splitBytesElements, toJsonElements } from "./json-tensors.ts";
import type { AnswerKind } from "./openai/answer-kind.ts";
import { hasTensors, hasText } from "./openai/answer-kind.ts";
import { readAnswer } from "./openai/response-text.ts";
import type { RequestContent } from "./service.ts";
import { isShortFloat, readShortFloats } from "./short-floats.ts";
import { joinBytes, type Tensor } from "./tensor.ts";

/** A tensor of a request or an answer, as functions of a scenario see it. */
export interface ScenarioTensor {
  /** Data type in KServe v2: `FP32`, `INT64`, `BYTES`. */
  readonly datatype: string;
  /** Dimensions as they were sent. */
  readonly shape: readonly number[];
  /** Little-endian elements; of BYTES, each with its length in front. */
  readonly bytes: Uint8Array;
  /** Returns the elements in order: numbers, booleans, texts of BYTES, or `bigint` of INT64 and UINT64. */
  values(): readonly (number | bigint | boolean | string)[];
}

/** The request of an answer. */
export interface AnsweredRequest {
  /** Its body, parsed; undefined when it is not JSON, and for tensors. */
  readonly body: unknown;
  /** Bytes of the body; empty for tensors. */
  readonly bytes: Uint8Array;
  /** Its tensors by name; empty for payloads. */
  readonly tensors: Readonly<Record<string, ScenarioTensor>>;
  /** Its tags; empty without any. In a mix, `target` is the name of its target. */
  readonly tags: Readonly<Record<string, string>>;
}

/** A scenario's function that says whether an answer is right: true or nothing, false, or why it is wrong. */
export type CheckAnswer = (answer: ScenarioAnswer) => boolean | string | undefined;

/** The answer to one request, for the function `check`. Values are read when they are used. The memory of `bytes` is reused after the call. */
export interface ScenarioAnswer {
  /** The body; of a stream all its messages or events, joined. */
  readonly bytes: Uint8Array;
  /** The messages or server-sent events, in order; the only one when the answer is no stream. */
  readonly parts: readonly Uint8Array[];
  /** Text of a language model's answer; of a stream all pieces, joined. Empty for other answers. */
  readonly content: string;
  /** The tensors by name, of the last response if there are several; empty for other answers. */
  readonly tensors: Readonly<Record<string, ScenarioTensor>>;
  /** The request that it answers. */
  readonly request: AnsweredRequest;
  /** Returns the answer as UTF-8 text. */
  text(): string;
  /** Parses the answer as JSON. @throws SyntaxError */
  json(): unknown;
}

const decoder = new TextDecoder();
const NO_BYTES = new Uint8Array(0);

/** What an answer is made from. */
export interface AnswerSource {
  readonly parts: readonly Uint8Array[];
  /** The tensors of the last response; empty for other answers. */
  readonly tensors: readonly Tensor[];
  readonly request: RequestContent;
  readonly tags: Readonly<Record<string, string>>;
  /** Absent: not an answer of a language model. */
  readonly kind?: AnswerKind | undefined;
}

/** Creates the answer that functions of a scenario get. */
export function createScenarioAnswer({ parts, tensors, request, tags, kind }: AnswerSource): ScenarioAnswer {
  const joined = (): Uint8Array => (parts.length === 1 ? (parts[0] as Uint8Array) : joinBytes([...parts]));
  const text = (): string => decoder.decode(joined());
  return {
    get bytes() {
      return joined();
    },
    parts,
    get content() {
      return readContent(parts, tensors, kind);
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

function readContent(parts: readonly Uint8Array[], tensors: readonly Tensor[], kind: AnswerKind | undefined): string {
  if (kind === undefined || !hasText(kind)) return "";
  if (hasTensors(kind)) {
    const values = toScenarioTensors(tensors)["text_output"]?.values() ?? [];
    return values.map(String).join("");
  }
  const reads = parts.map((part) => decoder.decode(part));
  return readAnswer(kind, reads)
    .output.map((piece) => piece.text)
    .join("");
}

function describeRequest(request: RequestContent, tags: AnsweredRequest["tags"]): AnsweredRequest {
  const bytes = "bytes" in request ? request.bytes : NO_BYTES;
  return {
    bytes,
    tags,
    get body() {
      return bytes.length === 0 ? undefined : parseBody(bytes);
    },
    get tensors() {
      return "bytes" in request ? {} : toScenarioTensors(request);
    },
  };
}

function parseBody(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

function toScenarioTensors(tensors: readonly Tensor[]): Record<string, ScenarioTensor> {
  return Object.fromEntries(
    tensors.map(({ name, datatype, shape, bytes }) => [
      name,
      { datatype, shape, bytes, values: () => readValues({ datatype, bytes }) },
    ]),
  );
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
