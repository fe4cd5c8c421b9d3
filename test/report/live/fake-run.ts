import { RECORD_FAILED, RecordColumns } from "../../../src/measure/records.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { RunState } from "../../../src/report/live/run-state.ts";
import type { RunProgress } from "../../../src/result/observer.ts";
import { makePrepared } from "../make-result.ts";

/** A run whose requests end as a test says. */
export interface FakeRun {
  readonly state: RunState;
  /** Ends a request of this latency; undefined: it fails. */
  end(latencyMs: number | undefined): void;
  /** Moves the run's clock. */
  pass(seconds: number): void;
}

/** The counts of a run that has sent nothing. */
export const NO_PROGRESS = {
  ...{ sentCount: 0, completedCount: 0, failedCount: 0, cancelledCount: 0 },
  ...{ outstanding: 0, openResponses: 0 },
};

/** Starts it, before its first level. @param tokenTotals see {@link RunProgress}. Default: no tokens are measured */
export function startFakeRun(plan: Plan, tokenTotals?: RunProgress["tokenTotals"]): FakeRun {
  let atNs = 1e9;
  const state = new RunState(plan, () => atNs);
  const records = new RecordColumns((columns, count) => state.onBatch(columns, count));
  const progress = { ...NO_PROGRESS };
  state.onProgress({ counts: () => progress, drainRecords: () => records.drain(), tokenTotals });
  state.onPrepared(makePrepared(plan));
  return {
    state,
    pass: (seconds) => {
      atNs += seconds * 1e9;
    },
    end: (latencyMs) => {
      const { row } = records;
      records.sendStartNs[row] = atNs - (latencyMs ?? 1) * 1e6;
      records.firstByteNs[row] = records.sendStartNs[row] as number;
      records.endNs[row] = atNs;
      records.overNs[row] = atNs;
      records.responseCount[row] = 1;
      records.flags[row] = latencyMs === undefined ? RECORD_FAILED : 0;
      records.commit();
      progress.sentCount++;
      if (latencyMs === undefined) progress.failedCount++;
      else progress.completedCount++;
    },
  };
}
