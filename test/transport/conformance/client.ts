import { DEFAULT_MAX_RESPONSE_BYTES } from "../../../src/plan/defaults.ts";
import {
  decodeMessage,
  encodeMessage,
  type MessageSpec,
  type ProtoObject,
} from "../../../src/service/protobuf/message.ts";
import type { Call } from "../../../src/transport/call.ts";
import type { ClientOptions, LoadClient } from "../../../src/transport/client.ts";
import type { Failure } from "../../../src/transport/failure.ts";
import { GrpcJsCallClient } from "../../../src/transport/general/grpc-js-call-client.ts";
import { GrpcJsClient } from "../../../src/transport/general/grpc-js-client.ts";
import { GrpcCallClient } from "../../../src/transport/grpc/call-client.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import type { Endpoint, GrpcCallType, Header, WireRequest } from "../../../src/transport/request.ts";
import { ANY_RESPONSE, CLIENT_REQUEST, CLIENT_RESPONSE, RPC_STATUS } from "./messages.ts";

/**
 * The client under test for Connect's conformance suite: reads calls from stdin, makes each with one of Rampart's gRPC clients, and writes to
 * stdout what became of it. Usage: `client.ts own|own-calls|grpc-js`.
 */

const CALLS_AT_ONCE = 4;
const COMPRESSION_GZIP = 2;
const STALL_TIMEOUT_NS = 5e9;
/** gRPC's codes for failures that carry none (specification "HTTP to gRPC status code mapping"). */
const CODES = { cancelled: 1, unknown: 2, deadline: 4, exhausted: 8, internal: 13, unavailable: 14 } as const;
const HTTP_CODES: Readonly<Record<number, number>> = {
  400: 13,
  401: 16,
  403: 7,
  404: 12,
  429: 14,
  502: 14,
  503: 14,
  504: 14,
};

const DEADLINE_EXCEEDED: Failure = { kind: "grpc", status: CODES.deadline, message: "deadline exceeded" };
const CANCELLED: Failure = { kind: "grpc", status: CODES.cancelled, message: "cancelled" };

const RESET = /reset the stream|Call cancelled/;
/** What the suite has codes for and Rampart has words for. */
const PROTOCOL_CODES: readonly (readonly [words: RegExp, code: number])[] = [
  [/messages in response to a |status OK without a message/, 12],
  [/content type is "(?!application\/grpc)/, CODES.unknown],
];

/** `StreamType` by number. */
const CALL_TYPES: readonly GrpcCallType[] = [
  "unary",
  "unary",
  "client-stream",
  "server-stream",
  "bidi-stream",
  "bidi-stream",
];
const FULL_DUPLEX = 5;

const isOwn = process.argv[2] !== "grpc-js";
const isForCalls = process.argv[2] === "own-calls";

async function main(): Promise<void> {
  let rest: Uint8Array = new Uint8Array(0);
  const calls: Promise<void>[] = [];
  // One of each lane follows the one before it: all at once would make each other late for their deadlines.
  const lanes: Promise<void>[] = new Array<Promise<void>>(CALLS_AT_ONCE).fill(Promise.resolve());
  for await (const piece of process.stdin as AsyncIterable<Uint8Array>) {
    rest = Buffer.concat([rest, piece]);
    for (;;) {
      const length = rest.length < 4 ? Number.POSITIVE_INFINITY : Buffer.from(rest).readUInt32BE(0);
      if (rest.length < 4 + length) break;
      const request = decodeMessage(CLIENT_REQUEST, rest.slice(4, 4 + length));
      const lane = calls.length % CALLS_AT_ONCE;
      lanes[lane] = (lanes[lane] as Promise<void>).then(() => answer(request));
      calls.push(lanes[lane]);
      rest = rest.slice(4 + length);
    }
  }
  await Promise.all(calls);
}

async function answer(request: ProtoObject): Promise<void> {
  const test_name = textOf(request["test_name"]);
  const result = await makeCall(request).then(
    (response) => ({ response }),
    (error: unknown) => ({ error: { message: String(error) } }),
  );
  const bytes = encodeMessage(CLIENT_RESPONSE as MessageSpec, { test_name, ...result });
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes.length);
  process.stdout.write(Buffer.concat([prefix, bytes]));
}

