import { judgePhases, type PhaseVerdict } from "../measure/phase-verdicts.ts";
import { judge, judgeRuns, type RunsVerdict, type Verdict } from "../measure/verdicts.ts";
import { hasTags, type Tags } from "../plan/groups/tags.ts";
import type { Plan } from "../plan/plan.ts";
import { countOf, plural } from "../plan/units.ts";
import { describeLevel } from "../registry/level-names.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { shownUnitOf } from "../registry/mix.ts";
import { EXIT, exitCodeOf, hasOnlyFailures } from "../result/exit-codes.ts";
import {
  isFarBehind,
  judgedInRuns,
  judgedLevels,
  levelsAsIfFailed,
  measuredLevels,
  unansweredCount,
  whyUnjudged,
} from "../result/judged-levels.ts";
import { completeRuns, type RepeatedResult } from "../result/repeated-result.ts";
import type { FindMaxResult, LevelResult, RunResult } from "../result/run-result.ts";
import { describeAssertion } from "./assertion-text.ts";
import { highestOverRuns } from "./json/over-runs.ts";
import type { VerdictName } from "./model/report-model.ts";
import { answerOf, answerOverRuns } from "./model/search-answer.ts";
import { countJudged, describeUnmeasured } from "./model/values.ts";
import { UNSENT_LOAD } from "./notes/load-delivery.ts";
import { type ReasonJson, worstFirst } from "./schema/report-schema.ts";

/** The only verdict on the runs of a plan. */

/** Verdict on the runs of a plan, or on a comparison. The exit code, JSON and all other reports use it. */
export interface ReportVerdict {
  readonly name: VerdictName;
  /** One sentence with the reason, without a full stop. */
  readonly headline: string;
  /** Reasons why they did not pass, most severe first; empty if they passed. */
  readonly reasons: readonly ReasonJson[];
  /** Exit code of Rampart's native commands. A run that ended early has the code of its end, whatever else failed. */
  readonly exitCode: number;
}

/** A group of reasons of one kind, with the sentence for the headline. */
interface Finding {
  readonly state: ReasonJson["state"];
  readonly code: string;
  readonly headline: string;
  /** One text for each reason. Default: the headline */
  readonly texts?: readonly string[];
}

const NAMES: Readonly<Record<ReasonJson["state"], VerdictName>> = {
  fail: "failed",
  partial: "partial",
  unresolved: "unresolved",
};

/** Judges a run, or all runs of a repeated plan. The verdict is that the run ended early, or the worst of the findings. */
export function judgeRun(plan: Plan, whole: RunResult | RepeatedResult): ReportVerdict {
  const repeated = "runs" in whole ? whole : { runs: [whole] };
  const { runs } = repeated;
  const assertions = "runs" in whole ? judgeRepeated(plan, whole) : judgeAssertions(plan, whole);
  const judged = [
    ...assertions.map((verdict) => ({
      state: verdict.state,
      text: `${verdict.text}: ${describeAssertion(plan, verdict, runs).measured}`,
    })),
    ...judgeChecks(plan, runs).map(({ state, text, measured }) => ({ state, text: `${text}: ${measured}` })),
  ];
  const findings = [
    ...findEarlyEnd(runs),
    ...findSearch(plan, repeated),
    ...findJudged(judged, "fail"),
    ...findLoad(plan, runs),
    ...findJudged(judged, "unresolved"),
    ...(repeated.precision?.isReached === false ? [IMPRECISE] : []),
  ];
  const sorted = worstFirst(findings);
  const reasons = sorted.flatMap(({ state, code, headline, texts = [headline] }) =>
    texts.map((text) => ({ state, code, text })),
  );
  // An early end determines the exit code, whatever was asserted.
  const worst = sorted.find(({ code }) => code === ENDED_EARLY) ?? sorted[0];
  const exitCode = exitCodeOfRuns(runs, sorted);
  if (worst === undefined) return { ...praise(plan, repeated, judged.length), reasons, exitCode };
  return { name: NAMES[worst.state], headline: worst.headline, reasons, exitCode };
}

const ENDED_EARLY = "ended-early";

const IMPRECISE: Finding = {
  state: "unresolved",
  code: "precision",
  headline: "the runs together are not as precise as asked for",
};

/** Returns the exit code of a run that ended early, else 65 if anything failed, 69 without a success, 66 if unresolved. */
function exitCodeOfRuns(runs: readonly RunResult[], findings: readonly Finding[]): number {
  const ended = runs.find(hasEndedEarly);
  if (ended !== undefined) return ended.error === undefined ? EXIT.interrupted : exitCodeOf(ended.error.code);
  if (findings.some(({ state, code }) => state === "fail" && code !== "only-failures")) return EXIT.assertionFailed;
  if (runs.some(hasOnlyFailures)) return EXIT.unreachable;
  return findings.length > 0 ? EXIT.unstable : EXIT.passed;
}

