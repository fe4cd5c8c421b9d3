import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/plan/problem.ts";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import { broadcast } from "../../src/result/observer.ts";
import { FailureLog } from "../../src/run/judge/failure-log.ts";
import { FailurePolicy } from "../../src/run/judge/failure-policy.ts";
import { RunSignal } from "../../src/run/run-signal.ts";
import { DueTimer } from "../../src/run/send/due-timer.ts";
import type { EndedCounts } from "../../src/run/send/ended-requests.ts";
import { parseUrl, resolveEndpoint } from "../../src/run/target/endpoint.ts";
import { nowNs } from "../../src/runtime/clock.ts";
import { waitFinely } from "../../src/runtime/fine-wait.ts";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { HealthMonitor } from "../../src/telemetry/health-monitor.ts";
import type { FailureKind } from "../../src/transport/failure.ts";
import { makePlan } from "../plan/make-plan.ts";

/** The smaller parts of a run. */

const urls: readonly (readonly [
  text: string,
  host: string,
  port: number,
  authority: string,
  prefix?: string,
  isSecure?: boolean,
])[] = [
  ["localhost", "localhost", 8000, "localhost:8000"],
  ["localhost:9", "localhost", 9, "localhost:9"],
  [" gpu-host:8000 ", "gpu-host", 8000, "gpu-host:8000"],
  ["=localhost:8000", "localhost", 8000, "localhost:8000"],
  ["http://localhost", "localhost", 80, "localhost"],
  ["http://localhost:8000/", "localhost", 8000, "localhost:8000"],
  ["http://localhost:8000/a/b/", "localhost", 8000, "localhost:8000", "/a/b"],
  ["https://host", "host", 443, "host", "", true],
  ["https://host:8443/x", "host", 8443, "host:8443", "/x", true],
  ["[::1]:8001", "::1", 8001, "[::1]:8001"],
  ["[::1]", "::1", 8000, "[::1]:8000"],
  ["http://[fe80::1]:9/x", "fe80::1", 9, "[fe80::1]:9", "/x"],
  ["10.0.0.1:65535", "10.0.0.1", 65_535, "10.0.0.1:65535"],
];

for (const [text, host, port, authority, pathPrefix = "", isSecure = false] of urls) {
  test(`the address '${text}'`, () => {
    assert.deepEqual(parseUrl(text, 8000), { host, port, authority, pathPrefix, isSecure });
  });
}

for (const text of [
  "",
  ":8000",
  "http://",
  "host:",
  "host:0",
  "host:65536",
  "host:http",
  "host:80:81",
  "a b",
  "host/x?y",
  "host:1/x\r\nX-Evil:1",
  "host\n:1",
  "host#x",
  "[::1",
  "host:-1",
]) {
  test(`refused as an address: '${text}'`, () => {
    assert.throws(
      () => parseUrl(text, 8000),
      (error: unknown) => error instanceof UserError && error.problems[0]?.value === text,
    );
  });
}

test("TLS files that can not be read are all named", () => {
  const tls = { ...DEFAULT_TLS, isEnabled: true, caFile: "/nonexistent/ca", certFile: "/nonexistent/cert" };
  assert.throws(
    () => resolveEndpoint({ url: "host:1", wire: "grpc", defaultPort: 8001, headers: [] }, tls),
    (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.deepEqual(
        error.problems.map(({ path }) => path),
        ["/nonexistent/ca", "/nonexistent/cert"],
      );
      return true;
    },
  );
});

test("https and gRPC's switch turn TLS on, with the protocol's own name", () => {
  const tls = { ...DEFAULT_TLS, verifyPeer: false };
  const address = { url: "https://host", wire: "http" as const, defaultPort: 8000, headers: [] };
  const endpoint = resolveEndpoint(address, tls);
  assert.deepEqual([endpoint.tls?.alpn, endpoint.tls?.verifyPeer], [["http/1.1"], false]);
  assert.equal(resolveEndpoint({ ...address, url: "host" }, tls).tls, undefined);
  const grpc = resolveEndpoint({ ...address, url: "host", wire: "grpc" }, { ...tls, isEnabled: true });
  assert.deepEqual(grpc.tls?.alpn, ["h2"]);
});

test("failures are counted by kind and status, in the order of the kinds, with the first as example", () => {
  const log = new FailureLog();
  log.add({ kind: "grpc", message: "a", status: 14 });
  log.add({ kind: "connect", message: "b" });
  log.add({ kind: "grpc", message: "c", status: 3 });
  log.add({ kind: "grpc", message: "d", status: 3 });
  assert.equal(log.total, 4);
  assert.deepEqual(log.list(), [
    { kind: "connect", count: 1, example: "b", status: undefined },
    { kind: "grpc", count: 2, example: "c", status: 3 },
    { kind: "grpc", count: 1, example: "a", status: 14 },
  ]);
});

