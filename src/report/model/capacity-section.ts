import { scaleInterval } from "../../measure/intervals/certainty.ts";
import { countOf } from "../../plan/units.ts";
import { describeLevel } from "../../registry/level-names.ts";
import type { CapacityJson } from "../schema/capacity.ts";
import type { EstimateJson } from "../schema/parts.ts";
import { inBaseUnit } from "../schema/read-metrics.ts";
import type { RunJson } from "../schema/report-schema.ts";
import type { Cell, Section } from "./report-model.ts";
import { levelNames, type NamedRow, type ReportView } from "./report-view.ts";
import { type ColumnSpec, column, detail, estimateCell, makeTable } from "./tables.ts";

/** The knee of a sweep in a line, and the capacity answer. */

/** Describes the knee of a run; undefined for other loads than sweeps that end there. */
export function describeKnee({ plan }: Pick<ReportView, "plan">, { knee }: Pick<RunJson, "knee">): string | undefined {
  if (knee === undefined) return undefined;
  const at = describeLevel(plan, knee.level);
  return knee.isReached
    ? `throughput stops growing at ${at}: the lowest load that reaches 90 % of the highest throughput`
    : `throughput still grows at ${at}, the last level: the server is not at its limit`;
}

/** Makes the section with the capacity, or with the reason why it is unknown. Undefined if the plan does not ask for it. */
export function capacitySection(view: ReportView): Section | undefined {
  type Row = NamedRow & { readonly json: CapacityJson };
  const rows = view.runs.flatMap(({ name, json: { capacity } }): Row[] =>
    capacity === undefined ? [] : [{ run: name, name: describeLevel(view.plan, capacity.level), json: capacity }],
  );
  const [first] = rows;
  if (first === undefined) return unknownCapacity(view);
  const { gpuCount, gpuHourPrice, targetUserCount = 0, targetGpuCount } = first.json;
  const users = `GPUs for ${countOf(targetUserCount, "user")}`;
  const hasTokens = first.json.outputTokensPerSecPerGpu !== undefined;
  const what = view.words.unit.startsWith("infer") ? "inferences" : "requests";
  const estimate = (key: string, title: string, pick: (json: CapacityJson) => EstimateJson | undefined) =>
    column<Row>(key, title, key.startsWith("cost") ? "mean" : "rate", 0, ({ json }) => cellOf(pick(json)));
  const specs: ColumnSpec<Row>[] = [
    ...levelNames(view),
    ...(hasTokens
      ? [
          estimate("outputTokensPerSecPerGpu", "tokens/s per GPU", (json) => json.outputTokensPerSecPerGpu),
          estimate("costPerMillionOutputTokens", "cost per 1M tokens", (json) => json.costPerMillionOutputTokens),
        ]
      : [
          estimate("throughputPerGpu", `${view.words.unit} per GPU`, (json) => json.throughputPerGpu),
          estimate("costPerMillion", `cost per 1M ${what}`, (json) => json.costPerMillion),
        ]),
    column("targetGpuCount", users, "count", 0, ({ json }) => json.targetGpuCount),
  ];
  const linear = `${users}: whole servers like this one, each with as many users as here (linear extrapolation)`;
  const lines = [
    ...(rows.some(({ json }) => json.isLowerBound)
      ? ["the server may do more: the load was not raised above this"]
      : []),
    ...(targetGpuCount === undefined ? [] : [linear]),
  ];
  const price = gpuHourPrice === undefined ? "" : ` at ${gpuHourPrice} per GPU hour`;
  const title = `Capacity of ${countOf(gpuCount, "GPU")}${price}`;
  return { ...detail("capacity", title, [makeTable("", specs, rows)]), isSummary: true, lines };
}

/** Says why no level has the capacity. */
function unknownCapacity({ plan: { capacity }, runs }: ReportView): Section | undefined {
  if (capacity === undefined) return undefined;
  const isSearch = runs.some(({ json: { findMax } }) => findMax !== undefined);
  const reason = isSearch ? "no load is certain to keep the limits" : "no request succeeded";
  const what = `the capacity of ${countOf(capacity.gpuCount, "GPU")} is not known`;
  return { ...detail("capacity", "Capacity", []), isSummary: true, lines: [`${what}: ${reason}`] };
}

/** Costs and rates have four digits: a sample does not say more. */
function cellOf(written: EstimateJson | undefined): Cell | undefined {
  if (written === undefined) return undefined;
  const short = (value: number): number => Number(value.toPrecision(4));
  const { value, ...ends } = inBaseUnit(written);
  return estimateCell({ ...ends, value: short(value), ...scaleInterval(ends, short) });
}
