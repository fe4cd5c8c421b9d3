import { metricOf } from "../measure/metrics/catalogue.ts";
import { explainDerived } from "../measure/metrics/derived.ts";
import { exampleLevel } from "../measure/metrics/read-metric.ts";
import type { DerivedPlan, MetricPlan } from "../plan/assertions.ts";
import { fieldOf } from "../plan/objects.ts";
import type { Plan } from "../plan/plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import type { ExtractedName } from "../service/content.ts";
import { listExtracted, namesOf } from "../service/response-reader.ts";
import { membersOf } from "./mix.ts";

/** The metrics that a scenario defines: values that its targets extract, and values derived from other metrics. */
interface CustomMetrics {
  readonly extracted: readonly ExtractedName[];
  readonly derived: readonly DerivedPlan[];
}

export function customMetricsOf({ target, derived = [] }: Pick<Plan, "target" | "derived">): CustomMetrics {
  const targets = [target, ...membersOf(target).map((member) => member.target)];
  return { extracted: targets.flatMap((one) => namesOf(listExtracted(fieldOf(one, "extract")))), derived };
}

/**
 * Returns a plan's assertions and limits, completed with the plan's definitions of custom metrics: unit, direction and
 * computation. Undefined if the plan has no custom metrics.
 */
export function describeCustomMetrics(plan: Plan): Partial<Pick<Plan, "assertions" | "limits" | "repeat">> | undefined {
  const known = customMetricsOf(plan);
  if (known.extracted.length === 0 && known.derived.length === 0) return undefined;
  const complete = <M extends { readonly metric: MetricPlan }>(one: M): M => ({
    ...one,
    metric: describe(one.metric, known),
  });
  const { assertions, limits, repeat } = plan;
  return {
    assertions: assertions.map(complete),
    ...(limits === undefined ? {} : { limits: limits.map(complete) }),
    ...(repeat?.until === undefined ? {} : { repeat: { ...repeat, until: complete(repeat.until) } }),
  };
}

function describe(metric: MetricPlan, { extracted, derived }: CustomMetrics): MetricPlan {
  const named = ({ name }: { readonly name: string }): boolean => name === metric.name;
  const { definedIn, counts } = metricOf(metric);
  if (definedIn === "derive") return { ...metric, ...derived.find(named) };
  // A ratio of requests has no custom unit.
  return definedIn === "extract" && counts === undefined ? { ...metric, ...extracted.find(named) } : metric;
}

export function checkDerived(plan: Plan): Problem[] {
  const { extracted, derived } = customMetricsOf(plan);
  const names = extracted.map(({ name }) => name);
  return derived.flatMap(({ name, value }) => {
    const found = explainDerived(value, exampleLevel(names));
    const given = typeof value === "string" ? value : undefined;
    return found === undefined
      ? []
      : [problem("invalid-value", `derive.${name}.value`, found.message, found.hint, given)];
  });
}