function makePolicy(
  maxRatio: number | null,
  counts: Partial<EndedCounts> = {},
): { policy: FailurePolicy; signal: RunSignal } {
  const signal = new RunSignal();
  const ended = { completedCount: 0, failedCount: 0, cancelledCount: 0, lastSuccessNs: nowNs(), ...counts };
  const plan = makePlan({ failures: { maxRatio }, client: { stallTimeoutMs: 100 } });
  const sent = { outstanding: 0, sentCount: 0, quota: Number.POSITIVE_INFINITY };
  return { policy: new FailurePolicy(plan, signal, ended, sent), signal };
}

for (const [kind, errorKind] of [
  ["connect", "unreachable"],
  ["closed", "unreachable"],
  ["stalled", "stalled"],
  ["http", "failed-request"],
  ["validation", "failed-request"],
] as const) {
  test(`without patience the first '${kind}' failure ends the run as ${errorKind}`, () => {
    const { policy, signal } = makePolicy(0);
    policy.add({ kind, message: "why" }, 3);
    assert.deepEqual([signal.error?.kind, signal.error?.message, signal.isStopped], [errorKind, "why", true]);
    assert.deepEqual(policy.laneErrors, [{ lane: 3, message: "why" }]);
  });
}

test("requests that were aborted when the run ended blame nobody", () => {
  const { policy, signal } = makePolicy(0);
  policy.add({ kind: "aborted", message: "x" }, 0);
  assert.deepEqual([signal.isStopped, policy.laneErrors.length, policy.log.total], [false, 0, 1]);
});

test("the first failure of each lane is kept, for 64 lanes at most", () => {
  const { policy } = makePolicy(null);
  for (let i = 0; i < 200; i++) policy.add({ kind: "http", message: String(i) }, i % 100);
  assert.equal(policy.laneErrors.length, 64);
  assert.deepEqual(policy.laneErrors[1], { lane: 1, message: "1" });
});

test("a share of failures above the limit ends the run, at the limit it does not", () => {
  for (const [failedCount, isStopped] of [
    [10, false],
    [11, true],
  ] as const) {
    const { policy, signal } = makePolicy(0.1, { completedCount: 100 - failedCount, failedCount });
    policy.add({ kind: "http", message: "no luck" }, 0);
    policy.checkRatio();
    assert.equal(signal.isStopped, isStopped);
    if (isStopped)
      assert.match(
        signal.error?.message ?? "",
        /11 of 100 requests failed, more than the 10 % allowed; for example: no luck/,
      );
  }
  const { policy, signal } = makePolicy(null, { failedCount: 100 });
  policy.checkRatio();
  assert.equal(signal.isStopped, false);
});

test("a share of failures that is certain to be above the limit ends the run at that failure, but not in a warm-up", () => {
  for (const isWarmingUp of [false, true]) {
    const { policy, signal } = makePolicy(0.1, { completedCount: 10, failedCount: 90 });
    policy.isWarmingUp = isWarmingUp;
    policy.add({ kind: "http", message: "no luck" }, 0);
    assert.equal(signal.error?.message.startsWith("90 of 100 requests failed"), isWarmingUp ? undefined : true);
    if (!isWarmingUp) assert.match(signal.error?.hint ?? "", /^Raise \{failures\.maxRatio\}/);
  }
});

test("failures that are counted only still end the run when the target is gone", () => {
  const longAgo = nowNs() - 60e9;
  const silent = makePolicy(null, { lastSuccessNs: longAgo });
  for (let i = 0; i < 2; i++) silent.policy.add({ kind: "stalled", message: "no byte" }, 0);
  assert.equal(silent.signal.error?.kind, "stalled");
  const lively = makePolicy(null, { lastSuccessNs: nowNs() });
  lively.policy.add({ kind: "stalled", message: "no byte" }, 0);
  assert.equal(lively.signal.isStopped, false);
  for (const kind of ["http", "grpc", "model", "validation"] as FailureKind[]) {
    const { policy, signal } = makePolicy(null, { lastSuccessNs: longAgo });
    for (let i = 0; i < 50; i++) policy.add({ kind, message: "x" }, 0);
    assert.equal(signal.isStopped, false, kind);
  }
});