/** Makes one call and describes what came back. */
async function makeCall(request: ProtoObject): Promise<ProtoObject> {
  const heads: { headers: readonly Header[]; isTrailers: boolean }[] = [];
  const done = Promise.withResolvers<Call>();
  const cancel = request["cancel"] as ProtoObject | undefined;
  const cancelAt = numberOf(cancel?.["after_num_responses"]);
  const timers: ReturnType<typeof setTimeout>[] = [];
  // Messages of a full-duplex call, each of which waits for the response to the one before it.
  const pacedCount = request["stream_type"] === FULL_DUPLEX ? (request["request_messages"] as unknown[]).length : 0;
  const client = openClient(request, {
    responses: { keepBodies: true },
    stallTimeoutNs: STALL_TIMEOUT_NS,
    maxResponseBytes: numberOf(request["message_receive_limit"]) || DEFAULT_MAX_RESPONSE_BYTES,
    lanes: { laneCount: 1 },
    onDone: done.resolve,
    onResponse: ({ messageCount }) => {
      if (messageCount === cancelAt) client.cancel(0, CANCELLED);
      // At once: the sending side has ended with the last message, and one more response may be there already.
      if (messageCount === pacedCount && cancel !== undefined && cancelAt === 0) client.cancel(0, CANCELLED);
    },
    onMetadata: (_call, headers, isTrailers) => heads.push({ headers, isTrailers }),
  });
  const endAfter = (ms: number, status: number, text: string): void => {
    timers.push(setTimeout(() => client.cancel(0, { kind: "grpc", status, message: text }), ms));
  };
  /** Cancels before or after the end of the sending side, when all messages have been sent. */
  const cancelAround = (): void => {
    if (cancel?.["before_close_send"] !== undefined) client.cancel(0, CANCELLED);
    else if (cancel !== undefined && cancelAt === 0)
      endAfter(numberOf(cancel["after_close_send_ms"]), CODES.cancelled, "cancelled");
  };
  try {
    await client.reserve(1);
    await new Promise((resolve) => setTimeout(resolve, numberOf(request["request_delay_ms"])));
    // Before the send: the server's deadline may start, and so pass, before the call returns here.
    const startMs = performance.now();
    client.send(0, toWireRequest(request), undefined);
    client.flush();
    if (request["timeout_ms"] !== undefined)
      endAfter(numberOf(request["timeout_ms"]), CODES.deadline, "deadline exceeded");
    if (pacedCount === 0) cancelAround();
    const call = await done.promise;
    const timeoutMs = request["timeout_ms"] === undefined ? Number.POSITIVE_INFINITY : numberOf(request["timeout_ms"]);
    const isLate = performance.now() - startMs >= timeoutMs;
    // A process that was not run reads responses whose deadline has passed, perhaps before its timer ends the call.
    if (isLate) call.responses = call.responses.filter(({ readNs }) => readNs - call.sendStartNs < timeoutMs * 1e6);
    if (isLate && call.failure === undefined) call.failure = DEADLINE_EXCEEDED;
    return describe(call, heads, isLate, callTypeOf(request));
  } finally {
    for (const timer of timers) clearTimeout(timer);
    client.close();
  }
}

function openClient(request: ProtoObject, options: ClientOptions): LoadClient {
  const host = textOf(request["host"]);
  const port = numberOf(request["port"]);
  const timeoutMs = request["timeout_ms"];
  const headers = ((request["request_headers"] ?? []) as ProtoObject[]).flatMap(({ name, value }) =>
    ((value ?? []) as string[]).map((item): Header => [textOf(name), item]),
  );
  if (timeoutMs !== undefined) headers.push(["grpc-timeout", `${numberOf(timeoutMs)}m`]);
  const endpoint: Endpoint = {
    host,
    port,
    authority: `${host}:${port}`,
    pathPrefix: "",
    headers,
    ...tlsOf(request),
    ...(request["compression"] === COMPRESSION_GZIP ? { compression: "gzip" } : {}),
  };
  // The measured path has a client for unary calls alone.
  if (!isForCalls && callTypeOf(request) === "unary")
    return isOwn ? new GrpcUnaryClient(endpoint, options) : new GrpcJsClient(endpoint, options, undefined);
  return isOwn ? new GrpcCallClient(endpoint, options) : new GrpcJsCallClient(endpoint, options);
}

