import { scaleInterval } from "../../measure/intervals/certainty.ts";
import { countOf } from "../../plan/units.ts";
import { describeLevel } from "../../registry/level-names.ts";
import type { CapacityJson } from "../schema/capacity.ts";
import type { EstimateJson } from "../schema/parts.ts";
import { inBaseUnit } from "../schema/read-metrics.ts";
import type { RunJson } from "../schema/report-schema.ts";
import type { Cell, Section } from "./report-model.ts";
import { levelNames, type NamedRow, type ReportView } from "./report-view.ts";
import { type ColumnSpec, column, estimateCell, makeTable, summary } from "./tables.ts";

/** The knee of a sweep in a line, and the capacity answer. */

/** Describes the knee of a run; undefined without one. */
export function describeKnee(
  { plan }: Pick<ReportView, "plan">,
  { knee, levels }: Pick<RunJson, "knee" | "levels">,
): string | undefined {
  if (knee === undefined) return undefined;
  if (knee.isReached)
    return `throughput stops growing at ${describeLevel(plan, knee.level)} (90 % of the highest or more)`;
  const last = Math.max(...levels.map(({ level }) => level));
  return `throughput still grows at ${describeLevel(plan, last)}, the last level: the server is not at its limit`;
}

/** A capacity with the names of its row. */
export interface CapacityRow extends NamedRow {
  readonly json: CapacityJson;
  /** Whether a search could not decide the loads above it. */
  readonly isUndecided: boolean;
}

/** Returns the capacities of the runs of a report. */
export function capacitiesOf({ plan, runs }: ReportView): CapacityRow[] {
  return runs.flatMap(({ name, json: { capacity, findMax } }) => {
    if (capacity === undefined) return [];
    const isUndecided = findMax?.isResolved === false;
    return [{ run: name, name: describeLevel(plan, capacity.level), json: capacity, isUndecided }];
  });
}

/** Explains why no level of a report has the capacity that its plan asks for; undefined if one has, or the plan does not ask for it. */
export function whyNoCapacity(view: ReportView): string | undefined {
  const { capacity } = view.plan;
  if (capacity === undefined || capacitiesOf(view).length > 0) return undefined;
  const found = view.runs.flatMap(({ json: { findMax } }) => findMax ?? []);
  const ofSearch = found.every((one) => one.isResolved)
    ? "every load breaks a limit"
    : "no load is certain to keep the limits";
  const reason = found.length > 0 ? ofSearch : "no request succeeded";
  return `the capacity of ${countOf(capacity.gpuCount, "GPU")} is not known: ${reason}`;
}

/** Makes the section with the capacity, or with the reason why it is unknown. Undefined if the plan does not ask for it. */
export function capacitySection(view: ReportView): Section | undefined {
  const why = whyNoCapacity(view);
  const rows = capacitiesOf(view).map((row) => ({ ...row, at: row.run }));
  return makeCapacitySection(rows, levelNames(view), view.words.unit, why === undefined ? [] : [why]);
}

/**
 * Builds the section with capacities; undefined if there are none.
 * @param names the columns that name a row @param unit of throughput @param unknown reasons why others are unknown, one per line
 */
export function makeCapacitySection<Row extends CapacityRow & { readonly at: string }>(
  rows: readonly Row[],
  names: readonly ColumnSpec<Row>[],
  unit: string,
  unknown: readonly string[],
): Section | undefined {
  const [first] = rows;
  if (first === undefined)
    return unknown.length === 0 ? undefined : { ...summary("capacity", "Capacity"), lines: unknown };
  const { gpuCount, gpuHourPrice, targetUserCount = 0, targetGpuCount, outputTokensPerSecPerGpu } = first.json;
  const users = `GPUs for ${countOf(targetUserCount, "user")}`;
  const what = unit.startsWith("infer") ? "inferences" : "requests";
  const estimate = (key: string, title: string, pick: (json: CapacityJson) => EstimateJson | undefined) =>
    column<Row>(key, title, key.startsWith("cost") ? "mean" : "rate", 0, ({ json }) => cellOf(pick(json)));
  const specs: ColumnSpec<Row>[] = [
    ...names,
    ...(outputTokensPerSecPerGpu === undefined
      ? [
          estimate("throughputPerGpu", `${unit} per GPU`, (json) => json.throughputPerGpu),
          estimate("costPerMillion", `cost per 1M ${what}`, (json) => json.costPerMillion),
        ]
      : [
          estimate("outputTokensPerSecPerGpu", "tokens/s per GPU", (json) => json.outputTokensPerSecPerGpu),
          estimate("costPerMillionOutputTokens", "cost per 1M tokens", (json) => json.costPerMillionOutputTokens),
        ]),
    column("targetGpuCount", users, "count", 0, ({ json }) => json.targetGpuCount),
  ];
  const undecided = rows.filter(({ isUndecided }) => isUndecided);
  const more = rows.filter(({ json, isUndecided }) => json.isLowerBound && !isUndecided);
  const sayOf = (some: readonly Row[], text: string): string[] => {
    if (some.length === 0) return [];
    return [some.length === rows.length ? text : `${some.map(({ at }) => at).join("; ")}: ${text}`];
  };
  const linear = `${users}: whole servers like this one, each with as many users as here (linear extrapolation)`;
  const lines = [
    ...unknown,
    ...sayOf(undecided, "not decided, the server may do more: the search could not decide the loads above this"),
    ...sayOf(more, "the server may do more: the load was not raised above this"),
    ...(targetGpuCount === undefined ? [] : [linear]),
  ];
  const price = gpuHourPrice === undefined ? "" : ` at ${gpuHourPrice} per GPU hour`;
  return {
    ...summary("capacity", `Capacity of ${countOf(gpuCount, "GPU")}${price}`),
    tables: [makeTable("", specs, rows)],
    lines,
  };
}

/** Costs and rates have four digits, because a sample is not more precise. */
function cellOf(written: EstimateJson | undefined): Cell | undefined {
  if (written === undefined) return undefined;
  const short = (value: number): number => Number(value.toPrecision(4));
  const { value, ...ends } = inBaseUnit(written);
  return estimateCell({ ...ends, value: short(value), ...scaleInterval(ends, short) });
}
