import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import type { Plan } from "../../src/plan/plan.ts";
import type { RunObserver } from "../../src/result/observer.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { createRandomFor } from "../../src/runtime/random.ts";
import { makePlan, type PlanChange } from "../plan/make-plan.ts";
import { LIMIT } from "../time-limit.ts";
import { KserveServer, withServer } from "./kserve-server.ts";

/** Grace periods, warm-ups by time, requests that are given up, and several servers, in whole runs. */

function run(change: PlanChange, observer: RunObserver = {}): Promise<RunResult> {
  return startPlan(makePlan(change), { openObserver: () => Promise.resolve(observer), check: () => Promise.resolve() })
    .result;
}

const closedAt = (level: number): Plan["load"] => ({
  kind: "concurrency",
  levels: { kind: "list", values: [level] },
  search: "linear",
});

const after = (ms: number) => () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms));

describe("a duration with a grace period", () => {
  test("requests in flight at the end of the time are measured, and none is sent after it", LIMIT, async () => {
    await using server = await new KserveServer({ onInfer: after(100) }).start();
    const { levels, sentCount, completedCount, cancelledCount } = await run({
      target: { url: server.url },
      load: closedAt(3),
      measurement: { mode: { kind: "duration", durationMs: 30, graceMs: 10_000 } },
    });
    const window = levels[0]?.window;
    assert.ok(window !== undefined && window.requestCount >= 3);
    assert.deepEqual([window.requestCount, window.sentCount], [sentCount, sentCount]);
    assert.deepEqual([completedCount, cancelledCount], [server.infers.length, 0]);
    // Until the last response, which is later than the time given.
    assert.ok(window.durationNs > 90e6, String(window.durationNs));
  });

  test(
    "requests without a response at the end of the grace period are cancelled, and are not failures",
    LIMIT,
    async () => {
      await using server = await new KserveServer({
        onInfer: ({ index }) => (index === 0 ? new Promise(() => {}) : undefined),
      }).start();
      const { levels, failures, error, ...counts } = await run({
        target: { url: server.url },
        load: closedAt(2),
        measurement: { mode: { kind: "duration", durationMs: 40, graceMs: 3000 } },
      });
      const window = levels[0]?.window;
      assert.ok(window !== undefined && window.requestCount > 0);
      assert.deepEqual(
        [window.failedCount, window.cancelledCount, window.latency.count],
        [0, 1, counts.completedCount],
      );
      assert.deepEqual([counts.failedCount, counts.cancelledCount, error], [0, 1, undefined]);
      assert.equal(counts.sentCount, counts.completedCount + 1);
      assert.deepEqual([failures[0]?.kind, failures[0]?.count], ["unfinished", 1]);
      assert.match(failures[0]?.example ?? "", /grace period of 3 s/);
      // The wait for what never came makes no rate smaller.
      // Moments are floating-point numbers, so their difference can be a fraction of a nanosecond less.
      assert.ok(window.durationNs > 40e6 - 1, String(window.durationNs));
      assert.equal(window.endNs - window.startNs, window.durationNs);
      // Nor does it put more requests in flight than there were.
      assert.ok(window.inFlightSumNs <= 2 * window.durationNs + 500e6, `${window.inFlightSumNs} ${window.durationNs}`);
    },
  );

  test("a server that never answers is cancelled too", LIMIT, async () => {
    await using server = await new KserveServer({}).start();
    server.hold();
    const { cancelledCount, sentCount, error, levels } = await run({
      target: { url: server.url },
      load: closedAt(3),
      measurement: { mode: { kind: "duration", durationMs: 20, graceMs: 0 } },
    });
    assert.deepEqual([cancelledCount, sentCount, error, levels[0]?.window.requestCount], [3, 3, undefined, 0]);
  });
});

