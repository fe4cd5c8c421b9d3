import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { RECORD_CANCELLED, RECORD_FAILED, RECORD_RESENT, RecordColumns } from "../../src/measure/records.ts";
import { toFunctionPlan } from "../../src/plan/functions.ts";
import type { FinishedRequest, OnRecord } from "../../src/result/finished-request.ts";
import type { RunObserver } from "../../src/result/observer.ts";
import type { FailedRequest } from "../../src/result/request-record.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { RequestGroups } from "../../src/run/groups/request-groups.ts";
import { RunSignal } from "../../src/run/interrupt.ts";
import { RecordHook } from "../../src/run/record-hook.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { hold, steps } from "../../src/scenario/loads/concurrency.ts";
import { phase, warmup } from "../../src/scenario/loads/phases.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { http } from "../../src/scenario/targets/http.ts";
import { embeddedLlm } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import type { Failure } from "../../src/transport/failure.ts";
import { valuesOf } from "../measure/tokens/make-columns.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";

const RESULT = { error: undefined } as RunResult;

/** Passes rows, each a latency in ms and perhaps a failure, as a run does. */
function play(observer: RunObserver, rows: readonly { ms: number; failure?: Failure; flags?: number }[]): void {
  const columns = new RecordColumns((records, count) => observer.onBatch?.(records, count));
  for (const { ms, failure, flags = failure === undefined ? 0 : RECORD_FAILED } of rows) {
    if (failure !== undefined) observer.onFailed?.({ failure } as FailedRequest);
    const { row } = columns;
    columns.sendStartNs[row] = 1e9;
    columns.intendedSendNs[row] = 0.999e9;
    columns.firstByteNs[row] = 1e9 + (ms * 1e6) / 2;
    columns.endNs[row] = 1e9 + ms * 1e6;
    columns.responseCount[row] = 1;
    columns.flags[row] = flags;
    columns.group[row] = row % 2;
    columns.commit();
  }
  columns.drain();
}

async function follow(onRecord: OnRecord, rows: Parameters<typeof play>[1]) {
  const signal = new RunSignal();
  const groups = new RequestGroups(
    [
      { tags: { size: "a" }, member: 0 },
      { tags: { size: "b" }, member: 0 },
    ],
    new Uint8Array(),
  );
  const hook = new RecordHook(toFunctionPlan("onRecord", onRecord as () => unknown), signal, groups);
  const result = await hook.around({}, async (observer) => {
    play(observer, rows);
    return RESULT;
  });
  return { result, signal };
}

describe("onRecord", () => {
  test("is not waited for after an interrupt, when its promise never settles", LIMIT, async () => {
    const signal = new RunSignal();
    let calls = 0;
    const onRecord = (): Promise<void> => {
      calls++;
      signal.interrupt();
      return new Promise(() => {});
    };
    const hook = new RecordHook(toFunctionPlan("onRecord", onRecord), signal, undefined);
    const result = await hook.around({}, async (observer) => {
      play(observer, [{ ms: 4 }, { ms: 5 }]);
      return RESULT;
    });
    assert.deepEqual([result.error, calls], [undefined, 1]);
  });

  test("marks requests that were sent again", async () => {
    const records: FinishedRequest[] = [];
    await follow((record) => void records.push(record), [{ ms: 4, flags: RECORD_RESENT }, { ms: 5 }]);
    assert.deepEqual(
      records.map(({ isResent }) => isResent),
      [true, undefined],
    );
  });

  test("gets every finished request with its times, its tags and why it failed", async () => {
    const records: FinishedRequest[] = [];
    const failure: Failure = { kind: "http", status: 503, message: "busy" };
    const { result } = await follow(
      (record) => void records.push(record),
      [
        { ms: 4 },
        { ms: 6, failure },
        { ms: 2, failure: { kind: "cancelled", message: "cut" }, flags: RECORD_FAILED | RECORD_CANCELLED },
      ],
    );
    assert.equal(result.error, undefined);
    assert.deepEqual(
      records.map(({ sentAtMs: _, ...record }) => record),
      [
        {
          index: 0,
          outcome: "completed",
          latencyMs: 4,
          scheduledLatencyMs: 5,
          firstByteMs: 2,
          responses: 1,
          tags: { size: "a" },
        },
        {
          ...{ index: 1, outcome: "failed", latencyMs: 6, scheduledLatencyMs: 7, firstByteMs: 3, responses: 1 },
          tags: { size: "b" },
          failure: { kind: "http", message: "busy", status: 503 },
        },
        {
          ...{ index: 2, outcome: "cancelled", latencyMs: 2, scheduledLatencyMs: 3, firstByteMs: 1, responses: 1 },
          tags: { size: "a" },
          failure: { kind: "cancelled", message: "cut" },
        },
      ],
    );
  });

  test("is called for all records before the run ends, one after the other when it is asynchronous", async () => {
    let running = 0;
    let most = 0;
    let count = 0;
    await follow(
      async () => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
        count++;
      },
      Array.from({ length: 5000 }, () => ({ ms: 1 })),
    );
    assert.deepEqual({ count, most }, { count: 5000, most: 1 });
  });

  const errors: readonly { name: string; onRecord: OnRecord }[] = [
    {
      name: "throws",
      onRecord: ({ index }) => {
        if (index === 3) throw new Error("boom");
      },
    },
    {
      name: "rejects",
      onRecord: async ({ index }) => {
        if (index === 3) throw new Error("boom");
      },
    },
  ];
  for (const { name, onRecord } of errors)
    test(`ends the run when it ${name}, and names the file and the line`, async () => {
      let count = 0;
      const { result, signal } = await follow(
        (record) => {
          count++;
          const promise = onRecord(record);
          return promise;
        },
        Array.from({ length: 100 }, () => ({ ms: 1 })),
      );
      assert.equal(count, 4);
      assert.equal(result.error?.code, "exception");
      assert.match(result.error?.message ?? "", /^onRecord throws: boom \(record-hook\.test\.ts:\d+\)$/);
      assert.equal(signal.isStopped, true);
    });
});

