import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import { LIMIT } from "../../time-limit.ts";
import { inPieces, join, latin1, pattern, toText } from "../bytes.ts";
import { endpointAt, postRequest } from "../drive.ts";
import { type ScriptedConnection, startScripted } from "../http2/scripted-server.ts";
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  frame,
  GRPC_HEADERS,
  GRPC_OK,
  grpcAnswer,
  grpcMessage,
  headerBlock,
  headers,
  PADDED,
  PREFACE,
  settings,
  TYPE,
  words,
} from "../http2/write-frames.ts";
import { scriptedClient } from "./scripted-client.ts";

/** Our gRPC client against a server whose every frame is scripted. */

const REQUEST = postRequest("/test.Service/Call", latin1("question"));
const RESPONSE = latin1("answer");

const withClient = scriptedClient((endpoint, options) => new GrpcUnaryClient(endpoint, options), 0);

/** Answers every request of a connection. */
async function answerAll(connection: ScriptedConnection, from = 1): Promise<void> {
  for (let streamId = from; ; streamId += 2) {
    await connection.request(streamId);
    connection.write(grpcAnswer(streamId, RESPONSE));
  }
}

function isAck({ type, flags }: { type: number; flags: number }, ackedType: number): boolean {
  return type === ackedType && (flags & ACK) === ACK;
}

