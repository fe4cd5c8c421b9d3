import type protobuf from "protobufjs";
import { DEFAULT_MOCK, type MockPlan } from "../../plan/mock.ts";
import { messageOf } from "../../plan/problem.ts";
import { msToNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { findMethods, type GrpcMethod } from "../../service/dynamic-grpc/methods.ts";
import { readProtoFiles } from "../../service/dynamic-grpc/proto-files.ts";
import { ProtoWriter } from "../../service/protobuf/wire.ts";
import { CutError, STATUS, StatusError } from "../grpc-frames.ts";
import { createPacing, type Pacing } from "../pacing.ts";
import { waitUntil } from "../wait.ts";
import { reflectionMethods } from "./grpc-reflection.ts";
import type { MockMethod, MockService } from "./service.ts";

/** Serves every method of a `.proto` file: fields of a response are copied from fields of the request with the same name and type. */
export const grpcProtoService: MockService = {
  value: "FILE",
  help: "Serve the methods of a .proto file over gRPC, with reflection: responses repeat the request's fields of the same name and type. A stream has as many responses as the language model has tokens, at the same distance, and the same share of streams is cut off.",
  create: (plan, file) => {
    const root = readProtoFiles([file], [], { setting: "mock.grpcProto" });
    const methods = findMethods(root);
    const pacing = createPacing(plan);
    const entries = methods.map((method): [string, MockMethod] => [
      `/${method.name}`,
      toMockMethod(method, plan, pacing),
    ]);
    return {
      describe: (_http, grpc) => `${methods.map(({ name }) => name).join(", ")} grpc ${grpc}`,
      methods: { ...Object.fromEntries(entries), ...reflectionMethods(root) },
    };
  },
};

/** Highest possible number of a field. */
const MAX_FIELD_ID = 2 ** 29 - 1;

function toMockMethod({ callType, requestType, responseType }: GrpcMethod, plan: MockPlan, pacing: Pacing): MockMethod {
  const padding = plan.responseBytes === 0 ? undefined : encodePadding(responseType, plan.responseBytes);
  const answer = (message: Uint8Array): Uint8Array => {
    const response = responseOf(requestType, responseType, message);
    return padding === undefined ? response : Buffer.concat([response, padding]);
  };
  if (callType === "server-stream") return (messages) => stream(messages, answer, plan, pacing);
  if (callType === "bidi-stream") return (messages) => each(messages, answer, pacing);
  return (messages) => one(messages, answer, pacing);
}

type Response = (message: Uint8Array) => Uint8Array;

/** Answers once, after the last message. */
async function* one(messages: AsyncIterable<Uint8Array>, answer: Response, pacing: Pacing): AsyncGenerator<Uint8Array> {
  let last: Uint8Array = new Uint8Array(0);
  for await (const message of messages) last = message;
  await begin(pacing);
  yield answer(last);
}

/** Answers each message when it arrives. A stream that is cut off ends after its first response. */
async function* each(
  messages: AsyncIterable<Uint8Array>,
  answer: Response,
  pacing: Pacing,
): AsyncGenerator<Uint8Array> {
  const isCut = pacing.cuts();
  for await (const message of messages) {
    await begin(pacing);
    yield answer(message);
    if (isCut) throw new CutError();
  }
}

/** Answers a message many times, like the tokens of a language model. */
async function* stream(
  messages: AsyncIterable<Uint8Array>,
  answer: Response,
  { llm = DEFAULT_MOCK.llm }: MockPlan,
  pacing: Pacing,
): AsyncGenerator<Uint8Array> {
  const { osl, tokenGapMs } = llm;
  for await (const message of messages) {
    await begin(pacing);
    const response = answer(message);
    const isCut = pacing.cuts();
    const count = isCut ? Math.ceil(osl / 2) : osl;
    const startNs = nowNs();
    for (let index = 0; index < count; index++) {
      await waitUntil(startNs + msToNs(index * tokenGapMs));
      yield response;
    }
    if (isCut) throw new CutError();
  }
}

/** Waits for the planned latency. @throws StatusError for the planned ratio of calls */
async function begin(pacing: Pacing): Promise<void> {
  await pacing.wait();
  if (pacing.fails()) throw new StatusError(STATUS.internal, "planned failure");
}

function responseOf(requestType: protobuf.Type, responseType: protobuf.Type, message: Uint8Array): Uint8Array {
  let request: Readonly<Record<string, unknown>>;
  try {
    request = requestType.decode(message) as protobuf.Message & Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new StatusError(STATUS.invalidArgument, `not a message of the method's type: ${messageOf(error)}`);
  }
  if (requestType === responseType) return message;
  const response: Record<string, unknown> = {};
  for (const field of responseType.fieldsArray) {
    const given = requestType.fields[field.name];
    if (given !== undefined && Object.hasOwn(request, field.name) && isSameType(given, field))
      response[field.name] = request[field.name];
  }
  return responseType.encode(response).finish();
}

/** Encodes bytes as a field that the type does not define, which readers skip. */
function encodePadding({ fieldsById }: protobuf.Type, sizeBytes: number): Uint8Array {
  let id = MAX_FIELD_ID;
  while (fieldsById[id] !== undefined) id--;
  const writer = new ProtoWriter();
  writer.bytes(id, new Uint8Array(sizeBytes).fill(0x61));
  return writer.finish();
}

function isSameType(a: protobuf.Field, b: protobuf.Field): boolean {
  if (a.repeated !== b.repeated || a.map !== b.map) return false;
  return a.resolvedType === null ? b.resolvedType === null && a.type === b.type : a.resolvedType === b.resolvedType;
}
