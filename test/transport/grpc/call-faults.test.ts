import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ResponseTooLargeError } from "../../../src/transport/failure.ts";
import { GrpcCallClient } from "../../../src/transport/grpc/call-client.ts";
import type { WireRequest } from "../../../src/transport/request.ts";
import { hex, inPieces, join, latin1, toText } from "../bytes.ts";
import { Driver, endpointAt, type Outcome, postRequest, textsOf } from "../drive.ts";
import { type ScriptedConnection, startScripted } from "../http2/scripted-server.ts";
import {
  END_STREAM,
  frame,
  GRPC_HEADERS,
  GRPC_OK,
  grpcMessage,
  headers,
  settings,
  TYPE,
  words,
} from "../http2/write-frames.ts";
import { acceptSlowly } from "./accept-slowly.ts";
import { CLOSED, COMPRESSED, NO_STATUS, NO_TRAILERS, resetWith } from "./failures.ts";
import { scriptedClient } from "./scripted-client.ts";

/** What servers may do to a call with several messages, and what the client then reports. */

const MESSAGES = ["one", "two", "three"];
const CANCEL = 8;
const MIB = 1024 * 1024;

function bidi(
  messages: readonly (string | Uint8Array)[],
  pacing: WireRequest["pacing"] = "after-response",
): WireRequest {
  const bytes = messages.map((message) => (typeof message === "string" ? latin1(message) : message));
  return { ...postRequest("/test.Service/Call", new Uint8Array(0)), messages: bytes, pacing };
}

const PACED = bidi(MESSAGES);

const withClient = scriptedClient((endpoint, options) => new GrpcCallClient(endpoint, options));

const data = (streamId: number, ...texts: readonly string[]): Uint8Array =>
  frame(TYPE.data, 0, streamId, join(...texts.map((text) => grpcMessage(latin1(text)))));
const ok = (streamId: number): Uint8Array => headers(streamId, GRPC_OK, END_STREAM);

/** Texts of the whole messages that a stream has sent. */
function messagesOf(bytes: Uint8Array): string[] {
  const texts: string[] = [];
  for (let at = 0; at + 5 <= bytes.length; ) {
    const size = Buffer.from(bytes).readUInt32BE(at + 1);
    if (at + 5 + size > bytes.length) break;
    texts.push(toText(bytes.slice(at + 5, at + 5 + size)));
    at += 5 + size;
  }
  return texts;
}

/** Waits until a stream has sent this number of messages, and returns all that it has sent. */
async function received(connection: ScriptedConnection, streamId: number, count: number): Promise<string[]> {
  await connection.raw.until(() => messagesOf(connection.dataOf(streamId)).length >= count);
  return messagesOf(connection.dataOf(streamId));
}

/** Answers each message of a paced call with its text in capitals. */
async function answerOne(connection: ScriptedConnection, streamId: number): Promise<void> {
  await received(connection, streamId, 1);
  connection.write(headers(streamId, GRPC_HEADERS));
  for (let count = 1; count <= MESSAGES.length; count++) {
    const texts = await received(connection, streamId, count);
    assert.equal(texts.length, count, "a message was sent before the response to the one before it");
    connection.write(data(streamId, (texts[count - 1] as string).toUpperCase()));
  }
  await connection.request(streamId);
  connection.write(ok(streamId));
}

async function answerAll(connection: ScriptedConnection, from = 1): Promise<void> {
  for (let streamId = from; ; streamId += 2) await answerOne(connection, streamId);
}

function assertAnswered(outcome: Outcome): void {
  assert.equal(outcome.failure, undefined);
  assert.deepEqual(textsOf(outcome), ["ONE", "TWO", "THREE"]);
}

interface FaultCase {
  readonly name: string;
  /** What the server sends after the first response; closes the connection where there is nothing. */
  readonly fault: Uint8Array | undefined;
  readonly failure: Outcome["failure"];
  readonly responses?: readonly string[];
  /** Whether the client resets the stream. */
  readonly resets?: true;
  readonly breaks?: true;
}

