import { ExponentialHistogram, type HistogramCounts } from "../exponential-histogram.ts";
import { METRICS, type MetricInput } from "./metrics.ts";

/** What the tokens of a run add up to so far, for displays: plain data in little memory. Earlier totals subtract exactly. */
export interface TotalledTokens {
  readonly outputTokens: number;
  /** Number of streams, and the sum of their ratios of bunched tokens. */
  readonly streamCount: number;
  readonly bunchedSum: number;
  readonly timeToFirstToken: HistogramCounts;
  readonly interTokenLatency: HistogramCounts;
}

/** Adds up the tokens of responses. */
export class TokenTotals implements TotalledTokens {
  outputTokens = 0;
  streamCount = 0;
  bunchedSum = 0;
  readonly timeToFirstToken = new ExponentialHistogram();
  readonly interTokenLatency = new ExponentialHistogram();

  /** Adds a response with content. */
  add(response: MetricInput): void {
    const bunched = METRICS.bunchedRatio.value(response);
    this.outputTokens += METRICS.outputTokens.value(response) || 0;
    if (!Number.isNaN(bunched)) {
      this.streamCount++;
      this.bunchedSum += bunched;
    }
    this.timeToFirstToken.add(METRICS.timeToFirstTokenNs.value(response));
    this.interTokenLatency.add(METRICS.interTokenLatencyNs.value(response));
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