describe("onRecord of a run", () => {
  const run = async (scenario: ReturnType<typeof defineScenario>): Promise<RunResult> => {
    const result = await startPlan(toPlan(scenario, "/"), { openObserver: async () => ({}), check: async () => {} })
      .result;
    assert.equal(result.error, undefined, result.error?.message);
    return result;
  };

  test("has phases, warm-ups and the times of tokens, as the report counts them", LIMIT, async () => {
    const records: FinishedRequest[] = [];
    const tokenizer = TINY;
    const { levels, phased } = await run(
      defineScenario({
        name: "x",
        target: embeddedLlm({ tokenizer, streaming: true, timeToFirstToken: "10 ms", interTokenLatency: "2 ms" }),
        inputs: prompts({ isl: 12, osl: 5, count: 4 }),
        load: [warmup({ requests: 4 }, hold(2)), phase("busy", steps([2, 1], { requests: 6 }))],
        onRecord: async (record) => void records.push(record),
      }),
    );
    assert.deepEqual(
      records.map(({ index }) => index),
      Array.from({ length: 16 }, (_, index) => index),
      "all, in the order of their ends",
    );
    const countOf = (isIn: (level: FinishedRequest["level"]) => boolean) =>
      records.filter(({ level }) => isIn(level)).length;
    assert.equal(
      countOf((level) => level?.phase === "busy" && !level.isWarmup),
      phased?.phases[1]?.tally.completedCount,
    );
    assert.equal(
      countOf((level) => level?.isWarmup === true),
      phased?.phases[0]?.tally.completedCount,
    );
    for (const { unit, level: value, window } of levels)
      assert.equal(
        countOf((level) => level?.isWarmup === false && level.unit === unit && level.value === value),
        window.requestCount,
      );
    const firsts = levels.flatMap(({ window }) => valuesOf(window.tokens?.metrics.timeToFirstTokenNs));
    const measured = records.filter(({ level }) => level?.isWarmup === false).map(({ tokens }) => tokens);
    assert.deepEqual(measured.map((tokens) => tokens?.timeToFirstTokenMs).sort(), firsts.map((ns) => ns / 1e6).sort());
    for (const tokens of measured) {
      assert.deepEqual([tokens?.outputTokens, tokens?.inputTokens, tokens?.error], [5, 12, undefined]);
      assert.equal(tokens?.contentMs[0], tokens?.timeToFirstTokenMs);
    }
  });

  test("has extracted values, and the level without phases", LIMIT, async () => {
    let count = 0;
    const server = createServer((_, response) => response.end(JSON.stringify({ usage: { n: count++ % 3 } })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const records: FinishedRequest[] = [];
      const { levels } = await run(
        defineScenario({
          name: "x",
          target: http(`127.0.0.1:${(server.address() as AddressInfo).port}/`, { extract: { n: "usage.n", no: "no" } }),
          load: steps([1, 2], { requests: 9 }),
          warmupRequests: 3,
          onRecord: (record) => void records.push(record),
        }),
      );
      const measured = records.filter(({ level }) => level?.isWarmup === false);
      assert.deepEqual(
        levels.map(({ level: value, window }) => [value, window.requestCount]),
        [1, 2].map((value) => [value, measured.filter(({ level }) => level?.value === value).length]),
      );
      assert.deepEqual(
        new Set(records.map(({ extracted }) => JSON.stringify(extracted))),
        new Set([0, 1, 2].map((n) => JSON.stringify({ n, no: null }))),
      );
      assert.ok(records.every(({ tokens, level }) => tokens === undefined && level?.phase === undefined));
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
