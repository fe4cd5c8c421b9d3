import { alignLevels, identifyLevel, type LevelPlace } from "../load/level-identity.ts";
import type { AssertionPlan } from "../plan/assertions.ts";
import { describeTags, PHASE_TAG, type Tags } from "../plan/groups/tags.ts";
import { defined } from "../plan/objects.ts";
import { DEFAULT_THROUGHPUT_UNIT } from "../service/service.ts";
import { type Interval, UNKNOWN } from "./intervals/certainty.ts";
import { combineRuns, type OverRuns } from "./intervals/over-runs.ts";
import { judgeOver, judgePart, type PartVerdict } from "./limits/judge-part.ts";
import { metricOf } from "./metrics/catalogue.ts";
import type { MeasuredPart } from "./metrics/metric.ts";
import { formatMetric, metricText } from "./metrics/metric-text.ts";
import { runValue } from "./metrics/read-metric.ts";
import { selectTags } from "./split-by-tag.ts";
import { compareStates, isUpperLimit, type VerdictState, worstState } from "./verdict-state.ts";

/** The measurement of one level. */
export interface JudgedLevel extends MeasuredPart, LevelPlace {}

/** Result of an assertion. It passes if it passes at every level. */
export interface Verdict {
  readonly assertion: AssertionPlan;
  readonly state: VerdictState;
  /** The level with the worst value; undefined without a measurement, or if it differs between runs. */
  readonly level: number | undefined;
  /** The phase of that level; absent if the load has no phases. */
  readonly phaseIndex?: number | undefined;
  /** The worst value: nanoseconds, a rate, a count or a ratio; undefined without a measurement. */
  readonly measured: number | undefined;
  /** Reason why it is unresolved, if known. */
  readonly reason?: string | undefined;
  /** Number of requests that would decide it at that level. Absent: see {@link PartVerdict} */
  readonly needed?: PartVerdict["needed"];
  /** Whether the assertion ended the run early. Then `measured` is the value over its last `abortAfterMs`. Default: false */
  readonly endedRun?: true;
  /** The assertion as text: `p99 latency < 25 ms`. */
  readonly text: string;
}

/** Result of an assertion over several runs: for the mean of the runs at each level, with its interval. */
export interface RunsVerdict extends Verdict, Interval {
  /** Number of runs, and number of runs in which the assertion passes by itself. */
  readonly runCount: number;
  readonly metCount: number;
}

/** A metric, of all requests or of those with certain tags or in certain phases. */
type Measure = Pick<AssertionPlan, "metric" | "where" | "phase">;

interface LevelInRuns extends Partial<LevelPlace> {
  /** Mean over the runs; undefined if one of them has no value. */
  readonly over: OverRuns | undefined;
  /** The judged part of each run; undefined if not measured. */
  readonly parts: readonly (MeasuredPart | undefined)[];
}

/** Combines a metric's values over runs at each of their levels. @param identify returns a key that is the same for a level in every run */
export function valuesOverRuns(
  measure: Measure,
  runs: readonly (readonly JudgedLevel[])[],
  batchSize: number,
  identify: (level: LevelPlace) => string = identifyLevel,
): LevelInRuns[] {
  const applicable = runs.map((levels) => applicableLevels(measure, levels));
  return alignLevels<JudgedLevel>(applicable, identify).map((results) => {
    const parts = results.map((result) => result && partOf(result, measure.where));
    const values = parts.flatMap((part) => (part && runValue(measure.metric, part, batchSize)) ?? []);
    const [first] = results.filter((result) => result !== undefined);
    const isSame = results.every((result) => result === undefined || result.level === first?.level);
    return {
      ...(first === undefined || !isSame ? {} : { level: first.level, phase: first.phase }),
      over: values.length < runs.length ? undefined : combineRuns(values),
      parts,
    };
  });
}

/**
 * Evaluates an assertion on the mean over runs, at all levels. A level that a run did not measure is unresolved.
 * @param unit of throughput
 * @param identify returns a key that is the same for a level in every run
 */
