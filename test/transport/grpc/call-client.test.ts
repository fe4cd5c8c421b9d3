import assert from "node:assert/strict";
import { after, beforeEach, describe, test } from "node:test";
import type { ClientOptions, LoadClient } from "../../../src/transport/client.ts";
import { GrpcJsCallClient } from "../../../src/transport/general/grpc-js-call-client.ts";
import { GrpcJsClient } from "../../../src/transport/general/grpc-js-client.ts";
import { GrpcCallClient } from "../../../src/transport/grpc/call-client.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import type { Endpoint, Header, WireRequest } from "../../../src/transport/request.ts";
import type { ResponseCheck } from "../../../src/transport/response-check.ts";
import { type CallCounter, startStub } from "../../servers/stub.ts";
import { latin1, pattern, toText } from "../bytes.ts";
import { Driver, endpointAt, type Outcome, openDriver, textsOf } from "../drive.ts";
import { NO_MESSAGE } from "./failures.ts";

/** Both gRPC clients make calls of all four types to grpc-go, whose own counts must be the clients'. */

const stub = await startStub();
after(() => stub.stop());
beforeEach(() => stub.reset());

type Create = (endpoint: Endpoint) => (options: ClientOptions) => LoadClient;
const CLIENTS: readonly (readonly [name: string, create: Create])[] = [
  ["own", (endpoint) => (options) => new GrpcCallClient(endpoint, options)],
  ["grpc-js", (endpoint) => (options) => new GrpcJsCallClient(endpoint, options)],
];

const MIB = 1024 * 1024;
const NO_BYTES = new Uint8Array(0);
const METHODS = {
  unary: "Unary",
  "client-stream": "ClientStream",
  "server-stream": "ServerStream",
  "bidi-stream": "BidiStream",
} as const;

/** A call of the service `stub.Calls`. @param orders what the server is to do, by the names of stub/calls.go */
function call(
  callType: keyof typeof METHODS,
  messages: readonly string[] | readonly Uint8Array[],
  orders: Readonly<Record<string, number>> = {},
  more: Partial<WireRequest> = {},
): WireRequest {
  return {
    path: `/stub.Calls/${METHODS[callType]}`,
    method: "POST",
    headers: Object.entries(orders).map(([name, value]): Header => [`stub-${name}`, String(value)]),
    payload: NO_BYTES,
    messages: messages.map((message) => (typeof message === "string" ? latin1(message) : message)),
    callType,
    ...more,
  };
}

/** Waits until the server has counted as wanted: a cancellation reaches it later. */
async function serverCounts(wanted: Partial<CallCounter>): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const counts = await stub.calls();
    const found = Object.fromEntries(Object.keys(wanted).map((key) => [key, counts[key as keyof CallCounter]]));
    if (Date.now() > deadline || JSON.stringify(found) === JSON.stringify(wanted)) {
      assert.deepEqual(found, wanted);
      return;
    }
  }
}

interface CallCase {
  readonly name: string;
  readonly request: WireRequest;
  readonly responses: readonly string[];
  readonly server: Partial<CallCounter>;
  /** How often the client must announce a response before the end. Default: for each. */
  readonly announced?: number;
  readonly failure?: Outcome["failure"];
}

const after2 = { pacing: "after-response" } as const;
const refused = { kind: "grpc", status: 9, message: "asked for by the client" } as const;

