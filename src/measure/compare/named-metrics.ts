import { nearestName } from "../../plan/nearest-name.ts";
import type { Direction } from "../direction.ts";
import { type Quantity, REQUEST_METRICS, type RequestMetric } from "../request-metrics.ts";
import { directionOf, entryOf, isTimeMetric, nameOfMetric, TOKEN_METRICS } from "../tokens/metrics.ts";

/** The metrics that comparisons know, by name: `throughput`, `latency.p99`, `timeToFirstToken.avg`, `extracted.score.avg`. */

/** A metric, or a statistic of one. */
export interface NamedMetric {
  /** `latency.p99` */
  readonly name: string;
  /** `p99 latency` */
  readonly label: string;
  readonly quantity: Quantity;
  /** Absent: neither direction is better. */
  readonly better?: Direction | undefined;
}

/** The prefix of numbers that a target extracts from its answers. */
export const EXTRACTED = "extracted.";

/** Short names of metrics. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  ttft: "timeToFirstToken",
  ttst: "timeToSecondToken",
  itl: "interTokenLatency",
  error_rate: "errorRate",
};
const STATISTIC = /^(avg|p\d{1,2}(\.\d+)?)$/;
const AVERAGE_NAMES = ["average", "mean"];

type Family = RequestMetric & { readonly name: string };

/** The request latency of generative models is `latency` like that of all others. */
const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ...Object.entries<RequestMetric>(REQUEST_METRICS).map(([name, metric]) => [name, { ...metric, name }] as const),
  ...TOKEN_METRICS.filter((metric) => metric !== "requestLatencyNs").map((metric) => {
    const name = nameOfMetric(metric);
    const better = directionOf(metric);
    const quantity: Quantity = isTimeMetric(metric) ? "time" : "number";
    const { label } = entryOf(metric);
    return [name, { name, label, quantity, isPerRequest: true, ...(better === undefined ? {} : { better }) }] as const;
  }),
]);

/** Returns a metric by its name or a short one; `p99` and `avg` are those of the latency. Undefined for unknown names. */
export function findMetric(given: string): NamedMetric | undefined {
  const name = toFullName(given);
  const at = name.lastIndexOf(".") < 0 ? name.length : splitAt(name);
  const [family, statistic] = [name.slice(0, at), name.slice(at + 1)];
  if (statistic !== "" && !STATISTIC.test(statistic)) return undefined;
  if (family.startsWith(EXTRACTED) && statistic !== "") {
    const label = `${statistic} ${family.slice(EXTRACTED.length)}`;
    return { name, label, quantity: "number" };
  }
  const found = FAMILIES.get(family);
  if (found === undefined || (found.isPerRequest === true) !== (statistic !== "")) return undefined;
  const label = statistic === "" ? found.label : `${statistic === "avg" ? "average" : statistic} ${found.label}`;
  return { name, label, quantity: found.quantity, better: found.better };
}

/** Returns the known name that is nearest to an unknown one: with a statistic when that is what is missing. */
export function suggestMetric(given: string): string | undefined {
  const name = toFullName(given);
  if (FAMILIES.get(name)?.isPerRequest === true) return `${given}.p99`;
  const [family = "", ...rest] = given.split(".");
  const names = [...FAMILIES.keys(), ...Object.keys(SHORT_NAMES), "avg", "p50", "p90", "p95", "p99"];
  const near = nearestName(family, names);
  if (near === undefined) return undefined;
  const isPerRequest = FAMILIES.get(SHORT_NAMES[near] ?? near)?.isPerRequest === true;
  if (!isPerRequest) return near === given ? undefined : near;
  const statistic = rest.join(".");
  return `${near}.${STATISTIC.test(statistic) ? statistic : "p99"}`;
}

/** Lists the names of metrics for help: those with statistics end in `.p99`. */
export function listMetrics(): string[] {
  return [...FAMILIES.values()].map(({ name, isPerRequest }) => (isPerRequest === true ? `${name}.p99` : name));
}

/** Returns what sorts metrics by the order of the tables, each with its average and then its percentiles. */
export function orderOfMetric(name: string): number {
  const at = splitAt(name);
  const family = [...FAMILIES.keys()].indexOf(at < 0 ? name : name.slice(0, at));
  const statistic = at < 0 ? 0 : Number(name.slice(at + 2));
  return (family < 0 ? FAMILIES.size : family) * 1000 + (Number.isNaN(statistic) ? 0 : statistic);
}

/** Where the statistic begins: `extracted.a.b.p99.9` has dots everywhere. */
function splitAt(name: string): number {
  const match = /\.(avg|p\d{1,2}(\.\d+)?)$/.exec(name);
  return match?.index ?? name.lastIndexOf(".");
}

function toFullName(given: string): string {
  const averaged = AVERAGE_NAMES.reduce((name, word) => name.replace(new RegExp(`(^|\\.)${word}$`), "$1avg"), given);
  if (STATISTIC.test(averaged)) return `latency.${averaged}`;
  const [family = "", ...rest] = averaged.split(".");
  return [SHORT_NAMES[family] ?? family, ...rest].join(".");
}
