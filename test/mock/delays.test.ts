import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { parseLatency } from "../../src/mock/latency.ts";
import { createPacing } from "../../src/mock/pacing.ts";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { waitUntil } from "../../src/mock/wait.ts";
import type { MockLatencyPlan, MockPlan } from "../../src/plan/mock.ts";
import { FakeClock } from "../runtime/fake-clock.ts";
import { LIMIT } from "../time-limit.ts";

/** The mock answers after the latency that it was given: never earlier, and on average within 1 %. */

const planOf = (text: string): MockPlan => ({
  latency: parseLatency(text) as MockLatencyPlan,
  errorRatio: 0,
  responseBytes: 0,
});

const MEANS: readonly (readonly [latency: string, meanMs: number])[] = [
  ["2.9ms", 2.9],
  ["300us", 0.3],
  ["normal:5ms:0.5ms", 5],
  ["uniform:1.2ms:3.8ms", 2.5],
  ["exponential:3ms", 3],
];

for (const [latency, meanMs] of MEANS)
  test(`${latency} is ${meanMs} ms on average`, LIMIT, async () => {
    const clock = new FakeClock();
    const { wait } = createPacing(planOf(latency), clock);
    const count = 1000;
    let sumMs = 0;
    const waits = Array.from({ length: count }, async () => {
      await wait();
      sumMs += clock.nowMs;
    });
    await clock.advanceMs(60);
    await Promise.all(waits);
    // The mean of 1,000 exponential ones has an error of 3 % by itself.
    const mostRatio = latency.startsWith("exponential") ? 0.1 : 0.015;
    assert.ok(Math.abs(sumMs / count / meanMs - 1) < mostRatio, String(sumMs / count));
  });

test("a delay is also kept by turns of the event loop, on systems without a finer wait", async () => {
  const clock = new FakeClock({ hasFineWaits: false });
  const waiting = waitUntil(2.9e6, clock).then(() => clock.nowMs);
  await clock.advanceMs(5);
  const wokenMs = await waiting;
  assert.ok(wokenMs >= 2.9 && wokenMs < 2.929, String(wokenMs));
  assert.equal(clock.timerCount, 0);
});

/** Sends requests one after the other over a connection, and returns the time to the first byte of each response, in milliseconds. */
function timeAnswers(port: number, count: number): Promise<number[]> {
  const body =
    '{"inputs":[{"name":"INPUT0","shape":[1,16],"datatype":"INT32","data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]},{"name":"INPUT1","shape":[1,16],"datatype":"INT32","data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}]}';
  const request = `POST /v2/models/simple/infer HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const times: number[] = [];
    let startMs = 0;
    const send = (): void => {
      startMs = performance.now();
      socket.write(request);
    };
    socket.setNoDelay(true).on("connect", send).on("error", reject);
    socket.on("data", () => {
      times.push(performance.now() - startMs);
      if (times.length < count) return send();
      socket.destroy();
      resolve(times);
    });
  });
}

test("no response leaves early, and the quickest come on time, by the clock of a client", LIMIT, async () => {
  const quickest: number[] = [];
  for (const latency of ["0ms", "2.9ms"]) {
    await using mock = await startMock(planOf(latency), LOOPBACK);
    const times = await timeAnswers(mock.httpPort, 150);
    quickest.push(Math.min(...times));
  }
  const [own, delayed] = quickest as [number, number];
  assert.ok(delayed >= 2.9, `${delayed} ms`);
  // What the server itself takes is in both.
  assert.ok(delayed - own < 2.9 + 1.5, `${delayed} ms, ${own} ms without a delay`);
});
