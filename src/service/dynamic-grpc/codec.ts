import type protobuf from "protobufjs";
import { defined } from "../../plan/objects.ts";
import { messageOf } from "../../plan/problem.ts";
import { countOf } from "../../plan/units.ts";
import { isSameBytes, NO_BYTES } from "../../runtime/bytes.ts";
import { decoder, encoder } from "../../runtime/text.ts";
import type { GrpcCallType, MessagePacing } from "../../transport/request.ts";
import { ANY_RESPONSE, type CreateResponseCheck, faultOf, type ResponseFault } from "../../transport/response-check.ts";
import { CollectedCheck } from "../collected-pieces.ts";
import type { PayloadCodec } from "../content.ts";
import { decodeToJson } from "./message-to-json.ts";

export interface GrpcCodecOptions {
  /** `package.Service/Method`. */
  readonly method: string;
  readonly callType: GrpcCallType;
  readonly pacing?: MessagePacing | undefined;
  /** Absent: responses are bytes, and any is valid. */
  readonly responseType?: protobuf.Type | undefined;
}

export function createGrpcCallCodec(options: GrpcCodecOptions): PayloadCodec {
  const { method, callType, pacing, responseType } = options;
  return {
    encode: ({ messages = [] }) => ({
      path: `/${method}`,
      method: "POST",
      headers: [],
      payload: NO_BYTES,
      messages,
      callType,
      ...defined({ pacing }),
    }),
    responseChecks: () => createChecks(options),
    decode: (body) => {
      // Without the type there is no text. Then the profile export has none either, like perf_analyzer's.
      const outputs = responseType === undefined ? NO_BYTES : encoder.encode(writeResponse(responseType, body));
      return { outputs, describe: () => decoder.decode(outputs) };
    },
    // gRPC failures already have the server's message, from grpc-message.
    explain: (failure, body) =>
      failure.kind === "unreadable" && responseType !== undefined && body !== undefined && body.length > 0
        ? { ...failure, response: showResponse(responseType, body) }
        : failure,
    describe: ({ messages = [] }) => `${method}: ${countOf(messages.length, "message")}`,
    // A message without fields is valid for any type.
    sampleResponse: () => ({ parts: [NO_BYTES], ...(callType === "bidi-stream" ? { isPerMessage: true } : {}) }),
  };
}

function writeResponse(type: protobuf.Type, body: Uint8Array): string {
  return JSON.stringify(decodeToJson(type, body));
}

function showResponse(type: protobuf.Type, body: Uint8Array): string {
  try {
    return writeResponse(type, body);
  } catch {
    return `${body.length} bytes`;
  }
}

/** Creates the checks of a run's slots. */
function createChecks({ responseType }: GrpcCodecOptions): CreateResponseCheck {
  if (responseType === undefined) return () => ANY_RESPONSE;
  const valid = new ValidResponses();
  return () => new MessageCheck(responseType, valid);
}

/** Maximum number of lengths for which a valid response is remembered. */
const MAX_LENGTHS = 64;
const MAX_KEPT_BYTES = 64 * 1024; // 64 KiB

/** Valid responses, one for each length, so that repeated responses are decoded only once. */
class ValidResponses {
  private readonly byLength = new Map<number, Uint8Array>();

  has(bytes: Uint8Array, start: number, length: number): boolean {
    const known = this.byLength.get(length);
    return known !== undefined && isSameBytes(known, 0, bytes, start, length);
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length <= MAX_KEPT_BYTES && this.byLength.size < MAX_LENGTHS)
      this.byLength.set(length, bytes.slice(start, end));
  }
}

/** Checks that responses are messages of the method's type. */
class MessageCheck extends CollectedCheck {
  private readonly type: protobuf.Type;
  private readonly valid: ValidResponses;

  constructor(type: protobuf.Type, valid: ValidResponses) {
    super();
    this.type = type;
    this.valid = valid;
  }

  whole(bytes: Uint8Array, start: number, end: number): ResponseFault | undefined {
    if (this.valid.has(bytes, start, end - start)) return undefined;
    const reason = this.explain(bytes.subarray(start, end));
    if (reason !== undefined) return faultOf(reason, bytes, start, end);
    this.valid.add(bytes, start, end);
    return undefined;
  }

  private explain(message: Uint8Array): string | undefined {
    try {
      this.type.decode(message);
    } catch (error) {
      return `the response is not a message of the method's type: ${messageOf(error)}`;
    }
    return undefined;
  }
}