describe("own gRPC client", () => {
  test("opens with preface and SETTINGS, and sends path, headers and the message with its prefix", async () => {
    let seen: ScriptedConnection | undefined;
    await withClient(
      (connection) => {
        seen = connection;
        return answerAll(connection);
      },
      async (driver, slots) => {
        await slots(1);
        assert.equal(toText((await driver.request(0, REQUEST)).body), "answer");
        assert.deepEqual(seen?.raw.bytes.slice(0, PREFACE.length), PREFACE);
        assert.equal(seen?.frames[0]?.type, TYPE.settings);
        assert.deepEqual(seen?.dataOf(1), grpcMessage(latin1("question")));
        const list = seen?.headerLists.get(1) ?? {};
        assert.equal(list[":method"], "POST");
        assert.equal(list[":scheme"], "http");
        assert.equal(list[":path"], "/test.Service/Call");
        assert.equal(list["te"], "trailers");
        assert.equal(list["content-type"], "application/grpc");
        assert.match(list["user-agent"] ?? "", /^rampart\//);
      },
    );
  });

  test("sends many calls over one connection, with ids in their places", async () => {
    let seen: ScriptedConnection | undefined;
    await withClient(
      (connection) => {
        seen = connection;
        return answerAll(connection);
      },
      async (driver, slots) => {
        await slots(3);
        const request = postRequest("/m", latin1("id=0000."), { stampPlace: { offset: 3, length: 4, idDigits: 4 } });
        for (let round = 0; round < 5; round++) {
          const calls = [0, 1, 2].map((slot) => driver.queue(slot, request, `${round}00${slot}`));
          driver.client.flush();
          for (const { failure } of await Promise.all(calls)) assert.equal(failure, undefined);
        }
        const sent = seen?.opened.map((id) => toText(seen?.dataOf(id).subarray(5) as Uint8Array));
        assert.equal(sent?.length, 15);
        assert.deepEqual(sent?.slice(0, 4), ["id=0000.", "id=0001.", "id=0002.", "id=1000."]);
        assert.equal(driver.client.connectionCount, 1);
      },
    );
  });

  test("six lanes share a connection, the seventh has its own", async () => {
    const connections: ScriptedConnection[] = [];
    await withClient(
      (connection) => {
        connections.push(connection);
        return answerAll(connection);
      },
      async (driver, slots) => {
        await slots(8);
        assert.equal(driver.client.connectionCount, 2);
        await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((slot) => driver.request(slot, REQUEST)));
        assert.deepEqual(connections.map(({ opened }) => opened.length).sort(), [2, 6]);
      },
      { options: { lanes: { laneCount: 8 } } },
    );
  });

  const responses: readonly (readonly [name: string, answer: Uint8Array, body?: Uint8Array])[] = [
    ["in one piece", grpcAnswer(1, RESPONSE)],
    [
      "with a message split over frames, within its prefix too",
      join(
        headers(1, GRPC_HEADERS),
        ...inPieces(grpcMessage(RESPONSE), 3).map((piece) => frame(TYPE.data, 0, 1, piece)),
        headers(1, GRPC_OK, END_STREAM),
      ),
    ],
    [
      "with padded and empty DATA",
      join(
        headers(1, GRPC_HEADERS),
        frame(TYPE.data, 0, 1),
        frame(TYPE.data, PADDED, 1, join(new Uint8Array([3]), grpcMessage(RESPONSE), new Uint8Array(3))),
        headers(1, GRPC_OK, END_STREAM),
      ),
    ],
    [
      "with headers and trailers over CONTINUATION frames",
      join(
        frame(TYPE.headers, 0, 1, headerBlock(GRPC_HEADERS).slice(0, 4)),
        frame(TYPE.continuation, 0, 1, headerBlock(GRPC_HEADERS).slice(4, 5)),
        frame(TYPE.continuation, END_HEADERS, 1, headerBlock(GRPC_HEADERS).slice(5)),
        frame(TYPE.data, 0, 1, grpcMessage(RESPONSE)),
        frame(TYPE.headers, END_STREAM, 1, headerBlock(GRPC_OK).slice(0, 2)),
        frame(TYPE.continuation, END_HEADERS, 1, headerBlock(GRPC_OK).slice(2)),
      ),
    ],
    [
      "among frames that mean nothing to it",
      join(
        frame(TYPE.priority, 0, 1, new Uint8Array(5)),
        frame(0xfa, 0xff, 0, latin1("grease")),
        grpcAnswer(1, RESPONSE),
        frame(TYPE.windowUpdate, 0, 1, words(1)),
        frame(TYPE.rstStream, 0, 1, words(0)),
      ),
    ],
    ["with an empty message", grpcAnswer(1, new Uint8Array(0)), new Uint8Array(0)],
    ["after an informational response", join(headers(1, [[":status", "103"]]), grpcAnswer(1, RESPONSE))],
  ];
  for (const [name, answer, body = RESPONSE] of responses) {
    test(`reads a response ${name}, however it is cut`, async () => {
      for (const size of [answer.length, 1, 7]) {
        await withClient(
          async (connection) => {
            await connection.request(1);
            await connection.raw.writeApart(inPieces(answer, size));
          },
          async (driver, slots) => {
            await slots(1);
            const outcome = await driver.request(0, REQUEST);
            assert.equal(outcome.failure, undefined);
            assert.deepEqual(outcome.body, body);
            const [sendStart, sendEnd, firstByte, end] = outcome.times;
            assert.ok(sendStart <= sendEnd && sendEnd <= firstByte && firstByte <= end);
          },
        );
      }
    });
  }

  test("answers PING with the same eight bytes, and its acknowledgement with nothing", async () => {
    await withClient(
      async (connection) => {
        connection.write(frame(TYPE.ping, ACK, 0, latin1("ignored!")), frame(TYPE.ping, 0, 0, latin1("12345678")));
        const pong = await connection.until((sent) => sent.type === TYPE.ping);
        assert.ok(isAck(pong, TYPE.ping));
        assert.equal(toText(pong.payload), "12345678");
        await answerAll(connection);
      },
      async (driver, slots) => {
        await slots(1);
        assert.equal((await driver.request(0, REQUEST)).failure, undefined);
      },
    );
  });

  test("acknowledges every SETTINGS", async () => {
    await withClient(
      async (connection) => {
        connection.write(settings({ 5: 20_000 }), settings());
        await connection.until((sent) => isAck(sent, TYPE.settings), 3);
        await answerAll(connection);
      },
      async (driver, slots) => {
        await slots(1);
        assert.equal((await driver.request(0, REQUEST)).failure, undefined);
      },
    );
  });

  test("a slot works again from inside its own completion", async () => {
    const server = await startScripted((connection) => answerAll(connection));
    let left = 30;
    await new Promise<void>((resolve) => {
      const client: GrpcUnaryClient = new GrpcUnaryClient(endpointAt(server.port), {
        responses: { keepBodies: false },
        stallTimeoutNs: 4e9,
        maxResponseBytes: 1e6,
        lanes: { laneCount: 1 },
        onDone: ({ slot }) => {
          if (--left === 0) {
            client.close();
            resolve();
            return;
          }
          client.send(slot, REQUEST, undefined);
          client.flush();
        },
      });
      void client.reserve(1).then(() => {
        client.send(0, REQUEST, undefined);
        client.flush();
      });
    });
    await server.stop();
    assert.equal(left, 0);
  });

  test("fails active calls with aborted when closed, each once", async () => {
    await withClient(
      () => {},
      async (driver, slots) => {
        await slots(3);
        const calls = [0, 1, 2].map((slot) => driver.request(slot, REQUEST));
        driver.close();
        driver.close();
        for (const { failure } of await Promise.all(calls)) assert.equal(failure?.kind, "aborted");
        assert.equal(driver.doneCount, 3);
      },
    );
  });
});

