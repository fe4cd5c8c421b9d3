import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GrpcStreamClient } from "../../../src/transport/grpc/stream-client.ts";
import { until } from "../../until.ts";
import { inPieces, join, latin1, toText } from "../bytes.ts";
import { postRequest } from "../drive.ts";
import type { ScriptedConnection } from "../http2/scripted-server.ts";
import { END_STREAM, frame, GRPC_HEADERS, grpcMessage, headers, settings, TYPE, words } from "../http2/write-frames.ts";
import { readStreamed } from "../simple-model.ts";
import { acceptSlowly } from "./accept-slowly.ts";
import { COMPRESSED, resetWith } from "./failures.ts";
import { scriptedClient } from "./scripted-client.ts";

/** Our client for bidirectional gRPC streams against a server whose every frame is scripted. */

const REQUEST = postRequest("/test.Service/Stream", latin1("id=0000"), {
  stampPlace: { offset: 3, length: 4, idDigits: 4 },
});

/** A ModelStreamInferResponse: an error text, and a response with an id and something else. */
function answer(id: string, error = ""): Uint8Array {
  const response = join(field(1, "model"), id === "" ? new Uint8Array(0) : field(3, id));
  return grpcMessage(
    join(error === "" ? new Uint8Array(0) : field(1, error), new Uint8Array([0x12, response.length]), response),
  );
}

function field(number: number, text: string): Uint8Array {
  return join(new Uint8Array([number * 8 + 2, text.length]), latin1(text));
}

function data(...messages: readonly Uint8Array[]): Uint8Array {
  return frame(TYPE.data, 0, 1, join(...messages));
}

/** Waits for as many messages of REQUEST's size on stream 1, and gives their ids. */
async function idsOf(connection: ScriptedConnection, count: number, streamId = 1): Promise<string[]> {
  await connection.raw.until(() => connection.dataOf(streamId).length >= count * 12);
  return inPieces(connection.dataOf(streamId), 12).map((message) => toText(message.slice(8)));
}

const withClient = scriptedClient((endpoint, options) => new GrpcStreamClient(endpoint, options, readStreamed));

/** A response that says whether it is the last; empty ones have no outputs. */
function part(id: string, isFinal: boolean, output = ""): Uint8Array {
  const flag = new Uint8Array([0x12, 2, 0x08, isFinal ? 1 : 0]);
  const entry = join(field(1, "triton_final_response"), flag);
  const outputs = output === "" ? new Uint8Array(0) : field(6, output);
  const response = join(field(3, id), new Uint8Array([0x22, entry.length]), entry, outputs);
  return grpcMessage(join(new Uint8Array([0x12, response.length]), response));
}

