import type { VerdictState } from "../measure/limits/verdict-state.ts";
import type { Plan } from "../plan/plan.ts";
import { buildRunModel } from "./model/build-model.ts";
import type { VerdictName } from "./model/report-model.ts";
import { nameLevel } from "./model/report-view.ts";
import type { ReportJson } from "./schema/report-schema.ts";

/** What a run means, in words, for the page. */

/** An assertion with its result. */
export interface JudgedAssertion {
  readonly state: VerdictState;
  /** `p99 latency below 25 ms`. */
  readonly text: string;
  /** `31.2 ms at concurrency 8`, and why it is unresolved. */
  readonly measured: string;
}

/** A sentence about a level, without a full stop. */
export interface LevelWarning {
  /** The level's name, after that of its run where there are several; undefined when the sentence is about the run. */
  readonly level: string | undefined;
  readonly text: string;
}

/** A run in words. */
export interface RunSummary {
  readonly verdict: VerdictName;
  /** One sentence. */
  readonly headline: string;
  readonly assertions: readonly JudgedAssertion[];
  readonly warnings: readonly LevelWarning[];
}

/** Sums up runs of one plan. */
export function summarizeRuns(plan: Plan, json: ReportJson): RunSummary {
  const { verdict, checks, notes } = buildRunModel(plan, json);
  const headline =
    verdict.headline === ""
      ? checks.length === 0
        ? "measured; nothing is asserted"
        : "all checks passed"
      : verdict.headline;
  return {
    verdict: verdict.name,
    headline,
    assertions: checks,
    warnings: notes.map(({ text }) => ({ level: undefined, text: text.replace(/\.$/, "") })),
  };
}

/** Returns the name of a level, with its phase. */
export const nameOfLevel = nameLevel;
