// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { RunError, UserError } from "../../src/plan/problem.ts";
import { sum } from "../../src/plan/units.ts";
import type { RunObserver } from "../../src/result/observer.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { startRampart } from "../cli/rampart-process.ts";
import { makeFolder } from "../make-folder.ts";
import { makePlan, type PlanChange, rateLoad } from "../plan/make-plan.ts";
import { LIMIT } from "../time-limit.ts";
import { startRawServer } from "../transport/raw-server.ts";
import { KserveServer, takeMs } from "./kserve-server.ts";

/** Whole runs against servers that count, hold, refuse, drop and lie. */

function planFor(server: { url: string }, change: PlanChange = {}): Plan {
  return makePlan({ ...change, target: { url: server.url, ...change.target } });
}

function run(plan: Plan, observer: RunObserver = {}): Promise<RunResult> {
  return startPlan(plan, { openObserver: () => Promise.resolve(observer), check: () => Promise.resolve() }).result;
}

function checkSums(result: RunResult, server?: KserveServer): void {
  assert.equal(result.sentCount, result.completedCount + result.failedCount);
  assert.equal(sum(result.failures.map(({ count }) => count)), result.failedCount);
  if (server !== undefined) assert.equal(result.completedCount, server.successCount);
}

const closedAt = (level: number): Plan["load"] => ({
  kind: "concurrency",
  levels: { kind: "list", values: [level] },
  search: "linear",
});

test("what the kind of the target refuses is refused before the target is contacted", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  let openedCount = 0;
  const plan = planFor(server, { target: { sharedMemory: "system", moreUrls: [server.url] } });
  const openObserver = (): Promise<RunObserver> => {
    openedCount++;
    return Promise.resolve({});
  };
  const { result } = startPlan(plan, { openObserver, check: () => Promise.resolve() });
  await assert.rejects(result, (error) => {
    assert.ok(error instanceof UserError);
    assert.deepEqual(
      error.problems.map(({ message }) => message),
      ["shared memory works with one server only"],
    );
    return true;
  });
  assert.deepEqual([openedCount, server.requests.length], [0, 0]);
});

for (const callMode of ["sync", "async"] as const) {
  test(`a closed loop reaches its concurrency at the server and never exceeds it (${callMode})`, LIMIT, async () => {
    await using server = await new KserveServer({}).start();
    server.hold();
    const client = { callMode, maxLanes: callMode === "async" ? 3 : null };
    const result = run(planFor(server, { load: closedAt(8), client }));
    await server.until(() => server.outstanding === 8);
    server.release();
    const { levels, ...rest } = await result;
    checkSums({ levels, ...rest }, server);
    assert.equal(server.maxOutstanding, 8);
    assert.equal(server.infers.length, 100);
    assert.deepEqual([levels[0]?.outcome, levels[0]?.window.requestCount], ["measured", 100]);
    assert.equal(new Set(server.infers.map(({ port }) => port)).size <= 8, true);
  });
}

const windows: Plan["measurement"]["mode"] = { kind: "time-windows", windowMs: 100, stabilityPct: 1000, maxTrials: 5 };

for (const [name, change] of [
  ["a count of requests", { measurement: { mode: { kind: "requests", count: 20 } } }],
  ["a warm-up", { measurement: { mode: windows, warmupRequests: 3 } }],
  ["windows of time", { measurement: { mode: windows } }],
] as const) {
  test(`with ${name} no request is sent before the reports are open`, LIMIT, async () => {
    await using server = await new KserveServer({}).start();
    let askedCount = -1;
    const plan = planFor(server, change);
    const open = (): Promise<RunObserver> => {
      askedCount = server.requests.length;
      return Promise.resolve({});
    };
    checkSums(await startPlan(plan, { openObserver: open, check: () => Promise.resolve() }).result, server);
    assert.equal(askedCount, 0);
  });
}