const CASES: readonly CallCase[] = [
  {
    name: "unary, its message as the payload",
    request: { ...call("unary", []), messages: undefined, payload: latin1("one") },
    responses: ["one"],
    server: { calls: 1, received: 1, sent: 1 },
    announced: 0,
  },
  {
    name: "unary, its message in the list",
    request: call("unary", ["one"]),
    responses: ["one"],
    server: { calls: 1, received: 1, sent: 1 },
    announced: 0,
  },
  {
    name: "client streaming",
    request: call("client-stream", ["a", "bc", "", "def"]),
    responses: ["6 bytes"],
    server: { calls: 1, received: 4, receivedBytes: 6, sent: 1, halfCloses: 1 },
    announced: 0,
  },
  {
    name: "client streaming without a message",
    request: call("client-stream", []),
    responses: ["0 bytes"],
    server: { calls: 1, received: 0, sent: 1, halfCloses: 1 },
    announced: 0,
  },
  {
    name: "server streaming",
    request: call("server-stream", ["x"], { responses: 3 }),
    responses: ["x#1", "x#2", "x#3"],
    server: { calls: 1, received: 1, sent: 3 },
  },
  {
    name: "server streaming without a response",
    request: call("server-stream", ["x"], { responses: 0 }),
    responses: [],
    server: { calls: 1, received: 1, sent: 0 },
  },
  {
    name: "bidirectional, all at once to a server that answers each",
    request: call("bidi-stream", ["a", "b", "c"]),
    responses: ["a", "b", "c"],
    server: { calls: 1, received: 3, sent: 3, halfCloses: 1 },
  },
  {
    name: "bidirectional, half duplex",
    request: call("bidi-stream", ["a", "b"], { "half-duplex": 1, responses: 2 }),
    responses: ["a#1", "a#2", "b#1", "b#2"],
    server: { calls: 1, received: 2, sent: 4, halfCloses: 1 },
  },
  {
    name: "bidirectional, each message after a response",
    request: call("bidi-stream", ["a", "b", "c"], {}, after2),
    responses: ["a", "b", "c"],
    server: { calls: 1, received: 3, sent: 3, halfCloses: 1 },
  },
  {
    name: "bidirectional, paced, with more responses than messages",
    request: call("bidi-stream", ["a", "b"], { responses: 3 }, after2),
    responses: ["a#1", "a#2", "a#3", "b#1", "b#2", "b#3"],
    server: { calls: 1, received: 2, sent: 6, halfCloses: 1 },
  },
  {
    name: "bidirectional without a message",
    request: call("bidi-stream", []),
    responses: [],
    server: { calls: 1, received: 0, sent: 0, halfCloses: 1 },
  },
  {
    name: "a paced call that the server ends early, with status OK",
    request: call("bidi-stream", ["a", "b", "c"], { "end-after": 2 }, after2),
    responses: ["a", "b"],
    server: { calls: 1, received: 2, sent: 2 },
  },
  {
    name: "a call that the server ends early, before it has read 4 MiB",
    request: call("client-stream", [pattern(1), ...Array.from({ length: 4 }, () => pattern(MIB))], { "end-after": 1 }),
    responses: ["1 bytes"],
    server: { calls: 1, received: 1, sent: 1, halfCloses: 0 },
    announced: 0,
  },
  {
    name: "a status other than OK after responses, which are kept",
    request: call("server-stream", ["x"], { responses: 2, status: 9 }),
    responses: ["x#1", "x#2"],
    server: { calls: 1, sent: 2 },
    failure: refused,
  },
  {
    name: "a status other than OK after the messages of a client",
    request: call("client-stream", ["a", "b"], { status: 9 }),
    responses: [],
    server: { calls: 1, received: 2, sent: 0 },
    announced: 0,
    failure: refused,
  },
  {
    name: "a status other than OK between paced messages",
    request: call("bidi-stream", ["a", "b", "c"], { "end-after": 1, status: 9 }, after2),
    responses: ["a"],
    server: { calls: 1, received: 1, sent: 1 },
    failure: refused,
  },
  {
    name: "more than one response where one is due",
    request: { ...call("bidi-stream", ["a", "b"]), callType: "client-stream" },
    responses: ["a", "b"],
    server: { calls: 1, sent: 2 },
    announced: 0,
    failure: { kind: "protocol", message: "2 messages in response to a call that has one" },
  },
  {
    name: "no response where one is due",
    request: { ...call("server-stream", ["a"], { responses: 0 }), callType: "unary" },
    responses: [],
    server: { calls: 1, sent: 0 },
    announced: 0,
    failure: NO_MESSAGE,
  },
  {
    name: "a method that the server does not have",
    request: { ...call("bidi-stream", ["a"]), path: "/stub.Calls/Nothing" },
    responses: [],
    server: { calls: 0 },
    failure: { kind: "grpc", status: 12, message: "unknown method Nothing for service stub.Calls" },
  },
];

