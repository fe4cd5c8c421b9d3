import type { VerdictState } from "../measure/limits/verdict-state.ts";
import { tokenWarnings } from "../measure/tokens/token-warnings.ts";
import type { Plan } from "../plan/plan.ts";
import { describeLevel } from "../registry/load-modes.ts";
import type { LevelResult, RunResult } from "../result/run-result.ts";
import { describeLevelNotes } from "./level-notes.ts";
import { describeUndelivered } from "./load-delivery.ts";
import { describeRepeats } from "./load-notes.ts";
import type { VerdictName } from "./model/report-model.ts";
import { warnOfResends } from "./resend-note.ts";
import { judgeChecks } from "./run-verdicts.ts";
import type { ReportJson } from "./schema/report-schema.ts";

/** What a run means, in words: for reports that begin with the verdict. All values are those of the JSON report. */

/** An assertion with its result. */
export interface JudgedAssertion {
  readonly state: VerdictState;
  /** `p99 latency below 25 ms`. */
  readonly text: string;
  /** `31.2 ms at concurrency 8`, and why it is unresolved. */
  readonly measured: string;
  /** The limit with its unit. */
  readonly limit: string;
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

/** Sums up runs of one plan. @param warned warnings that were reported during the runs */
export function summarizeRuns(
  plan: Plan,
  runs: readonly RunResult[],
  json: ReportJson,
  warned: readonly string[] = [],
): RunSummary {
  const assertions = [
    ...json.assertions.map(({ state, text, measuredText, limitText }) => ({
      state,
      text,
      measured: measuredText,
      limit: limitText,
    })),
    ...judgeChecks(plan, runs).map(({ state, text, measured }) => ({ state, text, measured, limit: "" })),
  ];
  const errors = runs.flatMap(({ error }) => error?.message ?? []);
  const general = [...runs.flatMap(({ prepared }) => prepared.warnings), ...warned, ...errors];
  const repeats = runs.flatMap((run) => [describeRepeats(run) ?? [], warnOfResends(run) ?? []].flat());
  return {
    verdict: json.verdict.name,
    headline: json.verdict.headline,
    assertions,
    warnings: [
      ...[...new Set([...general, ...repeats])].map((text) => ({ level: undefined, text })),
      ...runs.flatMap((run, index) => {
        const prefix = runs.length > 1 ? `run ${index + 1}: ` : "";
        return run.levels.flatMap((level) => warningsOf(plan, run, level, prefix));
      }),
    ],
  };
}

/** A level that has a name. */
interface NamedLevel {
  readonly level: number;
  readonly phase?: { readonly index: number } | undefined;
}

/** Returns the name of a level, with its phase. */
export function nameOfLevel({ load }: Plan, { level, phase }: NamedLevel): string {
  return describeLevel(load, level, phase?.index);
}

/** Returns what makes the numbers of a level doubtful. */
function warningsOf(whole: Plan, { prepared }: RunResult, result: LevelResult, prefix: string): LevelWarning[] {
  const { window, tokens } = result;
  if (window.requestCount + window.failedCount === 0) return [];
  const undelivered = describeUndelivered(whole, result);
  const texts = [
    ...describeLevelNotes(whole, prepared, result).map((note) => note.join(". ")),
    ...(result.mlperf?.broken ?? []),
    ...(undelivered === undefined ? [] : [undelivered]),
    ...(tokens === undefined ? [] : tokenWarnings(tokens)),
  ];
  return texts.map((text) => ({ level: `${prefix}${nameOfLevel(whole, result)}`, text }));
}