function callTypeOf(request: ProtoObject): GrpcCallType {
  return CALL_TYPES[numberOf(request["stream_type"])] ?? "unary";
}

function toWireRequest(request: ProtoObject): WireRequest {
  const messages = (request["request_messages"] as ProtoObject[]).map(({ value }) =>
    value instanceof Uint8Array ? value : new Uint8Array(0),
  );
  const path = `/${textOf(request["service"])}/${textOf(request["method"])}`;
  const callType = callTypeOf(request);
  const base = { path, method: "POST", headers: [] } as const;
  if (callType === "unary" && !isForCalls) return { ...base, payload: messages[0] ?? new Uint8Array(0) };
  const pacing = request["stream_type"] === FULL_DUPLEX ? "after-response" : "at-once";
  return { ...base, payload: new Uint8Array(0), callType, messages, pacing };
}

function tlsOf(request: ProtoObject): Pick<Endpoint, "tls"> {
  const caPem = pemOf(request["server_tls_cert"]);
  if (caPem === undefined) return {};
  const credentials = request["client_tls_creds"] as ProtoObject | undefined;
  const [certPem, keyPem] = [pemOf(credentials?.["cert"]), pemOf(credentials?.["key"])];
  return { tls: { alpn: ["h2"], caPem, certPem, keyPem, verifyPeer: true, verifyHost: true } };
}

function pemOf(value: ProtoObject[string]): string | undefined {
  return value instanceof Uint8Array && value.length > 0 ? new TextDecoder().decode(value) : undefined;
}

function describe(
  { failure, body, responses }: Call,
  heads: readonly { headers: readonly Header[]; isTrailers: boolean }[],
  isLate: boolean,
  callType: GrpcCallType,
): ProtoObject {
  const headersOf = (isTrailers: boolean): ProtoObject[] =>
    heads
      .filter((head) => head.isTrailers === isTrailers)
      .flatMap(({ headers }) =>
        [...Map.groupBy(headers, ([name]) => name)].map(([name, values]) => ({
          name,
          value: values.map(([, value]) => value),
        })),
      );
  const trailers = headersOf(true);
  const bodies = responses.length > 0 ? responses.map((response) => response.body) : [body ?? new Uint8Array(0)];
  // Failed calls of other types have none.
  const hasPayloads =
    callType === "server-stream" || callType === "bidi-stream" ? responses.length > 0 : failure === undefined;
  return {
    response_headers: headersOf(false),
    response_trailers: trailers,
    payloads: hasPayloads ? bodies.map(payloadOf) : [],
    ...(failure === undefined ? {} : { error: toError(failure, trailers, isLate) }),
  };
}

function payloadOf(message: Uint8Array): Uint8Array {
  const { payload } = decodeMessage(ANY_RESPONSE, message);
  return payload instanceof Uint8Array ? payload : new Uint8Array(0);
}

function toError(failure: Failure, trailers: readonly ProtoObject[], isLate: boolean): ProtoObject {
  const details = trailers.find(({ name }) => name === "grpc-status-details-bin");
  const status = details === undefined ? undefined : Buffer.from((details["value"] as string[])[0] ?? "", "base64");
  return {
    // A server that sees the deadline pass first resets the stream.
    code: isLate && RESET.test(failure.message) ? CODES.deadline : codeOf(failure),
    message: failure.message,
    details: status === undefined ? [] : (decodeMessage(RPC_STATUS, status)["details"] ?? []),
  };
}

function codeOf({ kind, status, message }: Failure): number {
  switch (kind) {
    case "grpc":
      return status ?? CODES.unknown;
    case "http":
      return HTTP_CODES[status ?? 0] ?? CODES.unknown;
    case "protocol":
      return PROTOCOL_CODES.find(([words]) => words.test(message))?.[1] ?? CODES.internal;
    case "cancelled":
      return CODES.cancelled;
    case "limit":
      return CODES.exhausted;
    case "stalled":
      return CODES.deadline;
    default:
      return CODES.unavailable;
  }
}

function textOf(value: ProtoObject[string]): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: ProtoObject[string]): number {
  return typeof value === "number" ? value : 0;
}

process.on("SIGTERM", () => process.exit(0));
await main();
process.exit(0);
