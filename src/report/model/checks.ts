import { certaintyOf } from "../../measure/intervals/certainty.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import { formatMetric, metricText } from "../../measure/metrics/metric-text.ts";
import type { AssertionPlan } from "../../plan/assertions.ts";
import { describeTags } from "../../plan/groups/tags.ts";
import { formatCount, formatDurationNs, formatPct, msToNs } from "../../plan/units.ts";
import { inBaseUnit } from "../schema/read-metrics.ts";
import type { AssertionJson } from "../schema/report-schema.ts";
import type { Check } from "./report-model.ts";
import { nameLevel, ofRun, type ReportView } from "./report-view.ts";
import { formatMetricValue, joinEnds } from "./values.ts";

/** What was asserted or checked, with its results: assertions, checks of phases, rules of MLPerf. */

const SIGNS: Readonly<Record<AssertionPlan["comparison"], string>> = {
  below: "<",
  "at-most": "≤",
  above: ">",
  "at-least": "≥",
  is: "=",
};

/** Returns the checks of a report, in the order of the plan. */
export function checksOf(view: ReportView): Check[] {
  const { json, runs, levels } = view;
  const phases = runs.flatMap(({ name, json: run }) =>
    (run.phases ?? []).flatMap(({ checks }) =>
      checks.map(({ state, text, measured }) => ({ state, text: ofRun(name, text), measured })),
    ),
  );
  const mlperf = levels.flatMap(({ run, json: { mlperf: found } }): Check[] => {
    if (found === undefined) return [];
    const { scenario, isValid, broken } = found;
    const text = ofRun(run, `MLPerf ${scenario} is valid`);
    return [{ state: isValid ? "pass" : "fail", text, measured: isValid ? "VALID" : broken.join("; ") }];
  });
  return [...json.assertions.map((assertion, index) => toCheck(view, assertion, index)), ...phases, ...mlperf];
}

function toCheck(view: ReportView, json: AssertionJson, index: number): Check {
  const plan = view.plan.assertions[index];
  const measured = describeMeasured(view, json, plan);
  if (plan === undefined) return { state: json.state, text: json.text, measured };
  const part = plan.where === undefined ? "" : ` where ${describeTags(plan.where)}`;
  const name = metricText(plan.metric);
  const limit = shortUnit(formatMetric(plan.metric, plan.limit, view.words.unit));
  // "output tokens/s > 20": the name has the unit.
  const bare = limit.replace(/ (\S+\/s)$/, (all, unit: string) => (name.endsWith(unit) ? "" : all));
  return { state: json.state, text: `${name}${part} ${SIGNS[plan.comparison]} ${bare}`, measured };
}

/** Writes the unit of requests as the tables do. */
function shortUnit(text: string): string {
  return text.replace(/ requests\/s$/, " req/s");
}

/** Describes what an assertion was judged by, and why it is unresolved: `worst 4.65 ms at concurrency 2`. */
function describeMeasured(view: ReportView, json: AssertionJson, plan: AssertionPlan | undefined): string {
  const { reason, runs, runsMet } = json;
  const place = placeOf(view, json);
  if (json.measured === undefined) return `${reason ?? "nothing measured"}${place}`;
  const { value: measured, low, high } = inBaseUnit(json.measured);
  const format = (value: number): string =>
    plan === undefined
      ? formatCount(value)
      : shortUnit(formatMetricValue(plan.metric, value, view.words.unit, plan.limit));
  if (json.endedRun === true)
    return `${format(measured)} over the last ${formatDurationNs(msToNs(plan?.abortAfterMs ?? 0))}, which ended the run`;
  const why = reason === undefined ? "" : `: ${reason}`;
  if (runs !== undefined) {
    const isRatio = plan !== undefined && metricOf(plan.metric).quantity === "ratio";
    const found = certaintyOf({ value: measured, low, high, isRatio });
    const range = found.isCertain ? ` (${joinEnds(format(found.low), format(found.high))})` : "";
    return `mean ${format(measured)}${range}${place}, ${runsMet ?? 0} of ${runs} runs${why}`;
  }
  const counts = plan?.metric.key === "errorRate" && plan.where === undefined ? countsOf(view, json) : undefined;
  if (counts !== undefined) {
    const ratio = measured === 0 ? "" : `${formatPct(measured)}${place}: `;
    return `${ratio}${formatCount(counts.failed)} of ${formatCount(counts.total)}${why}`;
  }
  return `${place === "" ? "" : "worst "}${format(measured)}${place}${why}`;
}

/** Names the level that decided; empty where there is only one. */
function placeOf({ plan, levels }: ReportView, { level, phase }: AssertionJson): string {
  const isOnly =
    new Set(levels.map(({ name }) => name)).size <= 1 || levels.some(({ json }) => json.limits !== undefined);
  if (level === undefined || isOnly) return "";
  const name = nameLevel(plan, { level, ...(phase === undefined ? {} : { phase: { index: phase } }) });
  return ` at ${name}`;
}

/** Counts failed requests: at the level that decided, or of all levels when none failed. */
function countsOf(
  { levels, runs }: ReportView,
  { level, phase, measured }: AssertionJson,
): { readonly failed: number; readonly total: number } | undefined {
  if (runs.length > 1 || runs[0]?.json.findMax !== undefined) return undefined;
  const counted = levels.filter(
    ({ json }) =>
      measured?.value === 0 || (json.level === level && (phase === undefined || json.phase?.index === phase)),
  );
  const failed = counted.reduce((sum, { json }) => sum + json.failed, 0);
  return { failed, total: counted.reduce((sum, { json }) => sum + json.requests, failed) };
}
