import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RECORD_CANCELLED, RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import { holdFunction } from "../../src/plan/functions.ts";
import type { FinishedRequest, OnRecord } from "../../src/result/finished-request.ts";
import type { RunObserver } from "../../src/result/observer.ts";
import type { FailedRequest } from "../../src/result/request-record.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { RecordHook } from "../../src/run/record-hook.ts";
import { RunSignal } from "../../src/run/run-signal.ts";
import { RequestGroups } from "../../src/run/split/request-groups.ts";
import type { Failure } from "../../src/transport/failure.ts";

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
  const hook = new RecordHook(holdFunction("onRecord", onRecord as () => unknown), signal, groups);
  const result = await hook.around({}, async (observer) => {
    play(observer, rows);
    return RESULT;
  });
  return { result, signal };
}

describe("onRecord", () => {
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
