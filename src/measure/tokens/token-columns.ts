import { Column, type Rows } from "../column.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import { shownMetrics, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import { ResponseCounter, type ResponseCounts } from "./response-counts.ts";
import type { GapSummary } from "./token-gaps.ts";

/** The metrics of each request with tokens, as columns. */

const NO_SESSION = -1;

/** The contents of {@link TokenColumns}. */
interface RowsOf<R> extends Omit<ResponseCounts, "count"> {
  readonly sendNs: R;
  /** Time from the due time of each request to its send; 0 without a schedule. */
  readonly waitNs: R;
  readonly metrics: Readonly<Record<TokenMetric, R>>;
  /** Names of sessions, and for each row the index of its session; -1: none. */
  readonly sessionNames: readonly string[];
  readonly sessionOf: R;
  /** Gaps between tokens, if they are plotted. */
  readonly gaps: GapSummary | undefined;
}

/** The rows as plain data. */
export type TokenRows = RowsOf<Float64Array>;

/**
 * Measured requests as columns, for GenAI-Perf's exact statistics and exports, and for MLPerf's rules. Everything else uses a
 * `TokenTally`.
 */
export class TokenColumns extends ResponseCounter {
  readonly sendNs = new Column();
  readonly waitNs = new Column();
  readonly metrics: Readonly<Record<TokenMetric, Column>> = Object.fromEntries(
    TOKEN_METRICS.map((name) => [name, new Column()]),
  ) as Record<TokenMetric, Column>;
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
    for (let row = 0; row < this.count && names.length > 0; row++) {
      const session = this.sessionOf.at(row);
      if (session !== NO_SESSION) rows.get(names[session] as string)?.push(row);
    }
    return rows;
  }

  /**
   * Returns a copy of all rows, or of `most` rows from `first` on, to merge or to send to another thread. Only the copy with
   * the first row contains counts and gaps.
   */
  rows(first = 0, most = this.count): TokenRows {
    const end = Math.min(first + most, this.count);
    const { sendNs, waitNs, sessionOf, metrics, sessionNames, ...beside } = this.contents();
    const copyOf = (column: Column): Float64Array => column.copy(first, end);
    const copies = TOKEN_METRICS.map((name) => [name, copyOf(metrics[name])] as const);
    return {
      ...(first === 0 ? beside : { ...new TokenColumns().counts(), gaps: undefined }),
      sendNs: copyOf(sendNs),
      waitNs: copyOf(waitNs),
      sessionOf: copyOf(sessionOf),
      sessionNames,
      metrics: Object.fromEntries(copies) as TokenRows["metrics"],
    };
  }

  /** Returns all rows for reading, without a copy. */
  contents(): RowsOf<Column> {
    const { sendNs, waitNs, metrics, sessionNames, sessionOf, gaps } = this;
    return { ...this.counts(), sendNs, waitNs, metrics, sessionNames: [...sessionNames.keys()], sessionOf, gaps };
  }

  addRows({ sendNs, waitNs, metrics, sessionNames, sessionOf, gaps, ...counts }: RowsOf<Rows>): void {
    const sessions = sessionNames.map((name) => this.sessionIndex(name));
    const { length } = sendNs;
    this.sendNs.append(sendNs);
    this.waitNs.append(waitNs);
    for (let row = 0; row < length; row++) this.sessionOf.push(sessions[sessionOf.at(row) ?? NO_SESSION] ?? NO_SESSION);
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

/** Joins columns. Returns the same object if there is only one. */
export function joinColumns(parts: readonly TokenColumns[]): TokenColumns {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  return columnsOf(parts.map((part) => part.contents()));
}

/** Joins the rows of several columns, such as those of another thread. */
export function columnsOf(parts: readonly RowsOf<Rows>[]): TokenColumns {
  const columns = new TokenColumns();
  for (const rows of parts) columns.addRows(rows);
  return columns;
}

/** Measured values by metric, in the order of the requests. */
export type TokenSamples = ReadonlyMap<TokenMetric, Pick<Column, "measured">>;

/** Returns the metrics that reports show, with their values. */
export function tokenSamples({ metrics }: TokenColumns, isStreamed: boolean): TokenSamples {
  const columnOf = (metric: TokenMetric): Column | undefined => (metrics[metric].isEmpty ? undefined : metrics[metric]);
  return shownMetrics(isStreamed, columnOf, (column) =>
    column.measured().reduce((most, value) => Math.max(most, value), 0),
  );
}