describe("own gRPC stream client", () => {
  test("a request with several responses ends with the last one, and an empty last one has no say in its latency", async () => {
    const seen: [messages: number, responses: number][] = [];
    await withClient(
      async (connection) => {
        await idsOf(connection, 2);
        connection.write(headers(1, GRPC_HEADERS), data(part("0001", false, "a"), part("0002", false, "x")));
        await until(() => seen.length === 2);
        connection.write(data(part("0001", false, "b")));
        await until(() => seen.length === 3);
        connection.write(data(part("0002", true, "y"), part("0001", true)));
      },
      async (driver) => {
        const [first, second] = await Promise.all([
          driver.request(0, REQUEST, "0001"),
          driver.request(1, REQUEST, "0002"),
        ]);
        assert.deepEqual([first.failure, second.failure], [undefined, undefined]);
        assert.deepEqual([first.responseCount, first.messageCount], [2, 3]);
        assert.deepEqual([second.responseCount, second.messageCount], [2, 2]);
        assert.deepEqual(
          first.responses.map(({ isEmpty, body }) => [isEmpty, toText(body).at(-1)]),
          [
            [false, "a"],
            [false, "b"],
            [true, toText(part("0001", true)).at(-1)],
          ],
        );
        // The latency is that of the last response with content; the first is kept apart.
        const [, , firstByteNs, endNs] = first.times;
        assert.equal(firstByteNs, first.responses[0]?.readNs);
        assert.equal(endNs, first.responses[1]?.readNs);
        assert.ok((first.responses[2]?.readNs ?? 0) > endNs);
        assert.equal(second.times[3], second.responses[1]?.readNs);
        assert.deepEqual(seen, [
          [1, 1],
          [1, 1],
          [2, 2],
        ]);
      },
      { slots: 2, options: { onResponse: (call) => seen.push([call.messageCount, call.responseCount]) } },
    );
  });

  test("a server that accepts a long request slowly is not silent", async () => {
    const parts = 14;
    const long = postRequest("/test.Service/Stream", join(latin1("id=0000"), new Uint8Array(65_523 + parts * 1000)), {
      stampPlace: { offset: 3, length: 4, idDigits: 4 },
    });
    await withClient(
      async (connection) => {
        await acceptSlowly(connection, parts);
        connection.write(headers(1, GRPC_HEADERS), data(part("0001", true, "a")));
      },
      async (driver) => {
        const outcome = await driver.request(0, long, "0001");
        assert.equal(outcome.failure, undefined);
        assert.ok(outcome.times[3] - outcome.times[0] > 2e9);
      },
      { options: { stallTimeoutNs: 2e9 } },
    );
  });

  test("responses that arrive in one read get different times, as genai-perf needs", async () => {
    await withClient(
      async (connection) => {
        await idsOf(connection, 1);
        const parts = ["a", "b", "c"].map((output) => part("0001", output === "c", output));
        connection.write(headers(1, GRPC_HEADERS), data(...parts));
      },
      async (driver) => {
        const { responses, times } = await driver.request(0, REQUEST, "0001");
        const [a = 0, b = 0, c = 0] = responses.map(({ readNs }) => readNs);
        assert.ok(a < b && b < c, `${a} ${b} ${c}`);
        assert.deepEqual(times.slice(2), [a, c]);
      },
    );
  });

  test("an error ends a request whatever responses were still to come", async () => {
    await withClient(
      async (connection) => {
        await idsOf(connection, 1);
        connection.write(headers(1, GRPC_HEADERS), data(part("0001", false, "a")));
        connection.write(data(answer("0001", "no luck"), part("0001", true)));
        await idsOf(connection, 2);
        connection.write(data(part("0002", true, "b")));
      },
      async (driver) => {
        assert.deepEqual((await driver.request(0, REQUEST, "0001")).failure, { kind: "model", message: "no luck" });
        assert.equal((await driver.request(0, REQUEST, "0002")).failure, undefined);
      },
    );
  });

  test("sends all requests of a lane on one stream and matches responses by their ids, in any order", async () => {
    let ids: string[] = [];
    await withClient(
      async (connection) => {
        ids = await idsOf(connection, 3);
        connection.write(headers(1, GRPC_HEADERS), data(answer("0003")), data(answer("0001")), data(answer("0002")));
      },
      async (driver) => {
        const outcomes = await Promise.all([0, 1, 2].map((slot) => driver.request(slot, REQUEST, `000${slot + 1}`)));
        for (const [slot, { failure, body }] of outcomes.entries()) {
          assert.equal(failure, undefined);
          assert.match(toText(body), new RegExp(`000${slot + 1}$`));
        }
        assert.deepEqual(ids, ["0001", "0002", "0003"]);
      },
      { slots: 3 },
    );
  });

  test("each lane has its own stream", async () => {
    let opened: number[] = [];
    await withClient(
      async (connection) => {
        for (const streamId of [1, 3]) {
          const [id = ""] = await idsOf(connection, 1, streamId);
          connection.write(headers(streamId, GRPC_HEADERS), frame(TYPE.data, 0, streamId, answer(id)));
        }
        opened = connection.opened;
      },
      async (driver) => {
        const outcomes = await Promise.all([0, 1].map((slot) => driver.request(slot, REQUEST, `000${slot}`)));
        for (const { failure } of outcomes) assert.equal(failure, undefined);
        assert.deepEqual(opened, [1, 3]);
      },
      { slots: 2, options: { lanes: { laneCount: 2 } } },
    );
  });

  for (const [name, cut] of [
    ["several messages in one frame", (bytes: Uint8Array) => [data(bytes)]],
    [
      "messages split over frames of three bytes",
      (bytes: Uint8Array) => inPieces(bytes, 3).map((piece) => data(piece)),
    ],
    [
      "a message's end and the next one's start in one frame",
      (bytes: Uint8Array) => inPieces(bytes, 20).map((piece) => data(piece)),
    ],
  ] as const) {
    test(`reads ${name}`, async () => {
      await withClient(
        async (connection) => {
          await idsOf(connection, 3);
          connection.write(headers(1, GRPC_HEADERS), ...cut(join(answer("0001"), answer("0002"), answer("0003"))));
        },
        async (driver) => {
          const outcomes = await Promise.all([0, 1, 2].map((slot) => driver.request(slot, REQUEST, `000${slot + 1}`)));
          for (const { failure } of outcomes) assert.equal(failure, undefined);
        },
        { slots: 3 },
      );
    });
  }

  test("an error with an id fails its request, one without fails the oldest, and the stream stays open", async () => {
    await withClient(
      async (connection) => {
        await idsOf(connection, 3);
        connection.write(
          headers(1, GRPC_HEADERS),
          data(answer("0002", "second failed"), answer("", "somebody failed"), answer("0003")),
        );
        await idsOf(connection, 4);
        connection.write(data(answer("0004")));
      },
      async (driver) => {
        const [first, second, third] = await Promise.all(
          [0, 1, 2].map((slot) => driver.request(slot, REQUEST, `000${slot + 1}`)),
        );
        assert.deepEqual(first?.failure, { kind: "model", message: "somebody failed" });
        assert.deepEqual(second?.failure, { kind: "model", message: "second failed" });
        assert.equal(third?.failure, undefined);
        assert.equal((await driver.request(0, REQUEST, "0004")).failure, undefined);
      },
      { slots: 3 },
    );
  });

  test("a response to no pending request is ignored", async () => {
    await withClient(
      async (connection) => {
        await idsOf(connection, 1);
        connection.write(headers(1, GRPC_HEADERS), data(answer("9999"), answer("0001")));
      },
      async (driver) => {
        assert.equal((await driver.request(0, REQUEST, "0001")).failure, undefined);
        assert.equal(driver.doneCount, 1);
      },
    );
  });

  for (const [name, end, kind, message] of [
    [
      "a status",
      headers(
        1,
        [
          ["grpc-status", "14"],
          ["grpc-message", "bye"],
        ],
        END_STREAM,
      ),
      "grpc",
      "bye",
    ],
    ["status OK", headers(1, [["grpc-status", "0"]], END_STREAM), "closed", "server ended the stream"],
    [
      "a page of a proxy",
      join(headers(1, [[":status", "502"]]), frame(TYPE.data, END_STREAM, 1, latin1("<h1>busy</h1>"))),
      "http",
      "HTTP status 502 instead of a gRPC response",
    ],
    ["no trailers", frame(TYPE.data, END_STREAM, 1), "protocol", "stream ended without trailers"],
    ["a reset", frame(TYPE.rstStream, 0, 1, words(2)), "closed", resetWith("INTERNAL_ERROR").message],
    [
      "a message that is none",
      data(grpcMessage(new Uint8Array([0x0a, 0x7f]))),
      "protocol",
      "protobuf field reaches past its message",
    ],
    ["a compressed message", data(grpcMessage(latin1("x"), 1)), "protocol", COMPRESSED.message],
  ] as const) {
    const head = name === "a page of a proxy" ? [] : [headers(1, GRPC_HEADERS)];
    test(`a stream that ends with ${name} fails its requests, and the next request opens another`, async () => {
      await withClient(
        async (connection) => {
          await idsOf(connection, 2);
          connection.write(...head, end);
          const [id = ""] = await idsOf(connection, 1, 3);
          connection.write(headers(3, GRPC_HEADERS), frame(TYPE.data, 0, 3, answer(id)));
        },
        async (driver) => {
          for (const { failure } of await Promise.all(
            [0, 1].map((slot) => driver.request(slot, REQUEST, `000${slot}`)),
          )) {
            assert.equal(failure?.kind, kind);
            assert.equal(failure?.message, message);
          }
          assert.equal((await driver.request(0, REQUEST, "0005")).failure, undefined);
          assert.equal(driver.doneCount, 3);
          assert.equal(driver.client.connectionCount, 1);
        },
        { slots: 2 },
      );
    });
  }

  for (const [name, refuse, isGoing] of [
    ["a GOAWAY below the stream", () => frame(TYPE.goaway, 0, 0, words(0, 0)), true],
    ["a refused stream", (id: number) => frame(TYPE.rstStream, 0, id, words(7)), false],
  ] as const) {
    test(`${name}: its requests were not processed, and are sent again on another`, async () => {
      await withClient(
        async (connection) => {
          const isFirst = connection.index === 0;
          if (isFirst) {
            await idsOf(connection, 2);
            connection.write(refuse(1));
            if (isGoing) return;
          }
          const streamId = isFirst ? 3 : 1;
          const ids = await idsOf(connection, 2, streamId);
          const responses = join(...ids.map((id) => answer(id)));
          connection.write(headers(streamId, GRPC_HEADERS), frame(TYPE.data, 0, streamId, responses));
        },
        async (driver) => {
          const outcomes = await Promise.all([0, 1].map((slot) => driver.request(slot, REQUEST, `000${slot}`)));
          for (const { failure } of outcomes) assert.equal(failure, undefined);
          assert.deepEqual([driver.doneCount, driver.client.resendCount], [2, 2]);
          assert.equal(driver.client.connectionCount, isGoing ? 2 : 1);
        },
        { slots: 2 },
      );
    });
  }

  test("a request that is refused each time is sent three times", async () => {
    await withClient(
      async (connection) => {
        for (const streamId of [1, 3, 5]) {
          await idsOf(connection, 1, streamId);
          connection.write(frame(TYPE.rstStream, 0, streamId, words(7)));
        }
      },
      async (driver) => {
        assert.deepEqual((await driver.request(0, REQUEST, "0001")).failure, resetWith("REFUSED_STREAM"));
        assert.deepEqual([driver.doneCount, driver.client.resendCount], [1, 1]);
      },
    );
  });

  test("a closed connection fails its requests, and the next request opens another", async () => {
    await withClient(
      async (connection) => {
        const [id = ""] = await idsOf(connection, 1);
        if (connection.index === 0) connection.raw.end();
        else connection.write(headers(1, GRPC_HEADERS), data(answer(id)));
      },
      async (driver) => {
        assert.equal((await driver.request(0, REQUEST, "0001")).failure?.kind, "closed");
        assert.equal((await driver.request(0, REQUEST, "0002")).failure, undefined);
        assert.equal(driver.client.connectionCount, 2);
      },
    );
  });

  test("a server that is going away still receives requests on the open stream", async () => {
    await withClient(
      async (connection) => {
        await idsOf(connection, 1);
        connection.write(
          headers(1, GRPC_HEADERS),
          frame(TYPE.goaway, 0, 0, words(0x7fffffff, 0)),
          data(answer("0001")),
        );
        await idsOf(connection, 2);
        connection.write(data(answer("0002")));
      },
      async (driver) => {
        assert.equal((await driver.request(0, REQUEST, "0001")).failure, undefined);
        assert.equal((await driver.request(0, REQUEST, "0002")).failure, undefined);
        assert.equal(driver.client.connectionCount, 1);
      },
      { options: { stallTimeoutNs: 10e9 } },
    );
  });

  test("a silent server stalls one request, and the late response changes nothing", async () => {
    await withClient(
      async (connection) => {
        await idsOf(connection, 2);
        connection.write(headers(1, GRPC_HEADERS), data(answer("0001"), answer("0002")));
      },
      async (driver) => {
        assert.equal((await driver.request(0, REQUEST, "0001")).failure?.kind, "stalled");
        assert.equal((await driver.request(0, REQUEST, "0002")).failure, undefined);
        assert.equal(driver.doneCount, 2);
      },
      { options: { stallTimeoutNs: 0.2e9 } },
    );
  });

  test("a request without a response to its id fails, and the failure names the id that came", async () => {
    await withClient(
      async (connection) => {
        await idsOf(connection, 1);
        connection.write(headers(1, GRPC_HEADERS), data(answer("0009")));
      },
      async (driver) => {
        const { failure } = await driver.request(0, REQUEST, "0001");
        assert.equal(failure?.kind, "stalled");
        const stray = 'one came with the id "0009", which no request in flight has';
        assert.equal(failure.message, `no response with the request's id for 200 ms; ${stray}`);
      },
      { options: { stallTimeoutNs: 0.2e9 } },
    );
  });

  test("half-closes its streams when closed", async () => {
    const seen: ScriptedConnection[] = [];
    await withClient(
      async (connection) => {
        seen.push(connection);
        await idsOf(connection, 1);
        connection.write(headers(1, GRPC_HEADERS), data(answer("0001")));
        await connection.raw.closed();
      },
      async (driver) => {
        await driver.request(0, REQUEST, "0001");
        driver.close();
        await seen[0]?.raw.closed();
        const last = seen[0]?.frames.filter(({ type, streamId }) => type === TYPE.data && streamId === 1).at(-1);
        assert.equal(last?.flags, END_STREAM);
      },
    );
  });

  test("more lanes than the peer allows streams: the others wait", async () => {
    await withClient(
      async (connection) => {
        const [id = ""] = await idsOf(connection, 1);
        assert.deepEqual(connection.opened, [1]);
        connection.write(headers(1, GRPC_HEADERS), data(answer(id)), settings({ 3: 2 }));
        const [other = ""] = await idsOf(connection, 1, 3);
        connection.write(headers(3, GRPC_HEADERS), frame(TYPE.data, 0, 3, answer(other)));
      },
      async (driver) => {
        const outcomes = await Promise.all([0, 1].map((slot) => driver.request(slot, REQUEST, `000${slot}`)));
        for (const { failure } of outcomes) assert.equal(failure, undefined);
      },
      { slots: 2, options: { lanes: { laneCount: 2 } }, greeting: settings({ 3: 1 }) },
    );
  });

  test("a request without an id is the caller's mistake", async () => {
    await withClient(
      () => {},
      async (driver) => {
        assert.throws(() => driver.client.send(0, REQUEST, undefined), /requests on a stream need an id/);
      },
    );
  });
});
