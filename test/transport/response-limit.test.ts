import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { CollectedCheck } from "../../src/service/collected-pieces.ts";
import type { ClientOptions, LoadClient } from "../../src/transport/client.ts";
import { type Failure, MOST_RESPONSES_BYTES } from "../../src/transport/failure.ts";
import { GrpcJsCallClient } from "../../src/transport/general/grpc-js-call-client.ts";
import { GrpcJsClient } from "../../src/transport/general/grpc-js-client.ts";
import { UndiciClient } from "../../src/transport/general/undici-client.ts";
import { RESPONSES_BUDGET } from "../../src/transport/growing-bytes.ts";
import { GrpcCallClient } from "../../src/transport/grpc/call-client.ts";
import { GrpcStreamClient } from "../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../src/transport/grpc/unary-client.ts";
import { Http1Client } from "../../src/transport/http1/client.ts";
import type { Endpoint } from "../../src/transport/request.ts";
import type { ReadStreamed } from "../../src/transport/streamed-responses.ts";
import { LIMIT } from "../time-limit.ts";
import { join, latin1 } from "./bytes.ts";
import { Driver, endpointAt, postRequest } from "./drive.ts";
import { END_STREAM, frame, GRPC_HEADERS, grpcMessage, headers, settings, TYPE } from "./http2/write-frames.ts";
import { type RawConnection, startRawServer } from "./raw-server.ts";

/** What a server may make each client hold in memory. */

const MAX_BYTES = 20_000;
const TOO_LARGE = { kind: "limit", message: "the response is longer than the 20,000 bytes allowed for one response" };
const REQUEST = postRequest("/test/Call", latin1("id=0000"), { stampPlace: { offset: 3, length: 4, idDigits: 4 } });

type Create = (endpoint: Endpoint) => (options: ClientOptions) => LoadClient;
type Answer = (connection: RawConnection) => void;

/** Pieces for ever, each once the one before has left. */
function endless(head: Uint8Array, piece: Uint8Array): Answer {
  return ({ socket }) => {
    const more = (): void => {
      if (!socket.destroyed) socket.write(piece, more);
    };
    socket.write(head, more);
  };
}

const json = (headLines: string, body: string): Answer => {
  return (connection) => connection.write(latin1(`HTTP/1.1 200 OK\r\n${headLines}\r\n\r\n${body}`));
};
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
const TINY_CHUNKS = latin1("1\r\nx\r\n".repeat(2000));
const EVENTS = `${CHUNKED}Content-Type: text/event-stream\r\n\r\n`;
const PIECE = latin1(`2710\r\n${"x".repeat(10_000)}\r\n`);

const HTTP: readonly (readonly [name: string, create: Create])[] = [
  ["own HTTP", (endpoint) => (options) => new Http1Client(endpoint, options)],
  ["undici", (endpoint) => (options) => new UndiciClient(endpoint, options)],
];
const BODIES: readonly (readonly [name: string, answer: Answer])[] = [
  ["a length above it, of which nothing comes", json("Content-Length: 2000000000", "")],
  ["chunks without end", endless(latin1(`${CHUNKED}\r\n`), PIECE)],
  ["tiny chunks without end", endless(latin1(`${CHUNKED}\r\n`), TINY_CHUNKS)],
  ["a body until a close that never comes", endless(latin1("HTTP/1.1 200 OK\r\n\r\n"), PIECE)],
];
const STREAMS: readonly (readonly [name: string, answer: Answer])[] = [
  ["an event without end", endless(latin1(EVENTS), PIECE)],
  ["events without end", endless(latin1(EVENTS), latin1("9\r\ndata: a\n\n\r\n".repeat(1000)))],
];

const ZEROS = gzipSync(Buffer.alloc(10_000_000));
const OPEN = headers(1, [...GRPC_HEADERS, ["grpc-encoding", "gzip"]]);
/** Every message answers the one request, and none is its last. */
const readStreamed: ReadStreamed = (_bytes, bodyStart, bodyEnd) => ({
  ...{ id: "0001", failure: undefined, isFinal: false, isEmpty: false },
  ...{ bodyStart, bodyEnd },
});
const dataOf = (bytes: Uint8Array): Uint8Array => {
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 16_000)
    frames.push(frame(TYPE.data, 0, 1, bytes.subarray(at, at + 16_000)));
  return join(...frames);
};
const compressed = (): Uint8Array => {
  const message = grpcMessage(ZEROS);
  message[0] = 1;
  return message;
};

