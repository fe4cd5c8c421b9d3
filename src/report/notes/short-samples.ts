import type { SeriesShape } from "../../measure/intervals/series-shape.ts";
import { formatNiceTime, type RequestsNeeded, SEC_PER_HOUR } from "../../measure/limits/requests-needed.ts";
import { metricKey, metricText } from "../../measure/metrics/metric-text.ts";
import { effectiveCountOf, shapeOfSketch } from "../../measure/sketch.ts";
import { judge, type Verdict } from "../../measure/verdicts.ts";
import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, formatPct, NS_PER_SEC, nsToSec, secToNs } from "../../plan/units.ts";
import { phaseOf } from "../../registry/load-modes.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { quantityOfMetric, withSign } from "../model/values.ts";
import type { Finding } from "./load-notes.ts";

/** Notes on samples that are too small to decide their assertions, with the required measurement time. */

/** Weight above any factor by which a measurement is too short, so that the note has the number that the check asks for. */
const OF_CHECK = 1e6;

/**
 * Returns the needs of the open assertions on times at this level: the number of requests that their checks ask for.
 * @param whole the plan of the run
 * @param open the verdicts of the report that more requests would decide
 * @param isOnly whether it is the only level
 */
export function findShortSamples(
  whole: Plan,
  plan: Plan,
  result: LevelResult,
  open: readonly Verdict[],
  isOnly: boolean,
): Finding<Text>[] {
  const { window, outcome } = result;
  // A level that ended early is short for another reason. A search measures until its limits are decided.
  if (outcome === "partial" || window.durationNs <= 0 || result.limits !== undefined) return [];
  const short = open.flatMap((verdict) => {
    const { metric, where } = verdict.assertion;
    if (where !== undefined || quantityOfMetric(metric) !== "time") return [];
    const { needed } = judge(verdict.assertion, [result], whole.target.batchSize);
    // Several runs are judged together.
    const ofCheck = "runCount" in verdict ? verdict.needed : needed;
    return needed === undefined || ofCheck === undefined ? [] : [{ verdict, ...ofCheck }];
  });
  // If a sample is too small by its number alone, its shape is not the reason for doubt.
  const shape = findShape(
    result,
    short.some(({ isFew }) => !isFew),
    phaseOf(whole, result.phase?.index)?.drift !== undefined,
  );
  const tooShort = short.map(({ verdict, count, needed }): Finding<Text> => {
    const name = metricText(verdict.assertion.metric);
    const factor = needed / count;
    const span = `${formatTenths(window.durationNs)}${isOnly ? "" : " per level"}`;
    // The result of the assertion has the reason and the numbers of requests.
    const texts = [`${span} is short for ${name}`, adviseLonger(plan, window.durationNs, { count, needed })];
    const metric = metricKey(verdict.assertion.metric);
    const weight = Math.min(factor, OF_CHECK) + (needed === verdict.needed?.needed ? OF_CHECK : 0);
    return { code: "short-sample", severity: "caution", metric, texts, kind: `short ${metric}`, weight };
  });
  return shape === undefined ? tooShort : [shape, ...tooShort];
}

/** Samples whose effective size is above this ratio of their number are sufficient, whatever their shape. */
const WORTH_RATIO = 0.5;

const WARM_UP = "Warm up first";
const SETTLE = `${WARM_UP}; a drift that remains is the server's`;

/**
 * Reports one burst, a slow start or a drift of the latency, which a longer measurement does not correct; undefined if there is
 * none.
 * @param isDriftJudged whether an assertion already reports the drift
 */
function findShape({ window }: LevelResult, isInDoubt: boolean, isDriftJudged: boolean): Finding | undefined {
  const { latency, startNs } = window;
  if (latency.count === 0 || effectiveCountOf(latency) >= WORTH_RATIO * latency.count) return undefined;
  const shape = shapeOfSketch(latency);
  const text = describeShape(shape, startNs);
  if (text === undefined || (shape.kind === "drift" && isDriftJudged)) return undefined;
  const when = timeOfShape(shape, startNs);
  const remedy = shape.kind === "burst" ? [] : [shape.kind === "start-up" ? WARM_UP : SETTLE];
  return {
    code: shape.kind,
    severity: isInDoubt ? "caution" : "detail",
    metric: "latency",
    when,
    texts: [`latency had ${text}`, ...remedy],
  };
}

/** A burst with a smaller factor is not worth a number. */
const LEAST_FACTOR = 1.1;

/** Describes a burst, a slow start or a drift, with size and time: `one burst of 12 times the rest`; undefined: none. */
export function describeShape(shape: SeriesShape, startNs: number): string | undefined {
  if (shape.kind === "steady" || shape.kind === "correlated") return undefined;
  if (shape.kind === "drift")
    return `a drift of ${withSign(shape.ratio, formatPct(Math.abs(shape.ratio), 2))} from the first to the last fifth`;
  if (Math.max(shape.factor, 1 / shape.factor) < LEAST_FACTOR) return undefined;
  const size = `${Number(shape.factor.toPrecision(2))} times the rest`;
  const time = timeOfShape(shape, startNs);
  if (shape.kind === "start-up")
    return `a ${shape.factor > 1 ? "slow" : "fast"} start of ${size}${time === undefined ? "" : ` ${time}`}`;
  return `one burst${time === undefined ? "" : ` ${time},`} of ${size}`;
}

/** Returns the time of a burst or a slow start; undefined if unknown. */
function timeOfShape(shape: SeriesShape, startNs: number): string | undefined {
  if (shape.kind !== "burst" && shape.kind !== "start-up") return undefined;
  const [from, to] = [shape.startNs, shape.endNs].map((ns) =>
    ns === undefined ? undefined : Math.max(0, ns - startNs),
  );
  if (from === undefined || to === undefined) return undefined;
  if (shape.kind === "start-up") return `in the first ${formatDurationNs(to)}`;
  return `${formatDurationNs(from)} after the start, ${formatDurationNs(to - from)} long`;
}

/** Formats a duration, with tenths of seconds. */
function formatTenths(ns: number): string {
  return formatDurationNs(ns < NS_PER_SEC ? ns : secToNs(Number(nsToSec(ns).toFixed(1))));
}

/** Describes how to measure the required number of requests. A sentence without a full stop. */
function adviseLonger(
  plan: Plan,
  durationNs: number,
  { count, needed }: Pick<RequestsNeeded, "count" | "needed">,
): Text {
  const { mode } = plan.measurement;
  const isOwn = plan.outputs.style === "rampart";
  if (mode.kind === "requests" && mode.count !== null)
    return isOwn ? { say: "measure-requests", needed } : `Send ${formatCount(needed)} requests`;
  const wanted = (nsToSec(durationNs) * needed) / count;
  if (wanted > SEC_PER_HOUR) return "That takes hours: assert a lower percentile";
  const time = formatNiceTime(wanted);
  return isOwn ? { say: "measure-for", time } : `Measure for ${time}`;
}
