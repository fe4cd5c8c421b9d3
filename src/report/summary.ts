import { LEVEL_UNITS } from "../load/level-units.ts";
import { clientLagOf, explainLag, reportedTimes } from "../measure/client-lag.ts";
import { describeRemedy, explainInstability } from "../measure/instability.ts";
import { saturationReason } from "../measure/metrics.ts";
import { explainShortfall } from "../measure/rate-shortfall.ts";
import { tokenWarnings } from "../measure/tokens/token-warnings.ts";
import { formatMetric } from "../measure/verdicts.ts";
import type { Plan } from "../plan/plan.ts";
import { describeLevel, planOfPhase } from "../registry/load-modes.ts";
import { tokensPlanOf } from "../registry/mix.ts";
import { targetKindOf } from "../registry/service-kinds.ts";
import { measuredLevels } from "../result/judged-levels.ts";
import type { LevelResult, RunResult } from "../result/run-result.ts";
import { describeUndelivered } from "./load-delivery.ts";
import { describeLoadNotes, describeRepeats } from "./load-notes.ts";
import { formatRange } from "./rampart/confidence-notes.ts";
import { verdictsOfPhases } from "./rampart/phases.ts";
import { askedRate, scheduledRate } from "./scheduled-rate.ts";
import type { AssertionJson, ReportJson } from "./schema/report-schema.ts";

/** What a run means, in words: for reports that begin with the verdict. All values are those of the JSON report. */

/** How a run ended: the worst of what happened. */
export type VerdictName = "failed" | "partial" | "unstable" | "passed" | "measured";

/** An assertion with its result. */
export interface JudgedAssertion {
  readonly isMet: boolean;
  /** `p99 latency below 25 ms`. */
  readonly text: string;
  /** `31.2 ms at concurrency 8`. */
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
    ...runs.flatMap((run, index) => phaseChecks(plan, run, runs.length > 1 ? `run ${index + 1}: ` : "")),
  ];
  const levels = runs.flatMap((run) => run.levels);
  const brokenRules = levels.filter(({ mlperf }) => mlperf?.isValid === false).length;
  const missed = assertions.filter(({ isMet }) => !isMet).length;
  const unstable = levels.filter(({ outcome }) => outcome === "unstable");
  const isImprecise = "runs" in json && json.repeat.until?.["isReached"] === false;
  const verdict: VerdictName =
    missed + brokenRules > 0
      ? "failed"
      : json.isPartial
        ? "partial"
        : unstable.length > 0 || isImprecise
          ? "unstable"
          : assertions.length > 0
            ? "passed"
            : "measured";
  const errors = runs.flatMap(({ error }) => (error === undefined ? [] : [error.message]));
  const headline: Readonly<Record<VerdictName, string>> = {
    failed: missed > 0 ? `${missed} of ${assertions.length} assertions failed` : "the rules of MLPerf are not kept",
    partial: errors.length > 0 ? `the run ended early: ${errors.join("; ")}` : "the run was interrupted",
    unstable:
      isImprecise && unstable.length === 0
        ? "the runs together are not as precise as asked for"
        : `not stable: ${[...new Set(unstable.map((level) => nameOfLevel(plan, level)))].join(", ")}`,
    passed: assertions.length === 1 ? "the assertion holds" : `the ${assertions.length} assertions hold`,
    measured: "measured; the plan has no assertions",
  };
  const general = [...runs.flatMap(({ prepared }) => prepared.warnings), ...warned, ...errors];
  const repeats = runs.flatMap((run) => describeRepeats(run) ?? []);
  return {
    verdict,
    headline: headline[verdict],
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

/** Returns the checks of phases, such as whether a soak test drifted. */
function phaseChecks(plan: Plan, run: RunResult, prefix: string): JudgedAssertion[] {
  return verdictsOfPhases(plan, measuredLevels(run)).map(({ isMet, text, measured }) => ({
    isMet,
    text: `${prefix}${text}`,
    measured,
    limit: "",
  }));
}

function judgedAssertion(plan: Plan, json: AssertionJson, index: number): JudgedAssertion {
  const metric = plan.assertions[index]?.metric;
  const unit = targetKindOf(plan.target).throughputUnit;
  const format = (value: number): string => (metric === undefined ? String(value) : formatMetric(metric, value, unit));
  const measured = json.measured === undefined ? "nothing measured" : format(json.measured);
  const where = json.level === undefined ? "" : ` at ${describeLevel(plan.load, json.level, json.phase)}`;
  const { low = null, high = null, runs, runsMet } = json;
  const range = low === null || high === null ? "" : ` (${formatRange(format(low), format(high))})`;
  const over = runs === undefined ? "" : `, ${runsMet ?? 0} of ${runs} runs`;
  const ended = json.endedRun === true ? ", which ended the run" : "";
  const reason = json.reason === undefined ? "" : `: ${json.reason}`;
  const text = `${measured}${range}${where}${over}${ended}${reason}`;
  return { isMet: json.isMet, text: json.text, measured: text, limit: format(json.limit) };
}

/** Returns what makes the numbers of a level doubtful. */
function warningsOf(whole: Plan, { prepared }: RunResult, result: LevelResult, prefix: string): LevelWarning[] {
  const plan = planOfPhase(whole, result.phase?.index);
  const { window, level, instability, unit, tokens } = result;
  if (window.requestCount + window.failedCount === 0) return [];
  const texts: string[] = [];
  if (instability !== undefined) {
    const throughputUnit = targetKindOf(plan.target).throughputUnit ?? "infer/s";
    const { moved, cause, remedy } = explainInstability(instability, window, askedRate(plan, level), throughputUnit);
    texts.push(`not stable: ${moved}. ${cause}. ${describeRemedy(remedy, plan.measurement.mode)}`);
  }
  if (result.isLatencyUnstable) texts.push("only throughput is stable, latency is not");
  if (result.mlperf !== undefined) texts.push(...result.mlperf.broken);
  if (LEVEL_UNITS[unit].isScheduled) {
    const shortfall = explainShortfall(window, scheduledRate({ ...prepared, plan }, level));
    if (shortfall !== undefined) texts.push(`${shortfall.achieved}: ${shortfall.cause}`);
  }
  const undelivered = describeUndelivered(plan, result);
  if (undelivered !== undefined) texts.push(undelivered);
  texts.push(...describeLoadNotes(plan, result));
  const reason = saturationReason(window);
  if (reason !== undefined) texts.push(`the client may have been the limit, not the server: ${reason}`);
  const isStreamed = tokensPlanOf(whole)?.isStreamed === true;
  const lag = explainLag(clientLagOf(window), reportedTimes(window, tokens, isStreamed));
  if (lag !== undefined) texts.push(lag);
  if (tokens !== undefined) texts.push(...tokenWarnings(tokens));
  return texts.map((text) => ({ level: `${prefix}${nameOfLevel(whole, result)}`, text }));
}
