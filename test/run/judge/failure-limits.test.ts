import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inScenario } from "../../../src/cli/setting-names.ts";
import { word } from "../../../src/plan/messages.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { cannotConnect, FailureLimits, isRatioExceeded } from "../../../src/run/judge/failure-limits.ts";
import { FailureLog } from "../../../src/run/judge/failure-log.ts";
import type { SenderState } from "../../../src/run/send/messages.ts";
import { nowNs } from "../../../src/runtime/clock.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { mix } from "../../../src/scenario/mix.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { http } from "../../../src/scenario/targets/http.ts";
import type { Target } from "../../../src/scenario/targets/target.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import type { Failure, FailureKind } from "../../../src/transport/failure.ts";
import { makePlan } from "../../plan/make-plan.ts";

const progressOf = (counts: Partial<SenderState>): SenderState => ({
  ...{
    sentCount: 0,
    endedCount: 0,
    cancelledCount: 0,
    activeLanes: 1,
    outstanding: 0,
    quota: Number.POSITIVE_INFINITY,
    isSending: true,
    longestNs: 0,
    unsent: { count: 0, delayed: undefined },
  },
  ...{ completedCount: 0, failedCount: 0, lastSuccessNs: nowNs(), ...counts },
});

function makeLimits(
  maxRatio: number | null,
  counts: Partial<SenderState> = {},
): { failureLimits: FailureLimits; signal: RunSignal } {
  const signal = new RunSignal();
  const progress = progressOf(counts);
  const plan = makePlan({ failures: { maxRatio }, client: { stallTimeoutMs: 100 } });
  return { failureLimits: new FailureLimits(plan, signal, () => progress), signal };
}

for (const [kind, errorKind] of [
  ["connect", "unreachable"],
  ["closed", "unreachable"],
  ["stalled", "stalled"],
  ["http", "failed-request"],
  ["validation", "failed-request"],
] as const) {
  test(`without patience the first '${kind}' failure ends the run as ${errorKind}`, () => {
    const { failureLimits, signal } = makeLimits(0);
    failureLimits.add({ kind, message: "why" }, 3, nowNs());
    assert.deepEqual([signal.error?.code, signal.error?.message, signal.isStopped], [errorKind, "why", true]);
    assert.deepEqual(failureLimits.laneErrors, [{ lane: 3, message: "why" }]);
  });
}

test("requests that were aborted when the run ended are logged, and stop nothing", () => {
  const { failureLimits, signal } = makeLimits(0);
  failureLimits.add({ kind: "aborted", message: "x" }, 0, nowNs());
  assert.deepEqual([signal.isStopped, failureLimits.laneErrors.length, failureLimits.log.total], [false, 0, 1]);
});

test("the first failure of each lane is kept, for 64 lanes at most", () => {
  const { failureLimits } = makeLimits(null);
  for (let i = 0; i < 200; i++) failureLimits.add({ kind: "http", message: String(i) }, i % 100, nowNs());
  assert.equal(failureLimits.laneErrors.length, 64);
  assert.deepEqual(failureLimits.laneErrors[1], { lane: 1, message: "1" });
});

test("a share of failures above the limit ends the run, at the limit it does not", () => {
  for (const [failedCount, isStopped] of [
    [10, false],
    [11, true],
  ] as const) {
    const { failureLimits, signal } = makeLimits(0.1, { completedCount: 100 - failedCount, failedCount });
    failureLimits.add({ kind: "http", message: "no luck" }, 0, nowNs());
    failureLimits.checkEnd();
    assert.equal(signal.isStopped, isStopped);
    if (isStopped)
      assert.match(
        signal.error?.message ?? "",
        /11 of 100 requests failed, more than the 10 % allowed; for example: no luck/,
      );
  }
  const { failureLimits, signal } = makeLimits(null, { failedCount: 100 });
  failureLimits.checkEnd();
  assert.equal(signal.isStopped, false);
});

test("a share of failures that is certain to be above the limit ends the run at that failure, but not in a warm-up", () => {
  for (const isWarmingUp of [false, true]) {
    const { failureLimits, signal } = makeLimits(0.1, { completedCount: 10, failedCount: 90 });
    failureLimits.isWarmingUp = isWarmingUp;
    failureLimits.add({ kind: "http", message: "no luck" }, 0, nowNs());
    assert.equal(signal.error?.message.startsWith("90 of 100 requests failed"), isWarmingUp ? undefined : true);
    if (!isWarmingUp) assert.match(word(signal.error?.hint ?? ""), /^Raise failures\.maxRatio/);
  }
});