const UNARY: readonly (readonly [name: string, create: Create])[] = [
  ["own gRPC", (endpoint) => (options) => new GrpcUnaryClient(endpoint, options)],
  ["grpc-js", (endpoint) => (options) => new GrpcJsClient(endpoint, options, undefined)],
];
const BIDI: readonly (readonly [name: string, create: Create])[] = [
  ["own gRPC stream", (endpoint) => (options) => new GrpcStreamClient(endpoint, options, readStreamed)],
  ["grpc-js stream", (endpoint) => (options) => new GrpcJsClient(endpoint, options, readStreamed)],
  ["own gRPC calls", (endpoint) => (options) => new GrpcCallClient(endpoint, options)],
  ["grpc-js calls", (endpoint) => (options) => new GrpcJsCallClient(endpoint, options)],
];
const MESSAGES: readonly (readonly [name: string, answer: Answer])[] = [
  [
    "a message announced as longer",
    (c) => c.write(join(OPEN, frame(TYPE.data, 0, 1, new Uint8Array([0, 0, 1, 134, 161])))),
  ],
  [
    "a message that decompresses to more",
    (c) => c.write(join(OPEN, dataOf(compressed()), headers(1, [["grpc-status", "0"]], END_STREAM))),
  ],
];
const MANY_MESSAGES: readonly (readonly [name: string, answer: Answer])[] = [
  [
    "messages that are longer together",
    (c) => c.write(join(OPEN, ...[1, 2, 3].map(() => dataOf(grpcMessage(new Uint8Array(8000)))))),
  ],
];

interface Given {
  readonly isGrpc?: boolean;
  /** Whether bodies that are not kept are checked as a whole. */
  readonly isChecked?: boolean;
  readonly maxBytes?: number;
}

class WholeCheck extends CollectedCheck {
  whole(): undefined {}
}

async function failureOf(
  create: Create,
  answer: Answer,
  keepBodies: boolean,
  { isGrpc = false, isChecked = false, maxBytes = MAX_BYTES }: Given = {},
): Promise<unknown> {
  await using server = await startRawServer(async (connection) => {
    if (isGrpc) connection.write(settings({ 3: 100 }));
    await connection.until(({ bytes }) => latin1Has(bytes, "id=0001"));
    answer(connection);
  });
  using driver = new Driver(create(endpointAt(server.port)), {
    maxResponseBytes: maxBytes,
    responses: { keepBodies, createCheck: isChecked ? () => new WholeCheck() : undefined },
  });
  await driver.client.reserve(1);
  const { failure, body, responses } = await driver.request(0, REQUEST, "0001");
  const held = body.length + responses.reduce((sum, one) => sum + one.body.length, 0);
  assert.ok(held <= 2 * maxBytes, `${held} bytes are held`);
  return failure;
}

function latin1Has(bytes: Uint8Array, text: string): boolean {
  return new TextDecoder("latin1").decode(bytes).includes(text);
}

const CASES = [
  ...HTTP.flatMap((client) => BODIES.map((body) => [client, body] as const)),
  ...STREAMS.map((body) => [HTTP[0] as (typeof HTTP)[0], body] as const),
  ...UNARY.flatMap((client) => MESSAGES.map((body) => [client, body] as const)),
  ...BIDI.flatMap((client) => [...MESSAGES, ...MANY_MESSAGES].map((body) => [client, body] as const)),
];

