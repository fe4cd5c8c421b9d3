import { ExponentialHistogram, type HistogramCounts } from "../exponential-histogram.ts";
import { TOKEN_METRICS, type TokenMetric } from "./metrics.ts";

/** What the tokens of a run add up to so far, for displays: plain data in little memory. Earlier totals subtract exactly. */
export interface TotalledTokens {
  readonly outputTokens: number;
  /** Number of streams, and the sum of their ratios of bunched tokens. */
  readonly streamCount: number;
  readonly bunchedSum: number;
  readonly timeToFirstToken: HistogramCounts;
  readonly interTokenLatency: HistogramCounts;
}

const [BUNCHED, OUTPUT, FIRST, GAP] = (
  [
    "bunchedRatio",
    "outputTokens",
    "timeToFirstTokenNs",
    "interTokenLatencyNs",
  ] as const satisfies readonly TokenMetric[]
).map((metric) => TOKEN_METRICS.indexOf(metric)) as [number, number, number, number];

/** Adds up the tokens of responses. */
export class TokenTotals implements TotalledTokens {
  outputTokens = 0;
  streamCount = 0;
  bunchedSum = 0;
  readonly timeToFirstToken = new ExponentialHistogram();
  readonly interTokenLatency = new ExponentialHistogram();

  /** Adds a response with content. @param values its metrics, in the order of their table */
  add(values: Float64Array): void {
    const read = (at: number): number => values[at] as number;
    const bunched = read(BUNCHED);
    this.outputTokens += read(OUTPUT) || 0;
    if (!Number.isNaN(bunched)) {
      this.streamCount++;
      this.bunchedSum += bunched;
    }
    this.timeToFirstToken.add(read(FIRST));
    this.interTokenLatency.add(read(GAP));
  }

  /** Adds totals. @param sign -1: subtracts them; they were part of it */
  addAll(totals: TotalledTokens, sign: 1 | -1 = 1): void {
    this.outputTokens += sign * totals.outputTokens;
    this.streamCount += sign * totals.streamCount;
    this.bunchedSum += sign * totals.bunchedSum;
    for (const name of ["timeToFirstToken", "interTokenLatency"] as const) {
      const { offset, counts, count, sumNs } = totals[name];
      this[name].addAll({ offset, counts: counts.map((one) => sign * one), count: sign * count, sumNs: sign * sumNs });
    }
  }
}

/** Joins the totals of parts that were measured at the same time. */
export function joinTokenTotals(parts: readonly TotalledTokens[]): TotalledTokens {
  const joined = new TokenTotals();
  for (const part of parts) joined.addAll(part);
  return joined;
}