test(
  "warm-up requests flow into the measurement, and those that ended before it are counted separately",
  LIMIT,
  async () => {
    await using server = await new KserveServer({ onInfer: () => takeMs(5) }).start();
    const measurement = { warmupRequests: 30, mode: { kind: "duration", durationMs: 100 } } as const;
    const result = await run(planFor(server, { load: closedAt(5), measurement }));
    const { warmup, levels } = result;
    const window = levels[0]?.window;
    assert.ok(warmup !== undefined && warmup.sentCount >= 25, `${warmup?.sentCount}`);
    assert.ok(window !== undefined && window.openBeforeCount >= 4, `${window?.openBeforeCount} in flight`);
    assert.equal(window.requestCount, window.sentCount + window.openBeforeCount - window.openAfterCount);
    checkSums(result, server);
  },
);

for (const behaviour of [{}, { measuresFromNothing: true }] as const)
  test(
    `a number of requests is just that, after a warm-up that drains (${JSON.stringify(behaviour)})`,
    LIMIT,
    async () => {
      await using server = await new KserveServer({}).start();
      const told: string[] = [];
      const observer: RunObserver = { onLevelStart: (_unit, level, isWarmup) => told.push(`${level} ${isWarmup}`) };
      const measurement = { warmupRequests: 3, mode: { kind: "requests", count: 20 } } as const;
      const result = await run(planFor(server, { load: closedAt(5), measurement, behaviour }), observer);
      assert.deepEqual(told, ["3 true", "5 false"]);
      assert.equal(server.infers.length, 23);
      assert.equal(result.sentCount, 23);
      assert.equal(result.levels[0]?.window.requestCount, 20);
      assert.equal(result.levels[0]?.window.sentCount, 20);
      assert.equal(result.levels[0]?.window.server?.successCount, 20);
      assert.equal(result.server?.successCount, 23);
      checkSums(result, server);
    },
  );

test("failed requests are counted with an example, and the run continues", LIMIT, async () => {
  const onInfer = ({ index }: { index: number }): string | undefined => (index % 4 === 0 ? "no luck" : undefined);
  await using server = await new KserveServer({ onInfer }).start();
  const result = await run(planFor(server, { load: closedAt(2) }));
  assert.equal(result.error, undefined);
  assert.deepEqual([result.completedCount, result.failedCount], [75, 25]);
  assert.deepEqual(result.failures, [{ kind: "http", count: 25, example: "no luck", status: 400 }]);
  assert.equal(result.levels[0]?.window.failedCount, 25);
  checkSums(result, server);
});

test("dropped connections are failed requests or sent again and counted, and none is lost", LIMIT, async () => {
  const onInfer = ({ index }: { index: number }): string | undefined => (index % 10 === 5 ? "drop" : undefined);
  await using server = await new KserveServer({ onInfer }).start();
  const measurement = { mode: { kind: "requests", count: 30 } } as const;
  const result = await run(planFor(server, { load: closedAt(2), measurement }));
  assert.equal(result.error, undefined);
  const { length } = server.infers;
  const dropped = server.infers.filter((_, index) => index % 10 === 5).length;
  // A request that the server dropped on a kept connection goes to a new one, if the client sees that soon enough.
  assert.deepEqual([result.sentCount, result.completedCount + result.failedCount], [30, 30]);
  assert.deepEqual([length - result.resendCount, dropped - result.resendCount], [30, result.failedCount]);
  assert.ok(result.failures.every(({ kind }) => kind === "closed"));
  assert.ok(result.connectionCount >= 3, "a new connection follows a dropped one");
  checkSums(result, server);
});

test("a server that stops answering ends the run in bounded time and says so", LIMIT, async () => {
  const never = new Promise<undefined>(() => {});
  await using server = await new KserveServer({ onInfer: ({ index }) => (index < 5 ? undefined : never) }).start();
  const result = await run(planFor(server, { client: { stallTimeoutMs: 200 } }));
  assert.equal(result.error?.code, "stalled");
  assert.match(result.error?.message ?? "", /the target stopped answering: no byte received for 200 ms/);
  assert.match(word(result.error?.hint ?? ""), /client\.stallTimeoutMs/);
  assert.equal(result.completedCount, 5);
  assert.equal(result.levels[0]?.outcome, "partial");
  checkSums(result);
});