describe("a response above the limit is a failure of its request", () => {
  for (const [[client, create], [name, answer]] of CASES) {
    test(`${client}: ${name}`, LIMIT, async () => {
      assert.deepEqual(
        await failureOf(create, answer, true, { isGrpc: client.toLowerCase().includes("grpc") }),
        TOO_LARGE,
      );
    });
  }

  test("own HTTP: also where bodies are not kept", LIMIT, async () => {
    const [, create] = HTTP[0] as (typeof HTTP)[0];
    for (const [, answer] of [...BODIES, ...STREAMS])
      assert.deepEqual(await failureOf(create, answer, false), TOO_LARGE);
  });

  test("own HTTP: an event without end has a lower limit than a response", LIMIT, async () => {
    const [, create] = HTTP[0] as (typeof HTTP)[0];
    const piece = latin1(`100000\r\n${"x".repeat(1024 * 1024)}\r\n`);
    const answer = endless(latin1(EVENTS), piece);
    assert.deepEqual(await failureOf(create, answer, true, { maxBytes: 256 * 1024 * 1024 }), {
      kind: "limit",
      message: "an event of the stream has no end after 33,554,432 bytes",
    });
  });

  for (const [client, create] of HTTP) {
    test(`${client}: an error is one at whatever length, with the beginning of its body`, LIMIT, async () => {
      const answer = endless(latin1("HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n"), PIECE);
      assert.deepEqual(await failureOf(create, answer, true), {
        kind: "http",
        status: 500,
        message: "HTTP status 500",
      });
    });

    test(`${client}: a response of just the limit is read`, LIMIT, async () => {
      const answer = json(`Content-Length: ${MAX_BYTES}`, "x".repeat(MAX_BYTES));
      assert.equal(await failureOf(create, answer, true), undefined);
    });
  }
});

const LARGE = 150_000;
const THIRD = "x".repeat(LARGE / 3);
const CHUNK = `${(LARGE / 3).toString(16)}\r\n${THIRD}\r\n`;
const EVENT = `data: ${THIRD}\n\n`;
const EVENT_CHUNK = `${EVENT.length.toString(16)}\r\n${EVENT}\r\n`;
const inMessages = (...sizes: number[]): Answer => {
  const messages = sizes.map((size) => dataOf(grpcMessage(new Uint8Array(size))));
  return (c) => c.write(join(OPEN, ...messages, headers(1, [["grpc-status", "0"]], END_STREAM)));
};
const COUNTED: readonly (readonly [name: string, create: Create, answer: Answer])[] = [
  ...HTTP.flatMap(([name, create]) => [
    [`${name}: a body that is announced`, create, json(`Content-Length: ${LARGE}`, THIRD + THIRD)] as const,
    [`${name}: a body in chunks`, create, json("Transfer-Encoding: chunked", CHUNK.repeat(3))] as const,
  ]),
  [
    "own HTTP: events",
    (HTTP[0] as (typeof HTTP)[0])[1],
    json("Content-Type: text/event-stream\r\nTransfer-Encoding: chunked", EVENT_CHUNK.repeat(3)),
  ],
  ["own gRPC: a message", (UNARY[0] as (typeof UNARY)[0])[1], inMessages(LARGE)],
  // grpc-js allows a server less than 64 KiB at first.
  ...BIDI.map(([name, create]) => [`${name}: a message`, create, inMessages(60_000)] as const),
  ...BIDI.map(([name, create]) => [`${name}: messages`, create, inMessages(20_000, 20_000, 20_000)] as const),
];

const CHECKED = ["own HTTP: a body that is announced", "own HTTP: a body in chunks", "own gRPC: a message"];

describe("responses that are kept, also for a check only, share one budget", () => {
  const checked = COUNTED.filter(([name]) => CHECKED.includes(name));
  const kept = COUNTED.map((counted) => [...counted, true] as const);
  for (const [name, create, answer, keepBodies] of [...kept, ...checked.map((one) => [...one, false] as const)]) {
    test(`${name}${keepBodies ? "" : ", for its check"}`, LIMIT, async () => {
      const budgetBytes = 40_000;
      RESPONSES_BUDGET.limitTo(budgetBytes);
      // Another response has a part of it: alone this one might have more.
      RESPONSES_BUDGET.take(1);
      try {
        const isGrpc = name.toLowerCase().includes("grpc");
        const given = { isGrpc, isChecked: !keepBodies, maxBytes: 1_000_000 };
        const { kind, message, isMemory } = (await failureOf(create, answer, keepBodies, given)) as Failure;
        assert.deepEqual([kind, isMemory], ["limit", true], message);
        assert.match(message, /^a response of [\d,]+ bytes or more is refused: .* the 40,000 bytes allowed/);
        // All but the other's part is free again.
        RESPONSES_BUDGET.take(budgetBytes - 1);
        RESPONSES_BUDGET.giveBack(budgetBytes - 1);
      } finally {
        RESPONSES_BUDGET.giveBack(1);
        RESPONSES_BUDGET.limitTo(MOST_RESPONSES_BYTES);
      }
    });
  }
});