for (const [name, create] of CLIENTS) {
  const open = ({
    slots = 1,
    endpoint = {},
    ...options
  }: Partial<ClientOptions> & { slots?: number; endpoint?: Partial<Endpoint> } = {}): Promise<Driver> =>
    openDriver(create(endpointAt(stub.grpcPort, endpoint)), slots, { lanes: { laneCount: slots }, ...options });

  describe(`${name} client`, () => {
    for (const { name: what, request, responses, server, announced = responses.length, failure } of CASES) {
      for (const keepBodies of [true, false]) {
        test(`${what}${keepBodies ? "" : ", not kept"}`, async () => {
          const counts: number[] = [];
          let responseCount = 0;
          {
            using driver = await open({
              responses: { keepBodies },
              onResponse: ({ messageCount }) => counts.push(messageCount),
            });
            const outcome = await driver.request(0, request);
            assert.deepEqual(outcome.failure, failure);
            responseCount = outcome.responseCount;
            assert.equal(outcome.messageCount, responseCount);
            // grpc-js reports a status other than OK before it has read all messages, if they arrive together.
            if (name === "own" || failure?.kind !== "grpc") assert.equal(responseCount, responses.length);
            assert.deepEqual(textsOf(outcome), keepBodies ? responses.slice(0, responseCount) : []);
            assertTimes(outcome);
            assert.equal(driver.doneCount, 1);
          }
          assert.deepEqual(
            counts,
            [...Array(Math.min(announced, responseCount)).keys()].map((n) => n + 1),
          );
          await serverCounts(server);
        });
      }
    }

    test("calls of all types on many slots, again and again, are counted as often by the server", async () => {
      const requests = CASES.filter(({ failure }) => failure === undefined).map(({ request }) => request);
      const rounds = 20;
      let responses = 0;
      {
        using driver = await open({ slots: requests.length, responses: { keepBodies: false } });
        const turns = requests.map(async (request, slot) => {
          for (let round = 0; round < rounds; round++) {
            const { failure, responseCount } = await driver.request(slot, request);
            assert.equal(failure, undefined);
            responses += responseCount;
          }
        });
        await Promise.all(turns);
        assert.equal(driver.doneCount, requests.length * rounds);
      }
      await serverCounts({ calls: requests.length * rounds, sent: responses });
    });

    for (const compression of [undefined, "gzip"] as const) {
      test(`messages above every window cross both ways: ${compression ?? "not compressed"}`, async () => {
        const messages = [pattern(3 * MIB), new Uint8Array(20 * MIB), pattern(5 * MIB, 7), NO_BYTES];
        {
          using driver = await open({ endpoint: compression === undefined ? {} : { compression } });
          for (const pacing of ["at-once", "after-response"] as const) {
            const outcome = await driver.request(0, call("bidi-stream", messages, {}, { pacing }));
            assert.equal(outcome.failure, undefined);
            const isSame = outcome.responses.map(({ body }, index) =>
              Buffer.compare(body, messages[index] ?? NO_BYTES),
            );
            assert.deepEqual(isSame, [0, 0, 0, 0]);
          }
        }
        await serverCounts({ calls: 2, received: 8, receivedBytes: 56 * MIB, sent: 8 });
      });
    }

    test("the check sees each message up to the first faulty one", async () => {
      const seen: string[] = [];
      const check: ResponseCheck = {
        whole: (bytes, start, end) => {
          const text = toText(bytes.slice(start, end));
          seen.push(text);
          return text === "x#2" ? { reason: "it is the second", bytes: NO_BYTES } : undefined;
        },
        begin: () => {},
        piece: () => {},
        event: () => {},
        end: () => undefined,
      };
      using driver = await open({ responses: { keepBodies: false, createCheck: () => check } });
      const outcome = await driver.request(0, call("server-stream", ["x"], { responses: 3 }));
      if (name === "own") {
        assert.deepEqual(outcome.failure, { kind: "unreadable", message: "it is the second" });
        assert.deepEqual(seen, ["x#1", "x#2"]);
        assert.deepEqual(outcome.responses, []);
      } else {
        // The judge checks what is kept.
        assert.equal(outcome.failure, undefined);
        assert.deepEqual(textsOf(outcome), ["x#1", "x#2", "x#3"]);
      }
    });

    test("responses that are longer together than allowed fail the call, which is cancelled", async () => {
      using driver = await open({ maxResponseBytes: 5000 });
      const outcome = await driver.request(0, call("server-stream", [pattern(1000)], { responses: 6 }));
      assert.equal(outcome.failure?.kind, "limit");
      assert.match(outcome.failure?.message ?? "", /5,000 bytes allowed/);
      assert.equal((await driver.request(0, call("unary", ["still"]))).failure, undefined);
    });

    for (const [when, cancelAt] of [
      ["while it waits", 0],
      ["in the middle of its responses", 2],
    ] as const) {
      test(`a call that is cancelled ${when} is reset, and the slot can be used again`, async () => {
        using driver = await open();
        const failure = { kind: "cancelled", message: "enough" } as const;
        const seen = Promise.withResolvers<void>();
        const limited = new Driver(create(endpointAt(stub.grpcPort)), {
          onResponse: ({ messageCount }) => {
            if (messageCount === cancelAt) limited.client.cancel(0, failure);
          },
          onMetadata: () => seen.resolve(),
        });
        await limited.client.reserve(1);
        try {
          const orders = cancelAt === 0 ? { hold: 1 } : { responses: 3, hold: 1 };
          const held = limited.request(0, call("server-stream", ["x"], orders));
          if (cancelAt === 0) {
            await serverCounts({ sent: 1 });
            limited.client.cancel(0, failure);
          }
          const outcome = await held;
          assert.deepEqual(outcome.failure, failure);
          assert.equal(limited.doneCount, 1);
          if (cancelAt > 0) assert.deepEqual(textsOf(outcome), ["x#1", "x#2"]);
          await serverCounts({ calls: 1, cancelled: 1 });
          const next = await limited.request(0, call("bidi-stream", ["a"]));
          assert.deepEqual([next.failure, textsOf(next)], [undefined, ["a"]]);
        } finally {
          limited.close();
        }
        assert.equal((await driver.request(0, call("unary", ["other"]))).failure, undefined);
      });
    }

    test("a call without an end fails after the stall timeout", async () => {
      {
        using driver = await open({ stallTimeoutNs: 3e9 });
        const outcome = await driver.request(0, call("bidi-stream", ["a"], { hold: 1 }));
        assert.deepEqual(outcome.failure, { kind: "stalled", message: "no byte received for 3 s" });
        assert.deepEqual(textsOf(outcome), ["a"]);
      }
      await serverCounts({ cancelled: 1 });
    });

    test("closing the client fails calls in flight", async () => {
      {
        using driver = await open();
        const held = driver.request(0, call("bidi-stream", ["a"], { hold: 1 }));
        await serverCounts({ sent: 1 });
        driver.close();
        assert.equal((await held).failure?.kind, "aborted");
      }
      await serverCounts({ cancelled: 1 });
    });
  });
}