const FAULTS: readonly FaultCase[] = [
  {
    name: "a closed connection",
    fault: undefined,
    failure: CLOSED,
    breaks: true,
  },
  {
    name: "a reset stream",
    fault: frame(TYPE.rstStream, 0, 1, words(2)),
    failure: resetWith("INTERNAL_ERROR"),
  },
  {
    name: "a stream that is refused after a response, which cannot be sent again",
    fault: frame(TYPE.rstStream, 0, 1, words(7)),
    failure: resetWith("REFUSED_STREAM"),
  },
  {
    name: "a reset within a message",
    fault: join(
      frame(TYPE.data, 0, 1, grpcMessage(latin1("TWO")).slice(0, 6)),
      frame(TYPE.rstStream, 0, 1, words(CANCEL)),
    ),
    failure: resetWith("CANCEL"),
  },
  {
    name: "a status in the middle",
    fault: headers(1, [["grpc-status", "13"]], END_STREAM),
    failure: { kind: "grpc", status: 13, message: "INTERNAL" },
    resets: true,
  },
  {
    name: "half a message before status OK",
    fault: join(frame(TYPE.data, 0, 1, grpcMessage(latin1("TWO")).slice(0, 6)), ok(1)),
    failure: { kind: "protocol", message: "the response ended inside a message" },
    resets: true,
  },
  {
    name: "no trailers",
    fault: frame(TYPE.data, END_STREAM, 1, grpcMessage(latin1("TWO"))),
    failure: NO_TRAILERS,
    responses: ["ONE", "TWO"],
    resets: true,
  },
  {
    name: "trailers without a status",
    fault: headers(1, [["x", "y"]], END_STREAM),
    failure: NO_STATUS,
    resets: true,
  },
  {
    name: "a message of 4 GiB",
    fault: frame(TYPE.data, 0, 1, hex("00 ffffffff")),
    failure: { kind: "limit", message: new ResponseTooLargeError(64_000_000).message },
    resets: true,
  },
  {
    name: "a message flag that does not exist, behind a good message",
    fault: frame(TYPE.data, 0, 1, join(grpcMessage(latin1("TWO")), grpcMessage(latin1("x"), 9))),
    failure: { kind: "protocol", message: "bad gRPC message flag 9" },
    responses: ["ONE", "TWO"],
    resets: true,
  },
  {
    name: "a compressed message without an encoding",
    fault: frame(TYPE.data, 0, 1, grpcMessage(latin1("x"), 1)),
    failure: COMPRESSED,
    resets: true,
  },
  {
    name: "silence",
    fault: new Uint8Array(0),
    failure: { kind: "stalled", message: "no byte received for 500 ms" },
    resets: true,
  },
  {
    name: "a violation of HTTP/2",
    fault: frame(TYPE.windowUpdate, 0, 1, words(0)),
    failure: { kind: "protocol", message: "WINDOW_UPDATE of 0" },
    breaks: true,
  },
];

describe("own client: a call that fails after a response keeps it, counts once, and the slot continues", () => {
  for (const { name, fault, failure, responses = ["ONE"], resets, breaks } of FAULTS) {
    test(name, async () => {
      await withClient(
        async (connection) => {
          if (connection.index > 0) return answerAll(connection);
          await received(connection, 1, 1);
          connection.write(headers(1, GRPC_HEADERS), data(1, "ONE"));
          // The second message shows that the response has been read.
          await received(connection, 1, 2);
          if (fault === undefined) return connection.raw.end();
          connection.write(fault);
          if (resets) await connection.until(({ type, streamId }) => type === TYPE.rstStream && streamId === 1);
          return answerAll(connection, 3);
        },
        async (driver) => {
          const outcome = await driver.request(0, PACED);
          assert.deepEqual(outcome.failure, failure);
          assert.deepEqual(textsOf(outcome), responses);
          assert.equal(outcome.responseCount, responses.length);
          assertAnswered(await driver.request(0, PACED));
          assert.equal(driver.doneCount, 2);
          assert.equal(driver.client.connectionCount, breaks === true ? 2 : 1);
          assert.equal(driver.client.resendCount, 0);
        },
        failure?.kind === "stalled" ? { options: { stallTimeoutNs: 0.5e9 } } : {},
      );
    });
  }
});

