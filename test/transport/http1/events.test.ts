import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import { latin1, toText } from "../bytes.ts";
import { Driver, endpointAt, type Outcome, postRequest, textsOf } from "../drive.ts";
import { type RawConnection, startRawServer } from "../raw-server.ts";
import { requestsIn } from "./requests-in.ts";

/** Our HTTP/1.1 client and responses that are streams of events. */

const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
const REQUEST = postRequest("/v1/chat/completions", latin1("{}"));

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** @param heard resolves once the client has told of so many events of this response, so that it reads what follows apart */
type Answer = (connection: RawConnection, heard: (count: number) => Promise<void>) => void | Promise<void>;

/** What becomes of one request after the other on one slot. */
async function outcomes(responses: readonly Answer[], keepBodies = true): Promise<Outcome[]> {
  let total = 0;
  let heardCount = 0;
  let wake = (): void => {};
  const heard = async (count: number): Promise<void> => {
    while (heardCount < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
  };
  await using server = await startRawServer(async (connection) => {
    for (let answered = 0; ; answered++) {
      await connection.until(({ bytes }) => requestsIn(bytes).length > answered);
      heardCount = 0;
      await responses[total++]?.(connection, heard);
    }
  });
  using driver = new Driver((given) => new Http1Client(endpointAt(server.port), given), {
    responses: { keepBodies },
    onResponse: () => {
      heardCount++;
      wake();
    },
  });
  await driver.client.reserve(1);
  const all: Outcome[] = [];
  for (let i = 0; i < responses.length; i++) all.push(await driver.request(0, REQUEST));
  return all;
}

describe("streams of events over HTTP/1.1", () => {
  test("each event is a response with the time of the read that completed it", async () => {
    const [outcome] = await outcomes([
      async (connection, heard) => {
        connection.write(latin1(HEAD + chunk("data: a\n\n")));
        await heard(1);
        connection.write(latin1(chunk("data: b\n\ndata: c\n\nda")));
        await heard(3);
        connection.write(latin1(`${chunk("ta: [DONE]\n\n")}0\r\n\r\n`));
      },
    ]);
    assert.ok(outcome !== undefined);
    assert.equal(outcome.failure, undefined);
    assert.deepEqual(textsOf(outcome), ["data: a\n\n", "data: b\n\n", "data: c\n\n", "data: [DONE]\n\n"]);
    assert.equal(outcome.responseCount, 4);
    const [a = 0, b = 0, c = 0, done = 0] = outcome.responses.map(({ readNs }) => readNs);
    const [, , firstByteNs, endNs] = outcome.times;
    assert.ok(a < b && b === c && c < done, `times ${a} ${b} ${c} ${done}`);
    assert.deepEqual([a, done], [firstByteNs, endNs]);
  });

  test("a connection carries streams and single responses in turn", async () => {
    const stream = latin1(`${HEAD + chunk("data: a\n\n")}0\r\n\r\n`);
    const empty = latin1(`${HEAD}0\r\n\r\n`);
    const single = latin1("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    const all = await outcomes([stream, single, empty, single, stream].map((bytes) => (c) => c.write(bytes)));
    assert.deepEqual(
      all.map(({ responseCount, messageCount }) => [responseCount, messageCount]),
      [
        [1, 1],
        [1, 1],
        [0, 0],
        [1, 1],
        [1, 1],
      ],
    );
    assert.deepEqual(all.map(textsOf), [["data: a\n\n"], [], [], [], ["data: a\n\n"]]);
    assert.deepEqual(
      all.map(({ body }) => toText(body)),
      ["", "{}", "", "{}", ""],
    );
  });

  test("events are counted where bodies are not kept", async () => {
    const [outcome] = await outcomes(
      [(c) => c.write(latin1(`${HEAD + chunk("data: a\n\ndata: b\n\n")}0\r\n\r\n`))],
      false,
    );
    assert.deepEqual([outcome?.responseCount, outcome?.responses.length], [2, 0]);
  });

  test("a stream that is cut off is a failure, with the events that came", async () => {
    const [cut, whole] = await outcomes([
      async (connection, heard) => {
        connection.write(latin1(`${HEAD + chunk("data: a\n\n")}5\r\nda`));
        await heard(1);
        connection.destroy();
      },
      (c) => c.write(latin1(`${HEAD + chunk("data: b\n\n")}0\r\n\r\n`)),
    ]);
    assert.equal(cut?.failure?.kind, "closed");
    assert.deepEqual(cut && textsOf(cut), ["data: a\n\n"]);
    assert.equal(whole?.failure, undefined);
    assert.deepEqual(whole && textsOf(whole), ["data: b\n\n"]);
  });

  test("a stream may last until the connection closes; what nothing ended is an event too", async () => {
    const [outcome] = await outcomes([
      (connection) => {
        connection.write(latin1("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: a\n\ndata: b"));
        connection.end();
      },
    ]);
    assert.equal(outcome?.failure, undefined);
    assert.deepEqual(outcome && textsOf(outcome), ["data: a\n\n", "data: b"]);
  });

  test("an error's body is one response, whatever its type", async () => {
    const error = "HTTP/1.1 500 Oops\r\nContent-Type: text/event-stream\r\nContent-Length: 12\r\n\r\ndata: oops\n\n";
    const [outcome] = await outcomes([(c) => c.write(latin1(error))]);
    assert.equal(outcome?.failure?.kind, "http");
    assert.deepEqual([outcome?.responses.length, outcome && toText(outcome.body)], [0, "data: oops\n\n"]);
  });
});