export function judgeRuns(
  assertion: AssertionPlan,
  runs: readonly (readonly JudgedLevel[])[],
  batchSize: number,
  unit: string = DEFAULT_THROUGHPUT_UNIT,
  identify: (level: LevelPlace) => string = identifyLevel,
): RunsVerdict {
  const found = valuesOverRuns(assertion, runs, batchSize, identify).map(({ level, phase, over, parts }) => {
    const judged =
      parts.length === 1 ? judgePart(assertion, parts[0], batchSize) : judgeOver(assertion, over, parts, batchSize);
    return { ...judged, value: over?.mean, level, phaseIndex: phase?.index, over };
  });
  const worst = worstOf(assertion, found)?.over;
  const metCount = runs.filter((levels) => judge(assertion, levels, batchSize, unit).state === "pass").length;
  return {
    ...toVerdict(assertion, found, unit),
    ...(worst === undefined ? UNKNOWN : { low: worst.low, high: worst.high }),
    runCount: runs.length,
    metCount,
  };
}

/** Evaluates an assertion at all levels. Unresolved without a measurement. @param unit of throughput */
export function judge(
  assertion: AssertionPlan,
  levels: readonly JudgedLevel[],
  batchSize: number,
  unit: string = DEFAULT_THROUGHPUT_UNIT,
): Verdict {
  const found = applicableLevels(assertion, levels).map((level) => ({
    ...judgePart(assertion, partOf(level, assertion.where), batchSize),
    level: level.level,
    phaseIndex: level.phase?.index,
  }));
  return toVerdict(assertion, found, unit);
}

/** The result of an assertion at a level. */
interface LevelVerdict extends PartVerdict {
  readonly level: number | undefined;
  readonly phaseIndex?: number | undefined;
}

/** Returns the level with the worst result, and among these one without a value, or with the worst value; undefined without levels. */
function worstOf<V extends LevelVerdict>(assertion: AssertionPlan, found: readonly V[]): V | undefined {
  const howBad = ({ value }: V): number =>
    value === undefined ? Number.MAX_VALUE : distanceBeyondLimit(assertion, value);
  return found.toSorted((a, b) => compareStates(a.state, b.state) || howBad(b) - howBad(a))[0];
}

function toVerdict(assertion: AssertionPlan, found: readonly LevelVerdict[], unit: string): Verdict {
  const worst = worstOf(assertion, found);
  return {
    assertion,
    state: found.length === 0 ? "unresolved" : worstState(found.map(({ state }) => state)),
    level: worst?.level,
    measured: worst?.value,
    ...defined({ phaseIndex: worst?.phaseIndex, reason: worst?.reason, needed: worst?.needed }),
    text: describe(assertion, unit),
  };
}

/** Returns the levels of the phase that an assertion names; all levels if it names none. */
export function levelsOfPhase<L extends LevelPlace>(
  { phase: name }: Pick<AssertionPlan, "phase">,
  levels: readonly L[],
): readonly L[] {
  return name === undefined ? levels : levels.filter(({ phase }) => phase?.label === name);
}

/** Phases without a schedule have no scheduled latency. */
function applicableLevels(measure: Measure, levels: readonly JudgedLevel[]): readonly JudgedLevel[] {
  const ofPhase = levelsOfPhase(measure, levels);
  if (metricOf(measure.metric).needs !== "schedule") return ofPhase;
  return ofPhase.filter(({ phase, window }) => phase === undefined || window.isScheduled);
}

/** Returns the judged part: the level, or its requests with certain tags; undefined if there are none. */
function partOf(level: JudgedLevel, where: Tags | undefined): MeasuredPart | undefined {
  return where === undefined ? level : selectTags(level.window, where);
}

function distanceBeyondLimit({ comparison, limit }: AssertionPlan, value: number): number {
  if (comparison === "is") return Math.abs(value - limit);
  return isUpperLimit(comparison) ? value - limit : limit - value;
}

const SIGNS: Readonly<Record<AssertionPlan["comparison"], string>> = {
  below: "<",
  "at-most": "≤",
  above: ">",
  "at-least": "≥",
  is: "=",
};

function describe(assertion: AssertionPlan, unit: string): string {
  const { metric, where, phase } = assertion;
  const tags = { ...(phase === undefined ? {} : { [PHASE_TAG]: phase }), ...where };
  const part = Object.keys(tags).length === 0 ? "" : ` where ${describeTags(tags)}`;
  return `${metricText(metric)}${part} ${describeLimit(assertion, unit)}`;
}

/** Describes the limit of an assertion: `< 50 ms`. @param unit of throughput */
export function describeLimit({ metric, comparison, limit }: AssertionPlan, unit: string): string {
  const name = metricText(metric);
  // The unit is part of the name: "output tokens/s > 20".
  const text = formatMetric(metric, limit, unit).replace(/ (\S+\/s)$/, (all, unitText: string) =>
    name.endsWith(unitText) ? "" : all,
  );
  return `${SIGNS[comparison]} ${text}`;
}