/** Returns the verdict on runs without a reason against them. */
function praise(plan: Plan, repeated: RepeatedResult, judgedCount: number): Pick<ReportVerdict, "name" | "headline"> {
  const hasMlperf = repeated.runs.some(({ levels }) => levels.some(({ mlperf }) => mlperf !== undefined));
  const held = plural(judgedCount, "the assertion holds", `the ${judgedCount} assertions hold`);
  const parts = [
    ...(answerOfRuns(plan, repeated) ?? []),
    ...(hasMlperf ? ["MLPerf: VALID"] : []),
    ...(judgedCount > 0 ? [held] : []),
  ];
  if (parts.length === 0) return { name: "measured", headline: "measured; the plan has no assertions" };
  return { name: "passed", headline: parts.join("; ") };
}

function findJudged(
  judged: readonly { readonly state: string; readonly text: string }[],
  state: "fail" | "unresolved",
): Finding[] {
  const texts = judged.filter((one) => one.state === state).map(({ text }) => text);
  if (texts.length === 0) return [];
  const what = state === "fail" ? "failed" : "is unresolved";
  return [{ state, code: "assertion", headline: countJudged(texts.length, judged.length, "assertion", what), texts }];
}

function findEarlyEnd(runs: readonly RunResult[]): Finding[] {
  const only = runs.filter(hasOnlyFailures);
  const findings: Finding[] = [];
  if (runs.some(hasEndedEarly)) {
    const errors = runs.flatMap(({ error }) => error ?? []);
    const messages = errors.map(({ message }) => message).join("; ");
    // An assertion that ended the run has failed, and the error's message already says so.
    const isBroken = errors.length > 0 && errors.every(({ code }) => code === "assertion-failed");
    const early = errors.length > 0 ? `the run ended early: ${messages}` : "the run was interrupted";
    findings.push({
      state: isBroken ? "fail" : "partial",
      code: ENDED_EARLY,
      headline: isBroken ? messages : early,
    });
  } else if (only.length > 0) {
    findings.push({ state: "fail", code: "only-failures", headline: describeOnlyFailures(only) });
  }
  return findings;
}

/** Describes runs in which all measured requests failed. If requests outside of the measured time completed, only measured ones are counted. */
function describeOnlyFailures(runs: readonly RunResult[]): string {
  const failed = runs.reduce((sum, { failedCount }) => sum + failedCount, 0);
  const windows = runs.flatMap(({ levels }) => levels.map(({ window }) => window));
  const measured = windows.reduce((sum, { failedCount }) => sum + failedCount, 0);
  const example = runs[0]?.failures[0]?.example ?? "";
  if (runs.some(({ completedCount }) => completedCount > 0)) {
    const all = plural(measured, "the only measured request", `all ${countOf(measured, "measured request")}`);
    return `${all} failed${example === "" ? "" : `: ${example}`}`;
  }
  const outside = describeUnmeasured(failed, measured);
  return `${plural(failed, "the only request", `all ${countOf(failed, "request")}`)} failed${outside === "" ? "" : `, ${outside}`}${example === "" ? "" : `: ${example}`}`;
}

/** Returns the result of a search as a list of one sentence; undefined for other loads. */
function answerOfRuns(plan: Plan, repeated: RepeatedResult): [string] | undefined {
  const [first, second] = repeated.runs;
  if (first?.findMax === undefined) return undefined;
  const found = second === undefined ? undefined : highestOverRuns(repeated);
  return [found === undefined ? answerOf(plan, first.findMax) : answerOverRuns(plan, found, repeated.runs.length)];
}

function findSearch(plan: Plan, repeated: RepeatedResult): Finding[] {
  const { runs } = repeated;
  const answers = runs.flatMap(({ findMax }) => findMax ?? []);
  const [answer] = answerOfRuns(plan, repeated) ?? [];
  if (answer === undefined) return [];
  const states = answers.map(stateOfSearch);
  if (states.includes("fail")) return [{ state: "fail", code: "search", headline: answer }];
  if (!states.includes("unresolved")) return [];
  // If no load was found, there is nothing to judge.
  const isUnjudged = ({ highest, isResolved }: FindMaxResult): boolean =>
    !isResolved && (highest === undefined || runs.length > 1);
  const doubt = answers.every(isUnjudged) ? "" : "; it may be higher";
  return [{ state: "unresolved", code: "search", headline: `${answer}${doubt}` }];
}

/** Judges the result of a search: it fails if it is certain that no load keeps the limits. */
function stateOfSearch({ highest, isResolved }: FindMaxResult): Verdict["state"] {
  if (!isResolved) return "unresolved";
  return highest === undefined ? "fail" : "pass";
}

/** Returns findings about the load itself: rules of MLPerf, stability, and whether it was sent. */
function findLoad(plan: Plan, runs: readonly RunResult[]): Finding[] {
  const levels = runs.flatMap((run) => run.levels);
  const broken = levels.flatMap(({ mlperf }) => (mlperf?.isValid === false ? mlperf.broken : []));
  const unstable = levels.filter(({ outcome }) => outcome === "unstable");
  const behind = runs.some(({ findMax }) => findMax !== undefined) ? [] : levels.filter(isFarBehind);
  const name = ({ level, phase }: LevelResult): string => describeLevel(plan, level, phase?.index);
  const naming = (found: readonly LevelResult[]): string => [...new Set(found.map(name))].join(", ");
  const unsent = `the client could not send the load asked for: ${naming(behind)}`;
  const findings: readonly (readonly [count: number, finding: Finding])[] = [
    [broken.length, { state: "fail", code: "mlperf", headline: "the rules of MLPerf are not kept", texts: broken }],
    [unstable.length, { state: "unresolved", code: "unstable", headline: `not stable: ${naming(unstable)}` }],
    [behind.length, { state: "unresolved", code: UNSENT_LOAD, headline: unsent }],
  ];
  return findings.flatMap(([count, finding]) => (count === 0 ? [] : [finding]));
}