describe("own client: calls", () => {
  test("a call without a response succeeds with trailers only", async () => {
    await withClient(
      async (connection) => {
        await connection.request(1);
        connection.write(headers(1, [...GRPC_HEADERS, ...GRPC_OK], END_STREAM));
      },
      async (driver) => {
        const outcome = await driver.request(0, bidi(["x"]));
        assert.deepEqual([outcome.failure, outcome.responseCount, outcome.responses], [undefined, 0, []]);
      },
    );
  });

  test("responses are the same however their bytes arrive, and each that arrives lets a message go", async () => {
    await withClient(
      async (connection) => {
        await received(connection, 1, 1);
        const bytes = join(headers(1, GRPC_HEADERS), data(1, "ONE", "TWO"), data(1, "THREE"));
        await connection.raw.writeApart(inPieces(bytes, 1));
        assert.deepEqual(messagesOf(await connection.request(1)), MESSAGES);
        connection.write(ok(1));
        await received(connection, 3, 1);
        connection.write(join(headers(3, GRPC_HEADERS), data(3, "ONE", "TWO", "THREE")));
        assert.deepEqual(messagesOf(await connection.request(3)), MESSAGES);
        connection.write(ok(3));
      },
      async (driver) => {
        assertAnswered(await driver.request(0, PACED));
        const atOnce = await driver.request(0, PACED);
        assertAnswered(atOnce);
        const [a = 0, b = 0, c = 0] = atOnce.responses.map(({ readNs }) => readNs);
        assert.ok(a < b && b < c, `${a} ${b} ${c}`);
        assert.deepEqual(atOnce.times.slice(2), [a, c]);
      },
    );
  });

  test("messages that go at once are sent again as the same bytes, with the metadata of the request", async () => {
    const request = { ...bidi(MESSAGES, "at-once"), headers: [["X-Tenant", "a"] as const] };
    const other = { ...bidi(MESSAGES, "at-once"), headers: [["x-tenant", "b"] as const] };
    const seen: string[] = [];
    await withClient(
      async (connection) => {
        for (let streamId = 1; ; streamId += 2) {
          const bytes = await connection.request(streamId);
          const { "x-tenant": tenant, ":path": path } = connection.headerLists.get(streamId) ?? {};
          seen.push(`${tenant} ${path} ${messagesOf(bytes).join()}`);
          connection.write(headers(streamId, GRPC_HEADERS), ok(streamId));
        }
      },
      async (driver) => {
        for (const one of [request, request, other, request]) {
          assert.equal((await driver.request(0, one)).failure, undefined);
        }
      },
    );
    assert.deepEqual(
      seen,
      ["a", "a", "b", "a"].map((tenant) => `${tenant} /test.Service/Call one,two,three`),
    );
  });

  test("a server that ends early with OK: the rest is not sent, and the stream is reset", async () => {
    await withClient(
      async (connection) => {
        await connection.raw.until(() => connection.dataOf(1).length === 65_535);
        connection.write(headers(1, GRPC_HEADERS), data(1, "enough"), ok(1));
        const { payload } = await connection.until(({ type, streamId }) => type === TYPE.rstStream && streamId === 1);
        assert.equal(payload[3], CANCEL);
        connection.write(frame(TYPE.windowUpdate, 0, 0, words(MIB)));
        await answerOne(connection, 3);
        assert.equal(connection.dataOf(1).length, 65_535);
      },
      async (driver) => {
        const outcome = await driver.request(0, bidi(["x", new Uint8Array(2 * MIB)], "at-once"));
        assert.deepEqual([outcome.failure, textsOf(outcome)], [undefined, ["enough"]]);
        const [sendStartNs, sendEndNs, , endNs] = outcome.times;
        assert.ok(sendStartNs <= sendEndNs && sendEndNs <= endNs);
        assertAnswered(await driver.request(0, PACED));
      },
    );
  });

  test("a server that accepts a long request slowly is not silent", async () => {
    const parts = 14;
    const size = 65_535 + parts * 1000;
    await withClient(
      async (connection) => {
        await acceptSlowly(connection, parts);
        connection.write(headers(1, GRPC_HEADERS), ok(1));
      },
      async (driver) => {
        const outcome = await driver.request(0, bidi([new Uint8Array(size - 5)]));
        assert.equal(outcome.failure, undefined);
        assert.ok(outcome.times[3] - outcome.times[0] > 2e9);
      },
      { options: { stallTimeoutNs: 2e9 } },
    );
  });

  test("a GOAWAY in the middle: the call ends on its connection, and the next one has another", async () => {
    await withClient(
      async (connection) => {
        if (connection.index > 0) return answerAll(connection);
        await received(connection, 1, 1);
        connection.write(headers(1, GRPC_HEADERS), data(1, "ONE"), frame(TYPE.goaway, 0, 0, words(1, 0)));
        await received(connection, 1, 2);
        connection.write(data(1, "TWO"));
        await received(connection, 1, 3);
        connection.write(data(1, "THREE"), ok(1));
      },
      async (driver) => {
        assertAnswered(await driver.request(0, PACED));
        assertAnswered(await driver.request(0, PACED));
        assert.deepEqual([driver.client.connectionCount, driver.client.resendCount], [2, 0]);
      },
    );
  });

  for (const [name, refusal] of [
    ["a GOAWAY below the call", frame(TYPE.goaway, 0, 0, words(0, 0))],
    ["a refused stream", frame(TYPE.rstStream, 0, 1, words(7))],
  ] as const) {
    test(`${name}: it is sent again from its first message`, async () => {
      await withClient(
        async (connection) => {
          if (connection.index > 0) return answerAll(connection);
          await received(connection, 1, 1);
          connection.write(refusal);
          return answerAll(connection, 3);
        },
        async (driver) => {
          assertAnswered(await driver.request(0, PACED));
          assert.deepEqual([driver.doneCount, driver.client.resendCount], [1, 1]);
        },
      );
    });
  }

  test("a call that is cancelled by its first response lets the slot send, and the rest of the read is not its own", async () => {
    const failure = { kind: "cancelled", message: "enough" } as const;
    let second: Promise<Outcome> | undefined;
    await using server = await startScripted(async (connection) => {
      await received(connection, 1, 1);
      connection.write(join(headers(1, GRPC_HEADERS), data(1, "ONE", "TWO", "THREE"), ok(1)));
      await answerOne(connection, 3);
    });
    using driver = new Driver((options) => new GrpcCallClient(endpointAt(server.port), options), {
      onResponse: () => {
        if (second !== undefined) return;
        driver.client.cancel(0, failure);
        second = driver.request(0, PACED);
      },
    });
    await driver.client.reserve(1);
    const first = await driver.request(0, PACED);
    assert.deepEqual([first.failure, textsOf(first)], [failure, ["ONE"]]);
    assertAnswered((await second) as Outcome);
    assert.equal(driver.doneCount, 2);
  });

  test("a call that fails before it has a stream has no responses of the call before it", async () => {
    const failure = { kind: "cancelled", message: "enough" } as const;
    await withClient(
      async (connection) => {
        await answerOne(connection, 1);
        await received(connection, 3, 1);
      },
      async (driver) => {
        assertAnswered(await driver.request(0, PACED));
        void driver.request(1, PACED);
        const waiting = driver.request(0, PACED);
        driver.client.cancel(0, failure);
        const outcome = await waiting;
        assert.deepEqual(
          [outcome.failure, outcome.responses, outcome.responseCount, outcome.messageCount],
          [failure, [], 0, 0],
        );
      },
      { greeting: settings({ 3: 1 }), slots: 2 },
    );
  });

  test("calls wait for room under the server's limit of streams", async () => {
    await withClient(
      answerAll,
      async (driver) => {
        const outcomes = await Promise.all([0, 1, 2].map((slot) => driver.request(slot, PACED)));
        for (const outcome of outcomes) assertAnswered(outcome);
        assert.equal(driver.client.connectionCount, 1);
      },
      { greeting: settings({ 3: 1 }), slots: 3 },
    );
  });
});
