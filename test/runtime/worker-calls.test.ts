import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel, Worker } from "node:worker_threads";
import { serveCalls, WorkerCalls, WorkerError } from "../../src/runtime/worker-calls.ts";

const ERRORS = { send: (error: unknown) => String(error), receive: (sent: string) => new RangeError(sent) };

interface Sides {
  readonly calls: WorkerCalls<string>;
  readonly close: () => void;
}

function connect(handle: (task: unknown) => unknown): Sides {
  const { port1, port2 } = new MessageChannel();
  serveCalls(port2, handle, ERRORS);
  return {
    calls: new WorkerCalls(port1, ERRORS),
    close: () => {
      port1.close();
      port2.close();
    },
  };
}

test("each call has its own reply, also when a later one is faster", async () => {
  const slow = Promise.withResolvers<string>();
  const { calls, close } = connect((task) => (task === "slow" ? slow.promise : `${String(task)}!`));
  const first = calls.call<string>("slow");
  assert.equal(await calls.call("fast"), "fast!");
  slow.resolve("at last");
  assert.equal(await first, "at last");
  close();
});

test("tasks arrive in their order, with buffers that are transferred", async () => {
  const seen: unknown[] = [];
  const { calls, close } = connect((task) => seen.push(task));
  const bytes = Uint8Array.of(1, 2, 3);
  assert.deepEqual(await Promise.all([calls.call(bytes, [bytes.buffer]), calls.call("b"), calls.call("c")]), [1, 2, 3]);
  assert.deepEqual(seen, [Uint8Array.of(1, 2, 3), "b", "c"]);
  assert.equal(bytes.length, 0, "it is not here any more");
  close();
});

test("a call that throws rejects, and others do not", async () => {
  const { calls, close } = connect((task) => {
    if (task !== "fine") throw new Error(`no ${String(task)}`);
  });
  await assert.rejects(calls.call("one"), new RangeError("Error: no one"));
  await calls.call("fine");
  close();
});

test("nothing is sent before the other side listens, which may take long", async () => {
  const { port1, port2 } = new MessageChannel();
  const calls = new WorkerCalls<string>(port1, ERRORS);
  const first = calls.call("a");
  const second = calls.call("b");
  port1.postMessage("marker");
  const earliest = await new Promise((resolve) => port2.once("message", resolve));
  assert.equal(earliest, "marker");
  const seen: unknown[] = [];
  serveCalls(port2, (task) => seen.push(task), ERRORS);
  assert.deepEqual(await Promise.all([first, second]), [1, 2]);
  assert.deepEqual(seen, ["a", "b"]);
  port1.close();
  port2.close();
});

test("calls of a thread that ends reject, and so do later ones", async () => {
  const text = `
    const { parentPort } = require("node:worker_threads");
    parentPort.once("message", () => process.exit(0));
    parentPort.postMessage({ isReady: true });`;
  const worker = new Worker(text, { eval: true });
  const calls = new WorkerCalls(worker, ERRORS);
  await assert.rejects(calls.call("end"), WorkerError);
  await assert.rejects(calls.call("more"), /it ended/);
  calls.fail(new Error("too late"));
  await assert.rejects(calls.call("more"), /it ended/);
});