/** Judges the assertions and checks of a plan's runs. */

/** Judges the assertions of a run. */
export function judgeAssertions(plan: Plan, result: RunResult): Verdict[] {
  const { target, assertions } = plan;
  const unjudged = whyUnjudged(result);
  const unit = shownUnitOf(plan);
  return assertions.map((assertion, index) => {
    const judgeAt = (levels: readonly LevelResult[]): Verdict => judge(assertion, levels, target.batchSize, unit);
    const verdict = judgeAt(judgedLevels(result));
    if (unjudged !== undefined)
      return { ...verdict, state: "unresolved", measured: undefined, reason: unjudged, needed: undefined };
    const doubted = withUnanswered(verdict, [result], () => judgeAt(levelsAsIfFailed(result)));
    return withEarlyEnd(doubted, index, [result]);
  });
}

/** Judges the assertions of a repeated plan on the mean over its complete runs. Without a complete run, all are unresolved. */
export function judgeRepeated(plan: Plan, repeated: RepeatedResult): RunsVerdict[] {
  const complete = completeRuns(repeated);
  const unit = shownUnitOf(plan);
  return plan.assertions.map((assertion, index) => {
    const judgeAt = ({ runs, identify }: ReturnType<typeof judgedInRuns>): RunsVerdict =>
      judgeRuns(assertion, runs, plan.target.batchSize, unit, identify);
    const verdict = judgeAt(judgedInRuns(complete));
    const doubted = withUnanswered(verdict, complete, () => judgeAt(judgedInRuns(complete, levelsAsIfFailed)));
    return withEarlyEnd(doubted, index, repeated.runs);
  });
}

/** Returns the assertions that more requests would decide. */
export function openVerdicts(plan: Plan, runs: readonly RunResult[]): Verdict[] {
  const [run, ...others] = runs;
  if (run === undefined) return [];
  const verdicts = others.length === 0 ? judgeAssertions(plan, run) : judgeRepeated(plan, { runs });
  return verdicts.filter(({ state, needed }) => state === "unresolved" && needed !== undefined);
}

/**
 * Makes a passed verdict unresolved if it would not pass with the requests without a response at the end counted as failed. Those
 * took longer than any other.
 * @param judgeFailed judges it as if these requests had failed
 */
function withUnanswered<V extends Verdict>(verdict: V, runs: readonly RunResult[], judgeFailed: () => Verdict): V {
  const { where } = verdict.assertion;
  const isOne = where && ((tags: Tags) => hasTags(tags, where));
  const count = runs.reduce((sum, run) => sum + unansweredCount(run, isOne), 0);
  if (verdict.state !== "pass" || count === 0) return verdict;
  if (verdict.assertion.metric.statistic !== "max" && judgeFailed().state === "pass") return verdict;
  const reason = `${countOf(count, "request")} had no response when the run ended`;
  return { ...verdict, state: "unresolved", reason, needed: undefined };
}

/** An assertion that ended a run fails. Others cannot pass then, because the rest of the run is unknown. */
function withEarlyEnd<V extends Verdict>(verdict: V, index: number, runs: readonly RunResult[]): V {
  const aborted = runs.flatMap((run) => run.aborted ?? []).find(({ assertionIndex }) => assertionIndex === index);
  if (aborted !== undefined) {
    const { assertion, text } = verdict;
    const place = { level: undefined, phaseIndex: undefined, reason: undefined };
    return { ...verdict, ...place, assertion, text, state: "fail", measured: aborted.measured, endedRun: true };
  }
  if (verdict.state !== "pass" || !runs.some(hasEndedEarly)) return verdict;
  return { ...verdict, state: "unresolved", reason: "the run ended early", needed: undefined };
}

function hasEndedEarly({ isInterrupted, error }: RunResult): boolean {
  return isInterrupted || error !== undefined;
}

/** Evaluates the checks of a plan's phases; empty if the load has none. */
export function verdictsOfPhases({ load }: Plan, levels: readonly LevelResult[]): PhaseVerdict[] {
  return judgePhases(loadModeOf(load).phases?.(load) ?? [], levels);
}

/** Returns the checks of the phases of each run, for example whether a soak test drifted. */
function judgeChecks(plan: Plan, runs: readonly RunResult[]): PhaseVerdict[] {
  return runs.flatMap((run, index) =>
    verdictsOfPhases(plan, measuredLevels(run)).map((verdict) =>
      runs.length === 1 ? verdict : { ...verdict, text: `run ${index + 1}: ${verdict.text}` },
    ),
  );
}