test("failures that are counted only still end the run when the target is gone", () => {
  const longAgo = nowNs() - 60e9;
  const silent = makeLimits(null, { lastSuccessNs: longAgo });
  for (let i = 0; i < 2; i++) silent.failureLimits.add({ kind: "stalled", message: "no byte" }, 0, nowNs());
  assert.equal(silent.signal.error?.code, "stalled");
  const lively = makeLimits(null, { lastSuccessNs: nowNs() });
  lively.failureLimits.add({ kind: "stalled", message: "no byte" }, 0, nowNs());
  assert.equal(lively.signal.isStopped, false);
  for (const kind of ["http", "grpc", "model", "validation"] as FailureKind[]) {
    const { failureLimits, signal } = makeLimits(null, { lastSuccessNs: longAgo });
    for (let i = 0; i < 50; i++) failureLimits.add({ kind, message: "x" }, 0, nowNs());
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
      const { failureLimits, signal } = makeLimits(null, { lastSuccessNs: baseMs * 1e6 - 1 });
      for (let i = 0; i < losses; i++) {
        elapsedMs = (i * 6000) / (losses - 1);
        failureLimits.add({ kind, message: "lost" }, i, nowNs());
      }
      assert.equal(signal.error?.code, isAway ? "unreachable" : undefined);
    } finally {
      performance.now = clock;
    }
  });
}

test("a target that is gone after it answered is said to have answered", () => {
  for (const [completedCount, hint] of [
    [0, "Is the server running, and is this its address?"],
    [1234, "It answered 1,234 requests before. Has it stopped? Look at its log."],
  ] as const) {
    const { failureLimits, signal } = makeLimits(null, { completedCount, lastSuccessNs: nowNs() });
    failureLimits.add({ kind: "connect", message: "refused", isServerGone: true }, 0, nowNs());
    assert.equal(signal.error?.hint, hint);
  }
});

test("a server that refuses all requests ends the run of a scenario", () => {
  const target = {
    ...{ kind: "openai", url: "gpu:8000", protocol: "http", model: "m", endpoint: "v1/nope", batchSize: 1 },
    ...{ isStreaming: true, headers: [], tls: DEFAULT_TLS },
  } as unknown as Plan["target"];
  const missing: Failure = { kind: "http", status: 404, message: "HTTP status 404" };
  const endOf = (plan: Plan, completedCount: number, failure = missing): string | undefined => {
    const signal = new RunSignal();
    let failedCount = 0;
    const failureLimits = new FailureLimits(plan, signal, () => progressOf({ completedCount, failedCount }));
    while (failedCount < 8) {
      assert.equal(signal.error, undefined, `after ${failedCount}`);
      failedCount++;
      failureLimits.add(failure, 0, nowNs());
    }
    return signal.error?.message;
  };
  const plan: Plan = { ...makePlan({ failures: { maxRatio: null } }), target };
  assert.match(endOf(plan, 0) ?? "", /^gpu:8000 has no such path: .*404/);
  assert.equal(endOf(plan, 1), undefined);
  assert.equal(endOf(plan, 0, { ...missing, status: 500 }), undefined);
  assert.equal(endOf({ ...plan, behaviour: { waitsForServer: true } }, 0), undefined);
  assert.match(endOf(plan, 0, { ...missing, status: 401, message: "HTTP status 401" }) ?? "", /refuses the requests/);
  assert.match(endOf(makePlan({ failures: { maxRatio: null } }), 0) ?? "", /has no such path/);
});