test("an interrupt ends the run with the measurements so far", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => takeMs(5) }).start();
  const measurement = { mode: { kind: "duration", durationMs: 120_000 } } as const;
  // What ends before the window begins does not count.
  const began = Promise.withResolvers<void>();
  const running = startPlan(planFor(server, { load: closedAt(2), measurement }), {
    openObserver: async () => ({ onWindowStart: () => began.resolve() }),
    check: () => Promise.resolve(),
  });
  await began.promise;
  const beforeCount = server.successCount;
  await server.until(() => server.successCount >= beforeCount + 20);
  running.interrupt();
  const result = await running.result;
  assert.deepEqual([result.isInterrupted, result.error, result.levels[0]?.outcome], [true, undefined, "partial"]);
  assert.ok((result.levels[0]?.window.requestCount ?? 0) > 0);
  checkSums(result, server);
});

test("levels follow one another without losing a request", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => takeMs(2) }).start();
  const load = { kind: "concurrency", levels: { kind: "list", values: [4, 1, 2] }, search: "linear" } as const;
  const measurement = { mode: { kind: "duration", durationMs: 120 } } as const;
  const result = await run(planFor(server, { load, measurement }));
  assert.deepEqual(
    result.levels.map(({ level, outcome }) => [level, outcome]),
    [
      [4, "measured"],
      [1, "measured"],
      [2, "measured"],
    ],
  );
  assert.equal(server.maxOutstanding, 4);
  checkSums(result, server);
});

for (const start of [1, 0])
  test(`a ramp from ${start} is one level with a time line, up to its largest concurrency`, LIMIT, async () => {
    await using server = await new KserveServer({ onInfer: () => takeMs(2) }).start();
    const load = { kind: "concurrency-ramp", start, end: 5, overMs: 250 } as const;
    // Far longer than the ramp, so that a process that is not run meanwhile reaches the end of the ramp all the same.
    const measurement = { mode: { kind: "duration", durationMs: 2500 } } as const;
    const result = await run(planFor(server, { load, measurement }));
    assert.equal(server.maxOutstanding, 5);
    assert.ok((result.levels[0]?.timeline.length ?? 0) >= 3);
    const timed = result.levels[0]?.timeline.reduce((sum, { requestCount }) => sum + requestCount, 0);
    assert.equal(timed, result.levels[0]?.window.requestCount);
    checkSums(result, server);
  });

test(
  "an asynchronous schedule continues while responses are pending, a synchronous one waits per lane",
  LIMIT,
  async () => {
    const load = rateLoad([1000]);
    for (const [callMode, most] of [
      ["async", 40],
      ["sync", 2],
    ] as const) {
      await using server = await new KserveServer({}).start();
      server.hold();
      const measurement = { mode: { kind: "requests", count: 40 } } as const;
      const result = run(planFor(server, { load, measurement, client: { callMode, maxLanes: 2 } }));
      await server.until(() => server.outstanding === most);
      server.release();
      checkSums(await result, server);
      assert.equal(server.maxOutstanding, most);
      const [level] = (await result).levels;
      assert.ok((level?.window.scheduledLatency?.max ?? 0) >= (level?.window.latency.max ?? 0));
    }
  },
);

test("outputs that are not the expected ones are failed requests", LIMIT, async () => {
  const { writeFile } = await import("node:fs/promises");
  const folder = makeFolder();
  const file = `${folder}/data.json`;
  const zeros = new Array(16).fill(0);
  const entry = { INPUT0: zeros, INPUT1: zeros };
  const expected = [{ OUTPUT0: zeros }, { OUTPUT0: [1, ...zeros.slice(1)] }];
  await writeFile(file, JSON.stringify({ data: [entry, entry], validation_data: expected }));
  await using server = await new KserveServer({}).start();
  const measurement = { mode: { kind: "requests", count: 10 } } as const;
  const result = await run(planFor(server, { inputs: { kind: "json", files: [file] }, measurement }));
  assert.deepEqual([result.completedCount, result.failedCount], [5, 5]);
  const batch = await run(
    planFor(server, { inputs: { kind: "json", files: [file] }, measurement, target: { batchSize: 2 } }),
  );
  assert.match(batch.failures[0]?.example ?? "", /OUTPUT0 differs at byte 0 \(.*data\[1\]\)/);
  assert.match(result.failures[0]?.example ?? "", /OUTPUT0 differs at byte 0 \(.*\/data\.json, data\[1\]\)/);
});

