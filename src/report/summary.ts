import type { VerdictState } from "../measure/limits/verdict-state.ts";
import { formatMetric } from "../measure/metrics/metric-text.ts";
import { tokenWarnings } from "../measure/tokens/token-warnings.ts";
import type { Plan } from "../plan/plan.ts";
import { describeLevel } from "../registry/load-modes.ts";
import { throughputUnitOf } from "../registry/service-kinds.ts";
import { isFarBehind } from "../result/judged-levels.ts";
import type { FindMaxResult, LevelResult, RunResult } from "../result/run-result.ts";
import { describeLevelNotes } from "./level-notes.ts";
import { describeUndelivered } from "./load-delivery.ts";
import { describeRepeats } from "./load-notes.ts";
import { formatRange } from "./rampart/confidence-notes.ts";
import { answerOf, answerOverRuns } from "./rampart/find-max.ts";
import { warnOfResends } from "./resend-note.ts";
import { judgeChecks } from "./run-verdicts.ts";
import type { AssertionJson, ReportJson } from "./schema/report-schema.ts";

/** What a run means, in words: for reports that begin with the verdict. All values are those of the JSON report. */

/** How a run ended: the worst of what happened. */
export type VerdictName = "failed" | "partial" | "unresolved" | "passed" | "measured";

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
    ...json.assertions.map((assertion, index) => judgedAssertion(plan, assertion, index)),
    ...judgeChecks(plan, runs).map(({ state, text, measured }) => ({ state, text, measured, limit: "" })),
  ];
  const errors = runs.flatMap(({ error }) => error?.message ?? []);
  const { verdict, headline } = judgeWhole(plan, runs, json, assertions);
  const general = [...runs.flatMap(({ prepared }) => prepared.warnings), ...warned, ...errors];
  const repeats = runs.flatMap((run) => [describeRepeats(run) ?? [], warnOfResends(run) ?? []].flat());
  return {
    verdict,
    headline,
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

/** Returns how the runs ended, and the sentence that says it first. Agrees with the exit code. */
function judgeWhole(
  plan: Plan,
  runs: readonly RunResult[],
  json: ReportJson,
  assertions: readonly JudgedAssertion[],
): Pick<RunSummary, "verdict" | "headline"> {
  const levels = runs.flatMap((run) => run.levels);
  const missed = countStates(assertions, "fail");
  const open = countStates(assertions, "unresolved");
  const errors = runs.flatMap(({ error }) => error?.message ?? []);
  const unstable = levels.filter(({ outcome }) => outcome === "unstable");
  const isImprecise = "runs" in json && json.repeat.until?.["isReached"] === false;
  const answers = runs.flatMap(({ findMax }) => findMax ?? []);
  const [only] = answers;
  const single = only === undefined ? "" : answerOf(plan, only);
  const answer = runs.length > 1 ? (answerOverRuns(plan, { runs }) ?? "") : single;
  const mlperf = levels.flatMap((level) => level.mlperf ?? []);
  // Without a load that was found there is nothing to judge.
  const isUnjudged = ({ highest, isResolved }: FindMaxResult): boolean =>
    !isResolved && (highest === undefined || runs.length > 1);
  if (!json.isPartial && answers.length > 0 && answers.every(isUnjudged))
    return { verdict: "unresolved", headline: `${answer}; UNRESOLVED` };
  if (missed > 0) return { verdict: "failed", headline: `${missed} of ${assertions.length} assertions failed` };
  if (mlperf.some(({ isValid }) => !isValid))
    return { verdict: "failed", headline: "the rules of MLPerf are not kept" };
  if (json.isPartial)
    return {
      verdict: "partial",
      headline: errors.length > 0 ? `the run ended early: ${errors.join("; ")}` : "the run was interrupted",
    };
  if (answers.some(({ highest, isResolved }) => highest === undefined && isResolved))
    return { verdict: "failed", headline: answer };
  if (answers.some(({ isResolved }) => !isResolved))
    return { verdict: "unresolved", headline: `${answer}; UNRESOLVED, it may be higher` };
  if (unstable.length > 0) {
    const names = [...new Set(unstable.map((level) => nameOfLevel(plan, level)))].join(", ");
    return { verdict: "unresolved", headline: `not stable: ${names}` };
  }
  const behind = answers.length > 0 ? [] : levels.filter(isFarBehind);
  if (behind.length > 0) {
    const names = [...new Set(behind.map((level) => nameOfLevel(plan, level)))].join(", ");
    return { verdict: "unresolved", headline: `the client could not send the load asked for: ${names}` };
  }
  if (open > 0) return { verdict: "unresolved", headline: `${open} of ${assertions.length} assertions unresolved` };
  if (isImprecise) return { verdict: "unresolved", headline: "the runs together are not as precise as asked for" };
  const held = assertions.length === 1 ? "the assertion holds" : `the ${assertions.length} assertions hold`;
  const found = [answer, mlperf.length > 0 ? "MLPerf: VALID" : ""].filter((text) => text !== "");
  if (assertions.length > 0) return { verdict: "passed", headline: [...found, held].join("; ") };
  if (found.length > 0) return { verdict: "passed", headline: found.join("; ") };
  return { verdict: "measured", headline: "measured; the plan has no assertions" };
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

function countStates(assertions: readonly JudgedAssertion[], state: VerdictState): number {
  return assertions.filter((assertion) => assertion.state === state).length;
}

function judgedAssertion(plan: Plan, json: AssertionJson, index: number): JudgedAssertion {
  const metric = plan.assertions[index]?.metric;
  const unit = throughputUnitOf(plan.target);
  const format = (value: number): string => (metric === undefined ? String(value) : formatMetric(metric, value, unit));
  const { state, text, reason, low = null, high = null, runs, runsMet } = json;
  const where = json.level === undefined ? "" : ` at ${describeLevel(plan.load, json.level, json.phase)}`;
  const limit = format(json.limit);
  if (json.measured === undefined) return { state, text, measured: `${reason ?? "nothing measured"}${where}`, limit };
  const range = low === null || high === null ? "" : ` (${formatRange(format(low), format(high))})`;
  const over = runs === undefined ? "" : `, ${runsMet ?? 0} of ${runs} runs`;
  const ended = json.endedRun === true ? ", which ended the run" : "";
  const why = reason === undefined ? "" : `: ${reason}`;
  return { state, text, measured: `${format(json.measured)}${range}${where}${over}${ended}${why}`, limit };
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
