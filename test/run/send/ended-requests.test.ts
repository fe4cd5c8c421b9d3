import assert from "node:assert/strict";
import { test } from "node:test";
import { EndedRequests } from "../../../src/run/send/ended-requests.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { Slots } from "../../../src/run/send/slots.ts";
import { Call } from "../../../src/transport/call.ts";
import type { LoadClient } from "../../../src/transport/client.ts";
import type { Failure } from "../../../src/transport/failure.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { FakeClient, makeDataset, makeService } from "./fake-client.ts";

/** The end of a request whose judging fails. */
const THROWS_NS = 666;

function makeEnded({ canWait = false, attribute = undefined as LoadClient["attribute"] } = {}) {
  const clock = new FakeClock({ startNs: 100 });
  const client: LoadClient = new FakeClient(() => {});
  if (attribute !== undefined) client.attribute = attribute;
  const ended = new EndedRequests(client, clock);
  const judged: number[] = [];
  const failures: (readonly [message: string, lane: number])[] = [];
  const errors: unknown[] = [];
  let rowCount = 0;
  ended.setWork({
    feed: new RequestFeed(makeService(), makeDataset(1), { usesIds: false }),
    needsBodies: canWait,
    canWait,
    meter: {
      add: (_, count) => {
        rowCount += count;
      },
    },
    judge: (call) => {
      judged.push(call.endNs);
      if (call.endNs === THROWS_NS) throw new Error("judging failed");
      return call.failure;
    },
    listener: {
      records: () => {},
      failed: ({ message }, lane) => failures.push([message, lane]),
      limited: () => {},
      broken: (error) => errors.push(error),
    },
  });
  const slots = new Slots();
  slots.grow(4);
  const add = (endNs: number, failure?: Failure, lane = 0): Failure | undefined =>
    ended.add(Object.assign(new Call(0), { endNs, failure }), slots, lane);
  return { clock, ended, add, judged, failures, errors, rows: () => rowCount };
}

const failed: Failure = { kind: "http", message: "no" };

test("requests are counted by how they ended, and failures are reported with their lane", () => {
  const { ended, add, failures } = makeEnded();
  assert.equal(ended.lastSuccessNs, 100, "the start at first");
  assert.equal(add(200), undefined);
  assert.equal(add(300, failed, 3), failed);
  add(400, { kind: "cancelled", message: "too slow" });
  assert.deepEqual([ended.completedCount, ended.failedCount, ended.cancelledCount], [1, 1, 1]);
  assert.equal(ended.lastSuccessNs, 200);
  assert.deepEqual(failures, [
    ["no", 3],
    ["too slow", 0],
  ]);
});

test("a large body is judged at once, and its memory is free after that", () => {
  const { ended, judged } = makeEnded({ canWait: true });
  const slots = new Slots();
  slots.grow(1);
  const end = (bytes: number): Uint8Array => {
    const body = new Uint8Array(bytes);
    const call = Object.assign(new Call(0), { endNs: bytes });
    call.keepBody(body);
    ended.add(call, slots, 0);
    return body;
  };
  assert.equal(end(1000).length, 1000);
  assert.deepEqual(judged, [], "a small one waits for idle sockets");
  const large = 16 * 1024 * 1024;
  assert.deepEqual([end(large).length, judged], [0, [large]]);
});

test("records are drained together", () => {
  const { ended, add, rows } = makeEnded();
  add(1);
  add(2, failed);
  assert.equal(rows(), 0);
  ended.drainRecords();
  assert.equal(rows(), 2);
});

test("responses that can wait are judged two turns later, in order, and failures immediately", () => {
  const { clock, ended, add, judged } = makeEnded({ canWait: true });
  add(1);
  add(2);
  add(3, failed);
  assert.deepEqual([judged, ended.completedCount, ended.failedCount], [[3], 0, 1]);
  clock.turn();
  assert.deepEqual(judged, [3]);
  clock.turn();
  assert.deepEqual([judged, ended.completedCount], [[3, 1, 2], 2]);
});

test("responses that wait are judged by a flush", () => {
  const { ended, add, judged } = makeEnded({ canWait: true });
  add(1);
  ended.flush();
  assert.deepEqual(judged, [1]);
});

test("a judge that throws in a later turn is reported, not lost", () => {
  const { clock, add, errors } = makeEnded({ canWait: true });
  add(THROWS_NS);
  clock.turn();
  clock.turn();
  assert.deepEqual(errors.map(String), ["Error: judging failed"]);
});

test("with several servers a failure has the name of its server", () => {
  const { add, failures } = makeEnded({
    attribute: (_, failure) => ({ ...failure, message: `b: ${failure.message}` }),
  });
  add(1, failed);
  assert.deepEqual(failures, [["b: no", 0]]);
});