const FOR_UNARY: readonly (readonly [name: string, create: Create])[] = [
  ...CLIENTS,
  ["own unary", (endpoint) => (options) => new GrpcUnaryClient(endpoint, options)],
  ["grpc-js unary", (endpoint) => (options) => new GrpcJsClient(endpoint, options, undefined)],
];
for (const [name, create] of FOR_UNARY) {
  test(`${name} client: the headers of a request go with its own calls, beside those of the client`, async () => {
    const endpoint = endpointAt(stub.grpcPort, { headers: [["stub-responses", "1"]] });
    using driver = new Driver(create(endpoint));
    const request: WireRequest = { ...call("unary", []), messages: undefined, payload: latin1("one") };
    const refusing = { ...request, headers: [["Stub-Status", "9"] as const] };
    await driver.client.reserve(1);
    const failures = [];
    for (const one of [request, refusing, refusing, request]) failures.push((await driver.request(0, one)).failure);
    assert.deepEqual(failures, [undefined, refused, refused, undefined]);
  });
}

/** The first response comes after the send, and the end not before it. */
function assertTimes({ times, responses, failure }: Outcome): void {
  const [sendStartNs, sendEndNs, firstByteNs, endNs] = times;
  assert.ok(sendStartNs <= sendEndNs && sendStartNs <= firstByteNs && firstByteNs <= endNs, times.join(" "));
  const readNs = responses.map((response) => response.readNs);
  for (const [index, atNs] of readNs.entries()) assert.ok(atNs > (readNs[index - 1] ?? sendStartNs), readNs.join(" "));
  if (responses.length > 1 && failure === undefined) assert.deepEqual([firstByteNs, endNs], [readNs[0], readNs.at(-1)]);
}