describe("a server that responds to all requests with the same error ends the run", () => {
  const target = {
    ...{ kind: "openai", url: "gpu:8000", protocol: "http", model: "llama", endpoint: "v1/chat/completions" },
    ...{ batchSize: 1, isStreaming: true, headers: [], tls: DEFAULT_TLS },
  } as unknown as Plan["target"];
  const atServer: Plan = { ...makePlan({ failures: { maxRatio: null } }), target };
  /** Adds failures of two lanes, until the run ends. */
  const endOf = (
    failureOf: (index: number) => Failure,
    counts: Partial<SenderState> = {},
    plan = atServer,
  ): readonly [count: number, text: string] => {
    const signal = new RunSignal();
    let failedCount = 0;
    const failureLimits = new FailureLimits(plan, signal, () => progressOf({ activeLanes: 2, failedCount, ...counts }));
    while (failedCount < 100 && signal.error === undefined) {
      failedCount++;
      failureLimits.add(failureOf(failedCount), failedCount % 2, nowNs());
    }
    const { error } = signal;
    return [failedCount, error === undefined ? "" : `${error.message} ${word(error.hint, inScenario)}`];
  };
  const responseOf = (status: number, message: string) => (): Failure => ({
    kind: "http",
    status,
    message: `HTTP status ${status}: ${message}`,
  });

  for (const [name, failureOf, says] of [
    [
      "400",
      responseOf(400, "max_tokens is too large"),
      /refuses the requests: HTTP status 400: max_tokens is too large Correct/,
    ],
    [
      "422",
      responseOf(422, "bad body"),
      /refuses the requests: .* Correct the requests, .* Set maxErrorRate to 100 % to/,
    ],
    ["500", responseOf(500, "engine dead"), /refuses the requests: HTTP status 500: engine dead /],
    [
      "a model that it lacks",
      responseOf(400, "model x not found"),
      /refuses the requests: .* Correct model, or load the model/,
    ],
    [
      "lengths that differ",
      (index: number) => responseOf(400, `this model's context length is 4096, not ${5000 + index} tokens`)(),
      /refuses the requests: .* tokens Correct the requests/,
    ],
    [
      "an error within a response",
      () => ({ kind: "unreadable", message: "the server sent an error within its response: out of memory" }),
      /refuses the requests: .* out of memory Correct the requests, .* Set maxErrorRate/,
    ],
    ["an unreadable response", () => ({ kind: "unreadable", message: "no JSON" }), /gives no response of this API: no/],
    ["INVALID_ARGUMENT", () => ({ kind: "grpc", status: 3, message: "bad shape" }), /refuses the requests: bad shape/],
  ] as const satisfies readonly (readonly [string, (index: number) => Failure, RegExp])[])
    test(`after 32 of them: ${name}`, () => {
      const [count, text] = endOf(failureOf);
      assert.equal(count, 32, text);
      assert.match(text, says);
    });

  test("and sooner when the model is said to be missing with 404, which is no missing path", () => {
    const [count, text] = endOf(responseOf(404, "The model `llama` does not exist."));
    assert.equal(count, 8, text);
    assert.match(text, /^gpu:8000 refuses the requests: .*404.* Correct model, or load the model on the server\./);
    const [, ofPath] = endOf(responseOf(404, "Cannot POST /model/v1/chat/completions"));
    assert.match(ofPath, /^gpu:8000 has no such path: /);
  });

  for (const [name, failureOf, counts, plan] of [
    ["429", responseOf(429, "slow down"), {}, atServer],
    ["408", responseOf(408, "too slow"), {}, atServer],
    ["a timeout", () => ({ kind: "timeout", message: "no complete response within 1 s" }), {}, atServer],
    ["errors that differ", (index: number) => responseOf(400, `prompt ${"x".repeat(index)}`)(), {}, atServer],
    ["two errors in turn", (index: number) => responseOf(400, index % 2 === 0 ? "a" : "b")(), {}, atServer],
    ["a request that succeeded", responseOf(400, "a"), { completedCount: 1 }, atServer],
    ["a lane that is still busy", responseOf(500, "a"), { activeLanes: 3 }, atServer],
    ["a schedule whose other requests are in flight", responseOf(400, "a"), { outstanding: 14 }, atServer],
    ["failures that may all occur", responseOf(400, "a"), {}, { ...atServer, failures: { maxRatio: 1 } }],
    [
      "the embedded target",
      responseOf(500, "a"),
      {},
      toPlan(defineScenario({ name: "x", target: embedded(), load: hold(1) }), "/"),
    ],
  ] as const satisfies readonly (readonly [string, (index: number) => Failure, Partial<SenderState>, Plan])[])
    test(`but not for ${name}`, () => {
      assert.deepEqual(endOf(failureOf, counts, plan), [100, ""]);
    });
});

test("a server that answers 503 to each lane ends the run, and not while it is busy with the request of one", () => {
  const unavailable: Failure = { kind: "http", status: 503, message: "HTTP status 503" };
  const signal = new RunSignal();
  let counts: Partial<SenderState> = {};
  const failureLimits = new FailureLimits(makePlan({ failures: { maxRatio: null } }), signal, () =>
    progressOf({ activeLanes: 3, outstanding: 1, ...counts }),
  );
  for (let count = 0; count < 100; count++) failureLimits.add(unavailable, count % 2, nowNs());
  counts = { failedCount: 100 };
  failureLimits.add(unavailable, 0, nowNs());
  assert.equal(signal.isStopped, false, "one lane may still be answered");
  counts = { failedCount: 31 };
  failureLimits.add(unavailable, 2, nowNs());
  assert.equal(signal.isStopped, false, "the counts of a sender elsewhere are older than what has failed there");
  counts = { failedCount: 32, completedCount: 40 };
  failureLimits.add(unavailable, 2, nowNs());
  assert.equal(signal.isStopped, false, "others were answered");
  counts = { failedCount: 32 };
  failureLimits.add(unavailable, 2, nowNs());
  assert.match(signal.error?.message ?? "", /refuses the requests: HTTP status 503/);
  assert.equal(signal.error?.hint, "Is it still starting? Look at its log.");
});