for (const { name, kind, losses, isAway } of [
  { name: "two connections lost, long apart, among many that wait", kind: "closed", losses: 2, isAway: false },
  { name: "connections lost again and again", kind: "closed", losses: 9, isAway: true },
  { name: "a server that cannot be connected to", kind: "connect", losses: 2, isAway: true },
] as const) {
  test(`without a success for 5 s: ${name}`, () => {
    const clock = performance.now;
    const baseMs = performance.now();
    let elapsedMs = 0;
    performance.now = () => baseMs + elapsedMs;
    try {
      const { policy, signal } = makePolicy(null, { lastSuccessNs: baseMs * 1e6 - 1 });
      for (let i = 0; i < losses; i++) {
        elapsedMs = (i * 6000) / (losses - 1);
        policy.add({ kind, message: "lost" }, i);
      }
      assert.equal(signal.error?.kind, isAway ? "unreachable" : undefined);
    } finally {
      performance.now = clock;
    }
  });
}

test("a signal keeps its first reason, and an interrupt is no error", async () => {
  const signal = new RunSignal();
  assert.equal(signal.isStopped, false);
  signal.interrupt();
  await signal.stopped;
  assert.deepEqual([signal.isStopped, signal.isInterrupted, signal.error], [true, true, undefined]);
  const { policy, signal: failed } = makePolicy(0);
  policy.add({ kind: "http", message: "first" }, 0);
  policy.add({ kind: "http", message: "second" }, 1);
  await failed.stopped;
  assert.equal(failed.error?.message, "first");
});

test("a due timer wakes at its moment, never before, and the last set moment counts", async () => {
  let woken: (ns: number) => void = () => {};
  const timer = new DueTimer(() => woken(nowNs()));
  for (const waitMs of [0, 1, 8]) {
    const dueNs = nowNs() + waitMs * 1e6;
    const wokenNs = await new Promise<number>((resolve) => {
      woken = resolve;
      timer.set(nowNs() + 500e6);
      timer.set(dueNs);
    });
    assert.ok(wokenNs >= dueNs);
  }
  let count = 0;
  woken = () => count++;
  timer.set(nowNs() + 2e6);
  timer.clear();
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(count, 0);
});

test("a due timer whose moments are near leaves the processor alone, where the runtime has fine waits", async () => {
  // Node and Deno wait in milliseconds only, and turn the event loop instead.
  if (waitFinely === undefined) return assert.notEqual(runtimeName, "bun");
  let left = 400;
  const { promise, resolve } = Promise.withResolvers<void>();
  let dueNs = nowNs();
  const timer = new DueTimer(() => {
    assert.ok(nowNs() >= dueNs);
    dueNs = nowNs() + 1e6;
    if (--left === 0) resolve();
    else timer.set(dueNs);
  });
  const begunNs = nowNs();
  const before = process.cpuUsage();
  timer.set(dueNs);
  await promise;
  const { user, system } = process.cpuUsage(before);
  const wallUs = (nowNs() - begunNs) / 1e3;
  assert.ok(wallUs > 399e3, `${wallUs} us for 399 waits of 1 ms`);
  assert.ok(user + system < wallUs / 2, `${user + system} us of CPU in ${wallUs} us`);
});

test("the health monitor sees a busy thread, and a blocked event loop", async () => {
  const monitor = new HealthMonitor();
  monitor.start();
  await new Promise((resolve) => setTimeout(resolve, 30));
  const idle = monitor.take();
  const endNs = nowNs() + 120e6;
  while (nowNs() < endNs);
  await new Promise((resolve) => setTimeout(resolve, 1));
  const busy = monitor.take();
  monitor.stop();
  assert.ok(busy.cpuRatio > idle.cpuRatio, `${busy.cpuRatio} is not more than ${idle.cpuRatio}`);
  assert.ok(busy.loopLagMaxNs > 60e6, `${busy.loopLagMaxNs} ns late`);
  // What arrives while the loop is blocked waits for half of that on average, not for all of it.
  assert.ok(busy.loopLagMeanNs <= busy.loopLagMaxNs / 2 + 20e6, `${busy.loopLagMeanNs} of ${busy.loopLagMaxNs} ns`);
  assert.equal(idle.loopLagP99Ns, undefined, "two samples have no 99th percentile");
  const { coreWaitRatio = 0 } = busy;
  assert.ok(coreWaitRatio >= 0 && coreWaitRatio <= 1, `${coreWaitRatio}`);
});

test("joined observers are all told, and want records when one of them does", () => {
  const told: string[] = [];
  const joined = broadcast([
    { onWindowError: (trial) => told.push(`a${trial}`) },
    { onWindowError: (trial) => told.push(`b${trial}`) },
  ]);
  joined.onWindowError?.(4, "x");
  assert.deepEqual(told, ["a4", "b4"]);
  assert.equal(joined.onRecord, undefined);
  assert.notEqual(broadcast([{}, { onRecord: () => {} }]).onRecord, undefined);
});
