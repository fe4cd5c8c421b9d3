import { type AnsweredRequest, toMetricInput } from "./answered-request.ts";
import { TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import { metricsOf } from "./response-counts.ts";

/**
 * Token metrics of single requests for their consumers: the file of records, and a scenario's `onRecord`. The measuring thread
 * collects them, and the run's thread takes them from time to time.
 */

export interface RequestTokens {
  /** Number of the request among the finished requests of the run, from 0. */
  readonly index: number;
  /** Values of the metrics table in its units: nanoseconds, tokens, rates. Missing values are omitted; empty without content. */
  readonly metrics: ReadonlyMap<TokenMetric, number>;
  /** Arrival of each read with content, in nanoseconds after the send. */
  readonly contentNs: Float64Array;
  /** Reason why the response counts as failed for tokens: an error in it, or a stream that was cut off; absent for a good response. */
  readonly error?: string;
}

/** Tokens of several requests as columns, which threads exchange. */
export interface TakenTokens {
  readonly indices: Float64Array;
  /** One row for each request, with all metrics of the table; NaN for a missing value. */
  readonly values: Float64Array;
  readonly contentCounts: Float64Array;
  /** Arrivals of all requests, concatenated. */
  readonly contentNs: Float64Array;
  /** Errors by position in `indices`. */
  readonly errors: readonly (readonly [row: number, error: string])[];
}

interface Entry {
  readonly index: number;
  readonly answered: AnsweredRequest | undefined;
  readonly error: string | undefined;
  /** The error if the server turns out to mark the end of its streams. */
  readonly cutError: string | undefined;
}

/** Collects the tokens of single requests until they are taken. Those of undecided streams are held back. */
export class RequestTokensLog {
  private entries: Entry[] = [];
  private undecided: Entry[] = [];

  /** @param cutError set while it is unknown whether the stream was cut off */
  add(index: number, answered: AnsweredRequest | undefined, error?: string, cutError?: string): void {
    (cutError === undefined ? this.entries : this.undecided).push({ index, answered, error, cutError });
  }

  /** Called once it is known whether the server marks the end of its streams. */
  decide(isMarked: boolean): void {
    for (const entry of this.undecided.splice(0))
      this.entries.push(isMarked ? { ...entry, answered: undefined, error: entry.cutError } : entry);
  }

  /** Returns the tokens collected since the last call. @param isLast whether nothing follows, so that undecided streams are complete */
  take(isLast: boolean): TakenTokens {
    if (isLast) this.decide(false);
    const entries = this.entries.splice(0);
    const times = entries.map(({ answered }) => answered?.times.contentNs ?? []);
    const values = new Float64Array(entries.length * TOKEN_METRICS.length).fill(Number.NaN);
    for (const [row, { answered }] of entries.entries()) {
      if (answered === undefined || answered.times.contentNs.length === 0) continue;
      values.set(metricsOf(toMetricInput(answered)), row * TOKEN_METRICS.length);
    }
    return {
      indices: Float64Array.from(entries, ({ index }) => index),
      values,
      contentCounts: Float64Array.from(times, ({ length }) => length),
      contentNs: Float64Array.from(times.flatMap((all) => [...all])),
      errors: entries.flatMap(({ error }, row) => (error === undefined ? [] : [[row, error] as const])),
    };
  }
}

/** Returns the requests of taken columns, in order. */
export function readTaken({ indices, values, contentCounts, contentNs, errors }: TakenTokens): RequestTokens[] {
  const errorOf = new Map(errors);
  let at = 0;
  return Array.from(indices, (index, row) => {
    const error = errorOf.get(row);
    const first = at;
    at += contentCounts[row] as number;
    const found = TOKEN_METRICS.flatMap((metric, column): [TokenMetric, number][] => {
      const value = values[row * TOKEN_METRICS.length + column] as number;
      return Number.isNaN(value) ? [] : [[metric, value]];
    });
    return {
      index,
      metrics: new Map(found),
      contentNs: contentNs.slice(first, at),
      ...(error === undefined ? {} : { error }),
    };
  });
}
