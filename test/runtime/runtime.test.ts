import assert from "node:assert/strict";
import { test } from "node:test";
import { ERROR_FORM } from "../../src/plan/sent-error.ts";
import { isSameBytes } from "../../src/runtime/bytes.ts";
import { nowNs, sleepMs, sleepUnless, toEpochNs } from "../../src/runtime/clock.ts";
import { fileSystem } from "../../src/runtime/files.ts";
import { entryModule, isExecutable, runtimeName } from "../../src/runtime/runtime.ts";
import { WorkerCalls } from "../../src/runtime/worker-calls.ts";
import { startWorker } from "../../src/runtime/workers.ts";
import { LIMIT } from "../time-limit.ts";

/** What every runtime offers in the same way. */

test("the runtime knows itself", () => {
  const { Bun, Deno } = globalThis as { Bun?: unknown; Deno?: unknown };
  assert.equal(runtimeName, Bun !== undefined ? "bun" : Deno !== undefined ? "deno" : "node");
  assert.equal(isExecutable, false);
  assert.notEqual(entryModule(), "");
});

test("the clock counts nanoseconds and never goes back", () => {
  let lastNs = nowNs();
  for (let i = 0; i < 10_000; i++) {
    const now = nowNs();
    assert.ok(now >= lastNs);
    lastNs = now;
  }
});

test("the clock's resolution is a microsecond or better", () => {
  const steps = Array.from({ length: 10_000 }, () => nowNs())
    .map((now, i, all) => now - (all[i - 1] ?? now))
    .filter((step) => step > 0);
  const [finest = Number.POSITIVE_INFINITY] = steps.sort((a, b) => a - b);
  assert.ok(finest < 10_000, `${finest} ns`);
});

test("a moment's wall-clock time is near the system's, as it was at the start if it was set since then", () => {
  const systemMs = (): number => performance.timeOrigin + performance.now();
  const before = systemMs();
  const epochMs = Number(toEpochNs(nowNs())) / 1e6;
  assert.ok(epochMs > before - 1 && epochMs < systemMs() + 1, `${epochMs} instead of ${before}`);
  const startNs = nowNs();
  assert.equal(toEpochNs(startNs + 5e9) - toEpochNs(startNs), 5_000_000_000n);
});

test("sleeping takes at least as long as asked", async () => {
  const startNs = nowNs();
  await sleepMs(20);
  // Timers may count from the beginning of the loop's turn, up to a millisecond earlier.
  assert.ok(nowNs() - startNs >= 19e6);
});

test("a wait for a time that has just passed ends without a warning of the runtime", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => {
    warnings.push(name);
  };
  process.on("warning", note);
  try {
    await sleepMs(-0.001);
    await sleepMs(1);
  } finally {
    process.off("warning", note);
  }
  assert.deepEqual(warnings, []);
});

test("files are read through one file system", () => {
  assert.match(fileSystem().readFileSync(new URL(import.meta.url), "utf8"), /files are read/);
});

test("the CPU time of this thread is available", () => {
  const { user, system } = process.threadCpuUsage();
  // The system counts in ticks of 10 ms, and may give the core to others meanwhile.
  const endNs = nowNs() + 5e9;
  let later = process.threadCpuUsage();
  while (nowNs() < endNs && later.user + later.system <= user + system) later = process.threadCpuUsage();
  assert.ok(later.user + later.system > user + system);
});

test("a thread runs worker.ts in its role and ends", LIMIT, async () => {
  const worker = startWorker({ role: "mock", data: undefined });
  const plan = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0 };
  const ports = await new WorkerCalls(worker, ERROR_FORM).call<{ httpPort: number; grpcPort: number }>({
    plan,
    kind: "http",
  });
  const response = await fetch(`http://127.0.0.1:${ports.httpPort}/v2`);
  assert.equal(((await response.json()) as { name: string }).name, "rampart-mock");
  await worker.terminate();
  await assert.rejects(fetch(`http://127.0.0.1:${ports.httpPort}/v2`));
});

test("a sleep of weeks does not end immediately, and leaves no timer when something comes earlier", async () => {
  const earlier = sleepMs(30);
  const startNs = nowNs();
  await sleepUnless(2 ** 31 + 1000, earlier);
  assert.ok(nowNs() - startNs >= 29e6, "a timer beyond 31 bits fires after 1 ms");
});

test("bytes are the same only where every one of them is, whatever their number and place", () => {
  for (const length of [0, 1, 7, 8, 9, 16, 23, 95, 96, 97, 300]) {
    const a = Uint8Array.from({ length: length + 5 }, (_, index) => (index * 7) % 256);
    const b = new Uint8Array(length + 40);
    b.set(a.subarray(5), 11);
    assert.equal(isSameBytes(a, 5, b, 11, length), true, `${length} bytes`);
    for (const at of [0, 1, length >> 1, length - 1]) {
      if (at < 0 || at >= length) continue;
      const other = b.slice();
      other[11 + at] = ((other[11 + at] as number) + 128) % 256;
      assert.equal(isSameBytes(a, 5, other, 11, length), false, `${length} bytes, other at ${at}`);
    }
    // What stands around them does not matter.
    b.fill(99, 0, 11);
    b.fill(99, 11 + length);
    assert.equal(isSameBytes(a, 5, b, 11, length), true, `${length} bytes between others`);
  }
});
