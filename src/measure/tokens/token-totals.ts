import { ExponentialHistogram, type HistogramCounts } from "../exponential-histogram.ts";
import {
  entryOf,
  type FollowedSum,
  type FollowedTime,
  isTimeMetric,
  nameOfMetric,
  TOKEN_METRICS,
  type TokenMetric,
} from "./metrics.ts";

/** Totals of a run's tokens so far, for displays: plain data in little memory. Earlier totals can be subtracted exactly. */
export interface TotalledTokens {
  readonly times: Readonly<Record<FollowedTime, HistogramCounts>>;
  /** Other metrics shown during a run: the sum of their values, and the number of values. */
  readonly sums: Readonly<Record<FollowedSum, { readonly sum: number; readonly count: number }>>;
}

const FOLLOWED = TOKEN_METRICS.filter((metric) => entryOf(metric).isFollowed === true);
const TIMES = placesOf<FollowedTime>(FOLLOWED.filter(isTimeMetric));
const SUMS = placesOf<FollowedSum>(FOLLOWED.filter((metric) => !isTimeMetric(metric)));

/** Returns the names of metrics, each with its position in the table. */
function placesOf<Name extends string>(metrics: readonly TokenMetric[]): readonly (readonly [Name, number])[] {
  return metrics.map((metric) => [nameOfMetric(metric) as Name, TOKEN_METRICS.indexOf(metric)]);
}

function makeEach<Name extends string, V>(places: readonly (readonly [Name, number])[], make: () => V) {
  return Object.fromEntries(places.map(([name]) => [name, make()])) as Record<Name, V>;
}

/** Adds up the tokens of responses. */
export class TokenTotals implements TotalledTokens {
  readonly times = makeEach(TIMES, () => new ExponentialHistogram());
  readonly sums = makeEach(SUMS, () => ({ sum: 0, count: 0 }));

  /** Adds a response with content. @param values metrics of the response, in the order of their table */
  add(values: Float64Array): void {
    for (const [name, at] of TIMES) this.times[name].add(values[at] as number);
    for (const [name, at] of SUMS) {
      const value = values[at] as number;
      if (!Number.isNaN(value)) this.addSum(name, value, 1);
    }
  }

  /** Adds totals. @param sign -1: subtracts totals that were added before */
  addAll({ times, sums }: TotalledTokens, sign: 1 | -1 = 1): void {
    for (const [name] of SUMS) this.addSum(name, sign * sums[name].sum, sign * sums[name].count);
    for (const [name] of TIMES) {
      const { offset, counts, count, sumNs } = times[name];
      const signed = { offset, counts: counts.map((one) => sign * one), count: sign * count, sumNs: sign * sumNs };
      this.times[name].addAll(signed);
    }
  }

  /** Reports whether other totals can be later ones of the same responses: none of them has fewer values. */
  isWithin({ times, sums }: TotalledTokens): boolean {
    return (
      TIMES.every(([name]) => this.times[name].count <= times[name].count) &&
      SUMS.every(([name]) => this.sums[name].count <= sums[name].count)
    );
  }

  private addSum(name: FollowedSum, sum: number, count: number): void {
    const total = this.sums[name];
    total.sum += sum;
    total.count += count;
  }
}

/** Joins the totals of parts that were measured at the same time. */
export function joinTokenTotals(parts: readonly TotalledTokens[]): TotalledTokens {
  const joined = new TokenTotals();
  for (const part of parts) joined.addAll(part);
  return joined;
}
