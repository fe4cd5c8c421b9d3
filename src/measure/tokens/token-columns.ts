import { Column } from "../column.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import { shownMetrics, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import { ResponseCounter, type ResponseCounts } from "./response-counts.ts";
import type { GapSummary } from "./token-gaps.ts";

const NO_SESSION = -1;

/** The rows of {@link TokenColumns} as plain data. */
export interface TokenRows extends Omit<ResponseCounts, "count"> {
  readonly sendNs: Float64Array;
  readonly waitNs: Float64Array;
  readonly metrics: Readonly<Record<TokenMetric, Float64Array>>;
  /** Names of sessions, and for each row the index of its session; -1 for none. */
  readonly sessionNames: readonly string[];
  readonly sessionOf: Float64Array;
  /** Gaps between tokens, if they are plotted. */
  readonly gaps: GapSummary | undefined;
}

/** Measured requests as columns, for GenAI-Perf's exact statistics and exports, and for MLPerf's rules. Everything else has a `TokenTally`. */
export class TokenColumns extends ResponseCounter {
  readonly sendNs = new Column();
  /** From the time when each request was due to its send; 0 without a schedule. */
  readonly waitNs = new Column();
  readonly metrics: Readonly<Record<TokenMetric, Column>> = Object.fromEntries(
    TOKEN_METRICS.map((name) => [name, new Column()]),
  ) as Record<TokenMetric, Column>;
  /** Gaps between tokens, if they are plotted. */
  gaps: GapSummary | undefined;
  private readonly sessionNames = new Map<string, number>();
  private readonly sessionOf = new Column();

  get count(): number {
    return this.sendNs.length;
  }

  /** Returns the rows of each session, by name, in the order of their first responses; empty without sessions. */
  sessions(): Map<string, number[]> {
    const names = [...this.sessionNames.keys()];
    const rows = new Map<string, number[]>(names.map((name) => [name, []]));
    for (const [row, session] of this.sessionOf.view().entries())
      if (session !== NO_SESSION) rows.get(names[session] as string)?.push(row);
    return rows;
  }

  /** Returns a copy of all rows, to merge or to send to another thread. */
  rows(): TokenRows {
    const metrics = Object.fromEntries(TOKEN_METRICS.map((name) => [name, this.metrics[name].view().slice()]));
    return {
      ...this.counts(),
      sendNs: this.sendNs.view().slice(),
      waitNs: this.waitNs.view().slice(),
      metrics: metrics as TokenRows["metrics"],
      sessionNames: [...this.sessionNames.keys()],
      sessionOf: this.sessionOf.view().slice(),
      gaps: this.gaps,
    };
  }

  /** Adds the rows of other columns. */
  addRows({ sendNs, waitNs, metrics, sessionNames, sessionOf, gaps, ...counts }: TokenRows): void {
    const sessions = sessionNames.map((name) => this.sessionIndex(name));
    this.sendNs.append(sendNs);
    this.waitNs.append(waitNs);
    this.sessionOf.append(sessionOf.map((session) => sessions[session] ?? NO_SESSION));
    for (const name of TOKEN_METRICS) this.metrics[name].append(metrics[name]);
    this.gaps ??= gaps;
    this.addCounts(counts);
  }

  protected push(
    { sendNs, waitNs = 0, session }: Omit<AnsweredRequest, "times" | "inputTokens">,
    values: Float64Array,
  ): void {
    this.sendNs.push(sendNs);
    this.waitNs.push(waitNs);
    this.sessionOf.push(this.sessionIndex(session));
    for (const [at, metric] of TOKEN_METRICS.entries()) this.metrics[metric].push(values[at] as number);
  }

  private sessionIndex(name: string | undefined): number {
    if (name === undefined) return NO_SESSION;
    const known = this.sessionNames.get(name);
    if (known !== undefined) return known;
    this.sessionNames.set(name, this.sessionNames.size);
    return this.sessionNames.size - 1;
  }
}

/** Joins the rows of several columns, such as those of another thread. */
export function columnsOf(parts: readonly TokenRows[]): TokenColumns {
  const columns = new TokenColumns();
  for (const rows of parts) columns.addRows(rows);
  return columns;
}

/** Measured values by metric, without NaN, in the order of the requests. */
export type TokenSamples = ReadonlyMap<TokenMetric, Float64Array>;

/** Returns the metrics that reports show, with their values. */
export function tokenSamples({ metrics }: TokenColumns, isStreamed: boolean): TokenSamples {
  const valuesOf = (metric: TokenMetric): Float64Array | undefined => {
    const values = metrics[metric].measured();
    return values.length === 0 ? undefined : values;
  };
  return shownMetrics(isStreamed, valuesOf, (values) => values.reduce((most, value) => Math.max(most, value), 0));
}