describe("a warm-up by time", () => {
  test("lasts at least this long, and is in no window", LIMIT, async () => {
    await using server = await new KserveServer({ onInfer: after(1) }).start();
    let beginMs = Number.NaN;
    const change: PlanChange = {
      target: { url: server.url },
      load: closedAt(2),
      measurement: { mode: { kind: "requests", count: 5 }, warmupMs: 60 },
    };
    const { levels, sentCount, warmup } = await run(change, {
      onLevelStart: (_unit, _level, isWarmup) => {
        if (isWarmup) beginMs = performance.now();
      },
    });
    assert.ok(warmup !== undefined && warmup.sentCount > 0);
    const window = levels[0]?.window;
    const openCount = window?.openBeforeCount ?? Number.NaN;
    assert.deepEqual([window?.sentCount, window?.requestCount], [5, 5 + openCount]);
    assert.equal(sentCount, warmup.sentCount + openCount + 5);
    const first = server.infers[warmup.sentCount + openCount];
    assert.ok((first?.arrivedMs ?? 0) - beginMs >= 60, `${first?.arrivedMs} after ${beginMs} ms`);
  });

  test("with a number of requests, both apply, and failures are counted separately", LIMIT, async () => {
    await using server = await new KserveServer({
      onInfer: ({ index }) => (index < 2 ? "loading" : undefined),
    }).start();
    const { levels, warmup, failures, failedCount } = await run({
      target: { url: server.url },
      load: closedAt(2),
      measurement: { mode: { kind: "requests", count: 5 }, warmupMs: 1, warmupRequests: 400 },
    });
    assert.ok((warmup?.sentCount ?? 0) >= 400, JSON.stringify(warmup));
    assert.deepEqual([warmup?.failedCount, failedCount, levels[0]?.window.failedCount], [2, 2, 0]);
    assert.deepEqual([failures[0]?.count, failures[0]?.isWarmup], [2, true]);
  });
});

describe("requests that are cancelled on purpose", () => {
  const SEED = 5;
  const COUNT = 20;

  test("are the share that the seed draws; their slots continue, and they are in no latency", LIMIT, async () => {
    await using server = await new KserveServer({ onInfer: after(150) }).start();
    const { levels, failures, ...counts } = await run({
      target: { url: server.url },
      load: closedAt(4),
      measurement: { mode: { kind: "requests", count: COUNT } },
      cancellation: { sharePct: 50, delayMs: 10, seed: SEED },
      failures: { maxRatio: 0 },
    });
    const random = createRandomFor(SEED, "cancellation");
    const drawn = Array.from({ length: COUNT }, () => random() < 0.5).filter(Boolean).length;
    assert.ok(drawn > 3 && drawn < COUNT - 3);
    assert.deepEqual([counts.cancelledCount, counts.completedCount, counts.failedCount], [drawn, COUNT - drawn, 0]);
    const window = levels[0]?.window;
    assert.deepEqual([window?.requestCount, window?.cancelledCount], [COUNT - drawn, drawn]);
    assert.ok((window?.latency.min ?? 0) > 140e6);
    assert.deepEqual([failures.length, failures[0]?.kind, failures[0]?.count], [1, "cancelled", drawn]);
    assert.match(failures[0]?.example ?? "", /^cancelled 10 ms after it was sent/);
    assert.equal(server.infers.length, COUNT);
  });

  test("all of them, immediately, except during warm-up", LIMIT, async () => {
    await using server = await new KserveServer({}).start();
    const result = run({
      target: { url: server.url },
      load: closedAt(2),
      measurement: { mode: { kind: "requests", count: COUNT }, warmupRequests: 3 },
      cancellation: { sharePct: 100, delayMs: 0, seed: SEED },
      behaviour: { measuresFromNothing: true },
    });
    await server.until(() => server.infers.length === 2);
    await server.until(() => server.successCount === 3);
    server.hold();
    const { sentCount, completedCount, cancelledCount, failedCount, error } = await result;
    assert.deepEqual(
      [sentCount, completedCount + cancelledCount, failedCount, error],
      [COUNT + 3, COUNT + 3, 0, undefined],
    );
    assert.ok(cancelledCount > 0 && completedCount >= 3);
  });

  test("a request that ends before its delay is not cancelled", LIMIT, async () => {
    await using server = await new KserveServer({}).start();
    const { completedCount, cancelledCount } = await run({
      target: { url: server.url },
      measurement: { mode: { kind: "requests", count: COUNT } },
      cancellation: { sharePct: 100, delayMs: 3_600_000, seed: SEED },
    });
    assert.deepEqual([completedCount, cancelledCount], [COUNT, 0]);
  });
});