test("streams of data beyond the first are reported by a model without sequences", LIMIT, async () => {
  const { writeFile } = await import("node:fs/promises");
  const folder = makeFolder();
  const file = `${folder}/data.json`;
  const zeros = new Array(16).fill(0);
  const entry = { INPUT0: zeros, INPUT1: zeros };
  const warningsOf = async (data: object[]): Promise<readonly string[]> => {
    await writeFile(file, JSON.stringify({ data }));
    await using server = await new KserveServer({}).start();
    const result = await run(planFor(server, { inputs: { kind: "json", files: [file] } }));
    return await result.prepared.warnings.map((text) => word(text));
  };
  const [warning = "", ...others] = await warningsOf([[entry], [entry]]);
  assert.match(warning, /^only the first of the 2 streams /);
  assert.deepEqual(others, []);
  assert.deepEqual(await warningsOf([[entry]]), []);
});

/** A listener that is no KServe server. */
async function withRawServer(
  onConnection: (socket: Socket) => void,
  use: (url: string) => Promise<void>,
): Promise<void> {
  await using server = await startRawServer(({ socket }) => onConnection(socket));
  await use(`127.0.0.1:${server.port}`);
}

const strangers: readonly (readonly [
  name: string,
  onConnection: (socket: Socket) => void,
  kind: string,
  message: RegExp,
])[] = [
  ["closes at once", (socket) => socket.end(), "refused|unreachable", /failed to get model/],
  ["answers garbage", (socket) => socket.end("SSH-2.0-x\r\n"), "refused", /failed to get model/],
  [
    "answers a page",
    (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<a/>"),
    "refused",
    /failed to get model/,
  ],
  ["says nothing", () => {}, "stalled", /accepted the connection but did not answer/],
];

for (const [name, onConnection, kind, message] of strangers) {
  for (const style of ["perf_analyzer", "rampart"] as const) {
    test(`a listener that ${name} is distinguished from a server (${style})`, LIMIT, async () => {
      await withRawServer(onConnection, async (url) => {
        const plan = makePlan({ target: { url }, client: { stallTimeoutMs: 200 }, outputs: { style } });
        await assert.rejects(run(plan), (error: unknown) => {
          assert.ok(error instanceof RunError, String(error));
          assert.match(error.code, new RegExp(`^(${kind})$`));
          assert.match(error.message, message);
          assert.notEqual(error.hint, "");
          return true;
        });
      });
    });
  }
}

test("an address without a listener is reported with a hint", LIMIT, async () => {
  let url = "";
  await withRawServer(
    () => {},
    (freed) => {
      url = freed;
      return Promise.resolve();
    },
  );
  await assert.rejects(run(makePlan({ target: { url } })), (error: unknown) => {
    assert.ok(error instanceof RunError && error.code === "unreachable", String(error));
    assert.ok(error.message.includes(url) && /Connection refused/.test(error.message), error.message);
    return true;
  });
});

test("a server that disappears during the run ends it, with the earlier measurements", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const plan = planFor(server, {
    measurement: { mode: { kind: "duration", durationMs: 120_000 } },
    failures: { maxRatio: 0 },
  });
  // What ends before the window begins does not count.
  const began = Promise.withResolvers<void>();
  const result = run(plan, { onWindowStart: () => began.resolve() });
  await began.promise;
  const beforeCount = server.successCount;
  await server.until(() => server.successCount >= beforeCount + 30);
  await server.stop();
  const { error, levels, ...rest } = await result;
  assert.equal(error?.code, "unreachable");
  assert.equal(levels[0]?.outcome, "partial");
  assert.ok((levels[0]?.window.requestCount ?? 0) >= 1);
  checkSums({ error, levels, ...rest });
});