describe("own gRPC client and flow control", () => {
  const large = pattern(200_000);

  test("splits a message by the peer's frame size and initial window, and continues with both windows", async () => {
    let sizes: number[] = [];
    await withClient(
      async (connection) => {
        // The windows: 30,000 bytes for the stream, 65,535 for the connection.
        const sent = (): number => connection.dataOf(1).length;
        await connection.raw.until(() => sent() === 30_000);
        connection.write(frame(TYPE.windowUpdate, 0, 1, words(1_000_000)));
        await connection.raw.until(() => sent() === 65_535);
        connection.write(frame(TYPE.windowUpdate, 0, 0, words(100_000)));
        await connection.raw.until(() => sent() === 165_535);
        connection.write(frame(TYPE.windowUpdate, 0, 0, words(100_000)));
        assert.deepEqual(await connection.request(1), grpcMessage(large));
        sizes = connection.frames.filter(({ type }) => type === TYPE.data).map(({ payload }) => payload.length);
        connection.write(grpcAnswer(1, RESPONSE));
      },
      async (driver, slots) => {
        await slots(1);
        assert.equal((await driver.request(0, postRequest("/m", large))).failure, undefined);
        assert.ok(Math.max(...sizes) <= 16_384);
      },
      { greeting: settings({ 4: 30_000 }) },
    );
  });

  test("uses frames as large as the peer takes", async () => {
    let sizes: number[] = [];
    await withClient(
      async (connection) => {
        connection.write(frame(TYPE.windowUpdate, 0, 0, words(1_000_000)));
        await connection.request(1);
        sizes = connection.frames.filter(({ type }) => type === TYPE.data).map(({ payload }) => payload.length);
        connection.write(grpcAnswer(1, RESPONSE));
      },
      async (driver, slots) => {
        await slots(1);
        assert.equal((await driver.request(0, postRequest("/m", large))).failure, undefined);
        assert.ok(Math.max(...sizes) > 65_000);
      },
      { greeting: settings({ 4: 1_000_000, 5: 65_536 }) },
    );
  });

  test("a smaller initial window holds open streams back, to below nothing, until it is made good", async () => {
    await withClient(
      async (connection) => {
        await connection.raw.until(() => connection.dataOf(1).length === 50_000);
        // The stream has sent 50,000 of a window that is now 10,000: it stands at -40,000.
        connection.write(settings({ 4: 10_000 }), frame(TYPE.windowUpdate, 0, 0, words(1_000_000)));
        await connection.until((sent) => isAck(sent, TYPE.settings), 2);
        assert.equal(connection.dataOf(1).length, 50_000);
        connection.write(frame(TYPE.windowUpdate, 0, 1, words(40_001)));
        await connection.raw.until(() => connection.dataOf(1).length === 50_001);
        connection.write(settings({ 4: 300_000 }));
        assert.deepEqual(await connection.request(1), grpcMessage(large));
        connection.write(grpcAnswer(1, RESPONSE));
      },
      async (driver, slots) => {
        await slots(1);
        assert.equal((await driver.request(0, postRequest("/m", large))).failure, undefined);
      },
      { greeting: settings({ 4: 50_000 }) },
    );
  });

  test("a stream that may not send holds no other one back", async () => {
    await withClient(
      async (connection) => {
        await connection.request(3);
        connection.write(grpcAnswer(3, RESPONSE), frame(TYPE.windowUpdate, 0, 1, words(1_000_000)));
        await connection.request(1);
        connection.write(grpcAnswer(1, RESPONSE));
      },
      async (driver, slots) => {
        await slots(2);
        const blocked = driver.request(0, postRequest("/m", pattern(2000)));
        const small = await driver.request(1, postRequest("/m", pattern(10)));
        assert.equal(small.failure, undefined);
        assert.equal((await blocked).failure, undefined);
      },
      { greeting: settings({ 4: 1000 }) },
    );
  });

  test("opens its own windows again while a response of 20 MiB arrives", LIMIT, async () => {
    const body = pattern(20 * 1024 * 1024);
    let windows: { stream: number; connection: number } | undefined;
    await withClient(
      async (connection) => {
        const initial = await connection.until(({ type }) => type === TYPE.settings);
        windows = { stream: windowIn(initial.payload), connection: 65_535 };
        await connection.request(1);
        await sendWithinWindows(connection, windows, grpcMessage(body));
        connection.write(headers(1, GRPC_OK, END_STREAM));
      },
      async (driver, slots) => {
        await slots(1);
        const outcome = await driver.request(0, REQUEST);
        assert.equal(outcome.failure, undefined);
        assert.equal(Buffer.compare(outcome.body, body), 0);
      },
      { options: { stallTimeoutNs: 15e9 } },
    );
  });
});

/** SETTINGS_INITIAL_WINDOW_SIZE in a SETTINGS payload. */
function windowIn(payload: Uint8Array): number {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  for (let at = 0; at < payload.length; at += 6) if (view.getUint16(at) === 4) return view.getUint32(at + 2);
  return 65_535;
}

/** Sends DATA on stream 1 as a server that never oversteps the client's windows. */
async function sendWithinWindows(
  connection: ScriptedConnection,
  windows: { stream: number; connection: number },
  bytes: Uint8Array,
): Promise<void> {
  connection.write(headers(1, GRPC_HEADERS));
  const granted = (streamId: number): number =>
    connection.frames
      .filter((sent) => sent.type === TYPE.windowUpdate && sent.streamId === streamId)
      .reduce((sum, { payload }) => sum + new DataView(payload.buffer).getUint32(0), 0);
  for (let sent = 0; sent < bytes.length; ) {
    const room = (): number => Math.min(windows.stream + granted(1), windows.connection + granted(0)) - sent;
    await connection.raw.until(() => room() > 0);
    const stop = Math.min(bytes.length, sent + room());
    const frames = inPieces(bytes.subarray(sent, stop), 16_384).map((piece) => frame(TYPE.data, 0, 1, piece));
    connection.write(...frames);
    sent = stop;
  }
}
