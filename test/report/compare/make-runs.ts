import type { RunSet } from "../../../src/report/compare/comparison.ts";
import type { MeasuredLevel, MeasuredRun, MeasuredValue } from "../../../src/report/read/runs/measured-run.ts";

/** Runs for tests of comparisons. */

type Values = Readonly<Record<string, number | MeasuredValue>>;

/** Makes a level. */
export function makeMeasuredLevel(label: string, values: Values, notes: readonly string[] = []): MeasuredLevel {
  const entries = Object.entries(values).map(([name, value]) => [name, toValue(value)] as const);
  return { label, values: new Map(entries), notes };
}

function toValue(value: number | MeasuredValue): MeasuredValue {
  return typeof value === "number" ? { value } : value;
}

/** Makes a run. */
export function makeMeasuredRun(levels: readonly MeasuredLevel[], change: Partial<MeasuredRun> = {}): MeasuredRun {
  return { source: "run.json", format: "Rampart's JSON", isPartial: false, facts: new Map(), levels, ...change };
}

/** Makes a side with a level, whose metrics have a value for each run: `{ "latency.p99": [1e6, 2e6] }`. */
export function makeRunSet(name: string, metrics: Readonly<Record<string, readonly number[]>>): RunSet {
  const count = Math.max(...Object.values(metrics).map((values) => values.length));
  const runs = Array.from({ length: count }, (_, index) => {
    const values = Object.entries(metrics).map(([metric, all]) => [metric, all[index] ?? 0]);
    const level = makeMeasuredLevel("concurrency 4", Object.fromEntries(values) as Record<string, number>);
    return makeMeasuredRun([level], { source: `${name}, run ${index + 1}` });
  });
  return { name, runs };
}