test("Ctrl-C prints the measurements so far and exits with an error", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => takeMs(1) }).start();
  const running = startRampart(["perf_analyzer", "-m", "simple", "-u", server.url, "-p", "60000"]);
  await server.until(() => server.successCount >= 50);
  running.interrupt();
  const { code, out, err } = await running.result;
  assert.equal(code, 99, err);
  assert.match(out, /Waiting for in-flight inferences to complete\./);
  assert.match(out, /^ *\[PARTIAL\] /m);
  assert.match(out, /^Concurrency: 1, throughput: [\d.]+ infer\/sec, latency \d+ usec \(partial\)$/m);
  assert.match(err, /^rampart: interrupted; /m);
  assert.equal(server.outstanding, 0);
});

/** How long the server takes to tell its statistics. */
const STATISTICS_MS = 150;

test(
  "a later level with a number of requests is measured over them alone, without its preparation",
  LIMIT,
  async () => {
    await using server = await new KserveServer({ statisticsDelayMs: STATISTICS_MS }).start();
    const load = { kind: "concurrency", levels: { kind: "list", values: [1, 2] }, search: "linear" } as const;
    const measurement = { mode: { kind: "requests", count: 40 } } as const;
    const result = await run(planFor(server, { load, measurement }));
    checkSums(result, server);
    assert.deepEqual(
      result.levels.map(({ window }) => window.requestCount),
      [40, 40],
    );
    for (const [index, { window }] of result.levels.entries()) {
      const firstMs = server.infers[40 * index]?.arrivedMs as number;
      const asked = server.requests.filter(({ path, arrivedMs }) => path.endsWith("/stats") && arrivedMs < firstMs);
      // A timer may wake a millisecond early.
      const preparedMs = (asked.at(-1)?.arrivedMs as number) + STATISTICS_MS - 1;
      assert.ok(window.startNs >= preparedMs * 1e6, `${preparedMs - window.startNs / 1e6} ms before it was prepared`);
    }
  },
);

test("count windows end when nothing but failures comes, and the run ends when too many fail", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => "no luck" }).start();
  const mode = { kind: "count-windows", requestsPerWindow: 20, stabilityPct: 10, maxTrials: 10 } as const;
  const result = await run(planFor(server, { measurement: { mode }, failures: { maxRatio: 0.5 } }));
  assert.equal(result.error?.code, "failed-request");
  assert.match(result.error?.message ?? "", /requests failed, more than the 50 % allowed/);
  checkSums(result, server);
});

test("count windows end when nothing but failures comes, however many may fail", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => "no luck" }).start();
  const mode = { kind: "count-windows", requestsPerWindow: 20, stabilityPct: 10, maxTrials: 2 } as const;
  const result = await run(planFor(server, { measurement: { mode }, failures: { maxRatio: 1 } }));
  assert.ok(result.error !== undefined && result.failedCount >= 40 && result.completedCount === 0);
  checkSums(result, server);
});

test("an observer that throws ends the run with its error", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  let count = 0;
  const onRecord = (): void => {
    if (++count === 20) throw new RunError("output", "the disk is full", "Make room.");
  };
  const result = await run(planFor(server), { onRecord });
  assert.equal(result.error?.code, "output");
  assert.equal(result.error?.message, "the disk is full");
});

test("an interrupted warm-up is not followed by its level", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  server.hold();
  const told: string[] = [];
  const measurement = { warmupRequests: 3, mode: { kind: "requests", count: 20 } } as const;
  const observer: RunObserver = { onLevelStart: (_unit, level, isWarmup) => told.push(`${level} ${isWarmup}`) };
  const running = startPlan(planFor(server, { load: closedAt(3), measurement }), {
    openObserver: async () => observer,
    check: () => Promise.resolve(),
  });
  await server.until(() => server.outstanding === 3);
  running.interrupt();
  server.release();
  const result = await running.result;
  assert.deepEqual([told, result.levels.length, result.isInterrupted], [["3 true"], 0, true]);
});