describe("several servers", () => {
  const COUNT = 30;

  /** A port on which nobody listens. */
  async function deadUrl(): Promise<string> {
    let url = "";
    await withServer({}, async (server) => {
      url = server.url;
    });
    return url;
  }

  test("each gets its turn, and the counts are reported by server", LIMIT, async () => {
    await using first = await new KserveServer({}).start();
    await using second = await new KserveServer({}).start();
    const { servers, completedCount, failedCount } = await run({
      target: { url: first.url, moreUrls: [second.url, first.url] },
      load: closedAt(4),
      measurement: { mode: { kind: "requests", count: COUNT } },
    });
    assert.deepEqual([completedCount, failedCount], [COUNT, 0]);
    const counts = (server: KserveServer): number => server.infers.length;
    assert.deepEqual([counts(first), counts(second)], [20, 10]);
    assert.deepEqual(
      servers,
      [first.url, second.url, first.url].map((name) => ({ name, sentCount: 10, failedCount: 0 })),
    );
  });

  test("one that is not there ends the run before the load", LIMIT, async () => {
    const dead = await deadUrl();
    await using server = await new KserveServer({}).start();
    const started = run({
      target: { url: server.url, moreUrls: [dead] },
      load: closedAt(2),
      measurement: { mode: { kind: "requests", count: COUNT } },
    });
    await assert.rejects(started, { code: "unreachable", message: new RegExp(`${dead} \\(Connection refused\\)`) });
    assert.equal(server.infers.length, 0);
  });

  test("one that goes is a failure with its name, and the others continue", LIMIT, async () => {
    // It is there when it is looked for, and gone when the load begins.
    const going = createServer((socket) => {
      going.close();
      socket.destroy();
    });
    await new Promise<void>((resolve) => void going.listen(0, "127.0.0.1", resolve));
    const dead = `127.0.0.1:${(going.address() as AddressInfo).port}`;
    await using server = await new KserveServer({ onInfer: ({ index }) => (index === 0 ? "busy" : undefined) }).start();
    const { servers, failures, completedCount, error } = await run({
      target: { url: server.url, moreUrls: [dead] },
      load: closedAt(2),
      measurement: { mode: { kind: "requests", count: COUNT } },
    });
    assert.deepEqual([completedCount, error], [14, undefined]);
    assert.deepEqual(
      failures.map(({ kind, count, example }) => [kind, count, example]),
      [
        ["connect", 15, `${dead}: Connection refused`],
        ["http", 1, `${server.url}: busy`],
      ],
    );
    assert.deepEqual(
      servers?.map(({ sentCount, failedCount }) => [sentCount, failedCount]),
      [
        [15, 1],
        [15, 15],
      ],
    );
  });

  for (const isStreaming of [false, true]) {
    test(`over gRPC, ${isStreaming ? "streams" : "unary"}`, LIMIT, async () => {
      const mocks = [await startMock(DEFAULT_MOCK, LOOPBACK), await startMock(DEFAULT_MOCK, LOOPBACK)];
      try {
        const [url = "", ...moreUrls] = mocks.map(({ grpcPort }) => `127.0.0.1:${grpcPort}`);
        const { servers, completedCount } = await run({
          target: { url, moreUrls, protocol: "grpc", isStreaming },
          load: closedAt(3),
          measurement: { mode: { kind: "requests", count: COUNT } },
        });
        assert.equal(completedCount, COUNT);
        assert.deepEqual(
          servers?.map(({ sentCount }) => sentCount),
          [15, 15],
        );
      } finally {
        for (const mock of mocks) await mock.stop();
      }
    });
  }

  test("sequences cannot be shared", LIMIT, async () => {
    await using server = await new KserveServer({ isSequence: true }).start();
    await assert.rejects(
      run({ target: { url: server.url, moreUrls: [server.url] }, client: { callMode: "async" } }),
      /takes sequences, whose requests must all reach the same server/,
    );
  });
});