test("a measurement without any answer ends the run with what kept the server from answering", () => {
  const endOf = (failure: Failure, counts: Partial<SenderState> = {}): string | undefined => {
    const { failureLimits, signal } = makeLimits(null, { failedCount: 1, ...counts });
    failureLimits.add(failure, 0, nowNs());
    failureLimits.checkEnd();
    return signal.error?.message;
  };
  assert.match(endOf({ kind: "closed", message: "" }) ?? "", /closes connections without a complete response$/);
  const endless = endOf({ kind: "protocol", message: "response head is longer than 65536 bytes" });
  assert.match(endless ?? "", /does not answer in this protocol: response head is longer than 65536 bytes$/);
  const foreign = endOf({
    kind: "protocol",
    message: `response does not start with HTTP/1: "${"\\u0000".repeat(40)}"`,
  });
  assert.match(foreign ?? "", /does not answer in this protocol$/);
  assert.match(endOf({ kind: "timeout", message: "" }) ?? "", /has answered nothing to 1 request in time/);
  assert.equal(endOf({ kind: "closed", message: "" }, { completedCount: 1 }), undefined);
  assert.equal(endOf({ kind: "http", status: 500, message: "" }), undefined);
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

/** When a share of failures is certain to be above the limit. */

const UNKNOWN = Number.POSITIVE_INFINITY;

describe("the share of failures is above the limit", () => {
  const cases = [
    // The limit, what failed and succeeded so far, how many there will be, and the verdict.
    [0.1, 100, 0, 1000, false],
    [0.1, 101, 0, 1000, true],
    [0.1, 101, 899, 1000, true],
    [0.5, 1, 0, 1, true],
    [1, 1000, 0, 1000, false],
    [0.01, 19, 0, UNKNOWN, false],
    [0.01, 20, 0, UNKNOWN, true],
    [0.5, 29, 0, UNKNOWN, false],
    [0.5, 30, 0, UNKNOWN, true],
    [0.1, 11, 89, UNKNOWN, false],
    [0.1, 300, 700, UNKNOWN, true],
    [0.1, 100, 900, UNKNOWN, false],
    [1, 1000, 0, UNKNOWN, false],
  ] as const;
  for (const [maxRatio, failedCount, completedCount, totalCount, isExceeded] of cases) {
    const name = `${failedCount} of ${failedCount + completedCount} failed, of ${totalCount} to come, ${maxRatio} allowed`;
    test(`${isExceeded ? "for certain" : "not for certain"}: ${name}`, () => {
      assert.equal(isRatioExceeded({ maxRatio, failedCount, completedCount, totalCount }), isExceeded);
    });
  }

  test("never while successes could still lower it enough, and always once they cannot", () => {
    for (let failedCount = 0; failedCount <= 60; failedCount++) {
      for (const maxRatio of [0.05, 0.3, 0.9]) {
        const totalCount = 60;
        const isMendable = failedCount / totalCount <= maxRatio;
        assert.equal(isRatioExceeded({ maxRatio, failedCount, completedCount: 0, totalCount }), !isMendable);
      }
    }
  });
});

test("an address without a port is reported with the port that was tried, in a mix too", () => {
  const refused: Failure = { kind: "connect", message: "refused" };
  const members = [
    { name: "a", target: http("h") },
    { name: "b", target: http("h:9") },
    { name: "c", target: http("h:9") },
  ] as const;
  for (const [target, says] of [
    [http("h"), / h \([^()]* port 80 is used\): refused$/],
    [http("https://h"), / https:\/\/h \([^()]* port 443 is used\): refused$/],
    [http("h:80"), / h:80: refused$/],
    [mix(members), / h \([^()]* port 80 is used\), h:9: refused$/],
  ] as const) {
    const plan = toPlan(defineScenario({ name: "x", target: target as Target, load: hold(1) }), "/");
    assert.match(cannotConnect(plan, refused).message, says);
  }
});
