import { ExponentialHistogram, type HistogramCounts } from "./exponential-histogram.ts";
import { RECORD_CANCELLED, RECORD_FAILED, type RecordColumns } from "./records.ts";

/** A last column shorter than this ratio of the others is merged into the previous one, because its rates would be unreliable. */
const SHORTEST_LAST_RATIO = 0.5;
/** Default number of columns of a timeline. */
const MOST_COLUMNS = 60;
/** Maximum number with a known duration, because requests in flight at its end may last much longer. */
const MOST_COLUMNS_KNOWN = 20 * MOST_COLUMNS;
const COLUMN_NS = 100e6; // 100 ms

interface TimelineOptions {
  /** Default: 60 */
  readonly mostColumns?: number;
  /** Width of the first columns. Default: 100 ms */
  readonly columnNs?: number;
  /** Approximate time that will be measured, which is divided evenly. Default: unknown */
  readonly durationNs?: number;
  /** Treatment of too many columns: join pairs, or drop the oldest. Default: join */
  readonly whenFull?: "join" | "forget";
  /** Whether responses are streamed, so that the time to the first response is of interest. Default: no */
  readonly isStreamed?: boolean;
}

interface WantedColumns {
  readonly most: number;
  /** Minimum number of columns, below which columns are not joined to reach `perColumn`. */
  readonly fewest: number;
  /** Successful requests in each column. */
  readonly perColumn: number;
}

/** Number of requests that ended in a time span. */
interface EndedCounts {
  readonly requestCount: number;
  readonly failedCount: number;
  readonly cancelledCount: number;
}

/** Requests that ended in a time span. */
interface EndedRequests extends EndedCounts {
  /** Latencies of the successful requests. */
  readonly latency: ExponentialHistogram;
  /** Times from the send to the first response; empty unless responses are streamed. */
  readonly firstResponse: ExponentialHistogram;
}

/** An interval. Times are nanoseconds since the start of the timeline. */
export interface TimelineInterval extends EndedCounts {
  readonly startNs: number;
  readonly endNs: number;
  /** Mean number of requests in flight. */
  readonly meanOutstanding: number;
}

/** An interval with its histograms. */
export type TimelineColumn = TimelineInterval & EndedRequests;

/** An interval without its histograms. */
export interface TimelineBucket extends TimelineInterval {
  /** Latencies of the successful requests; absent if there are none. */
  readonly latency?: TimelineLatency;
}

/** Latencies in an interval, in nanoseconds. */
interface TimelineLatency {
  readonly meanNs: number;
  /** Percentiles, within 0.6 %. */
  readonly p50Ns: number;
  readonly p99Ns: number;
}

/** Contents of a column. */
type CellData = Pick<Cell, "failedCount" | "cancelledCount" | "openedCount" | "openedNs"> &
  Readonly<Record<"latency" | "firstResponse", HistogramCounts>>;

/** A timeline that has ended, as plain data. */
export interface FinishedTimeline {
  readonly startNs: number;
  readonly columnNs: number;
  readonly mostColumns: number;
  /** End of the last request. */
  readonly lastNs: number;
  readonly cells: readonly CellData[];
}

/**
 * Returns the columns of senders that sent at the same time, up to a time and without their histograms; empty if there are
 * none.
 * @param endNs monotonic, not before the end of the last response
 * @param afterEndNs time for which the requests were in flight after `endNs`, in nanoseconds, summed. Default: 0
 */
export function toBuckets(parts: readonly FinishedTimeline[], endNs: number, afterEndNs = 0): TimelineBucket[] {
  const [first] = parts;
  if (first === undefined) return [];
  const { columnNs, mostColumns } = first;
  const startNs = Math.min(...parts.map((part) => part.startNs));
  const whole = new Timeline(startNs, { columnNs, mostColumns });
  for (const part of parts) whole.addAll(part);
  const columns = whole.columns(endNs);
  return columns.map(({ latency, firstResponse: _, ...column }, index) => {
    const [p50Ns = 0, p99Ns = 0] = latency.quantiles([0.5, 0.99]) ?? [];
    const times = latency.count === 0 ? {} : { latency: { meanNs: latency.meanNs, p50Ns, p99Ns } };
    // The rest belongs to the last column, with the time for which it was in flight.
    const excess = index === columns.length - 1 ? afterEndNs / (column.endNs - column.startNs) : 0;
    return { ...column, meanOutstanding: Math.max(0, column.meanOutstanding - excess), ...times };
  });
}

class Cell {
  failedCount = 0;
  cancelledCount = 0;
  readonly latency = new ExponentialHistogram();
  readonly firstResponse = new ExponentialHistogram();
  /** Number of requests sent minus those that ended. */
  openedCount = 0;
  /** Sum of the send times minus the end times, from the start of the cell. */
  openedNs = 0;

  /** @param laterNs time by which the other cell starts later */
  merge(other: CellData, laterNs: number): void {
    this.failedCount += other.failedCount;
    this.cancelledCount += other.cancelledCount;
    this.latency.addAll(other.latency);
    this.firstResponse.addAll(other.firstResponse);
    this.openedCount += other.openedCount;
    this.openedNs += other.openedNs + other.openedCount * laterNs;
  }
}

/**
 * Counts of requests over time, in columns of equal width: the only timeline for levels, phases, pages and live views. If there
 * are too many columns, they become twice as wide, or the oldest are dropped. Memory is bounded for runs of any length.
 */
export class Timeline {
  /** Start of the first column, monotonic. */
  private startNs: number;
  private columnNs: number;
  private readonly mostColumns: number;
  private readonly isForgetful: boolean;
  private readonly isStreamed: boolean;
  private cells: Cell[] = [];
  /** Sum of the dropped columns. */
  private readonly before = new Cell();
  private lastNs: number;
  /** The cell of the last request, and its bounds; without a cell they exclude every time. */
  private cell = this.before;
  private lowNs = Number.POSITIVE_INFINITY;
  private highNs = Number.NEGATIVE_INFINITY;

  /** @param startNs monotonic */
  constructor(startNs: number, options: TimelineOptions = {}) {
    const { mostColumns = MOST_COLUMNS, columnNs = COLUMN_NS, durationNs, whenFull, isStreamed = false } = options;
    this.startNs = startNs;
    this.lastNs = startNs;
    this.mostColumns = durationNs === undefined ? mostColumns : MOST_COLUMNS_KNOWN;
    this.columnNs = Math.max(columnNs, (durationNs ?? 0) / mostColumns);
    this.isForgetful = whenFull === "forget";
    this.isStreamed = isStreamed;
  }

  /** End of the last request so far, monotonic. */
  get lastEndNs(): number {
    return this.lastNs;
  }

  /** Adds the rows `[0, count)` of finished requests. */
  add({ sendStartNs, firstByteNs, endNs: ends, overNs: overs, flags }: RecordColumns, count: number): void {
    for (let row = 0; row < count; row++) {
      const sentNs = sendStartNs[row] as number;
      const endNs = ends[row] as number;
      const flag = flags[row] as number;
      const cell = this.addTimes(sentNs, endNs, overs[row] as number);
      if ((flag & RECORD_CANCELLED) !== 0) cell.cancelledCount++;
      else if ((flag & RECORD_FAILED) !== 0) cell.failedCount++;
      else {
        cell.latency.add(endNs - sentNs);
        if (this.isStreamed) cell.firstResponse.add((firstByteNs[row] as number) - sentNs);
      }
    }
  }

  /** Adds a successful request. */
  addAnswered(sentNs: number, endNs: number): void {
    this.addTimes(sentNs, endNs, endNs).latency.add(endNs - sentNs);
  }

  /**
   * Ends the timeline. Nothing may be added afterwards.
   * @param openSentNs send times of the requests that are still in flight @param endNs end of the time in which they count.
   *   Default: the end of the columns
   */
  finish(openSentNs: readonly number[] = [], endNs?: number): FinishedTimeline {
    for (const sentNs of openSentNs) {
      this.addOpen(sentNs, 1);
      if (endNs !== undefined) this.addOpen(Math.max(sentNs, endNs), -1);
    }
    const { startNs, columnNs, mostColumns, lastNs, cells } = this;
    return { startNs, columnNs, mostColumns, lastNs, cells };
  }

  /** Adds a timeline that began at the same time or later. */
  addAll(other: FinishedTimeline): void {
    const added = new Timeline(other.startNs, { columnNs: other.columnNs });
    added.cells = other.cells.map((cell) => sumOf([cell]));
    while (added.columnNs < this.columnNs) added.join();
    while (this.columnNs < added.columnNs) this.join();
    const laterNs = other.startNs - this.startNs;
    const laterBy = this.indexOf(other.startNs);
    for (const [index, cell] of added.cells.entries())
      this.cellAt(laterBy + index).merge(cell, laterNs - laterBy * this.columnNs);
    this.lastNs = Math.max(this.lastNs, other.lastNs);
  }

  /**
   * Returns the columns up to a time. Requests that ended exactly then, and any rest, belong to the last column, so that the
   * columns add up.
   * @param fromNs monotonic: start of the load, from which times count. Default: the start
   */
  columns(endNs: number, fromNs = this.startNs, wanted?: WantedColumns): TimelineColumn[] {
    const [skippedNs, lengthNs] = [fromNs - this.startNs, endNs - this.startNs];
    const { most = this.mostColumns, fewest = most, perColumn = 0 } = wanted ?? {};
    const requestCount = wanted === undefined ? 0 : this.total().requestCount;
    const isTooMany = (count: number): boolean =>
      count > most || (count / 2 >= fewest && requestCount / count < perColumn);
    while (isTooMany(Math.ceil(lengthNs / this.columnNs) - Math.floor(skippedNs / this.columnNs))) this.join();
    const { columnNs, cells } = this;
    const parts = lengthNs / columnNs;
    const first = Math.floor(skippedNs / columnNs);
    const end = Math.max(first + 1, Math.min(Math.ceil(parts), Math.floor(parts + 1 - SHORTEST_LAST_RATIO)));
    let open = this.before.openedCount;
    // Cells of a sender that began within a column of another one reach into the next column.
    let earlyNs = 0;
    return Array.from({ length: end - first }, (_, place) => {
      // The first column includes the little that may precede it.
      const start = place === 0 ? 0 : first + place;
      const stop = first + place + 1;
      const { openedCount, openedNs, ...cell } = sumOf(cells.slice(start, stop === end ? undefined : stop), columnNs);
      const startNs = Math.max(start * columnNs, skippedNs);
      const stopNs = stop === end ? Math.max(lengthNs, startNs + 1) : stop * columnNs;
      open += openedCount;
      // Each request is in flight from its send to the end of the column, minus the time after its end.
      const dueNs = open * (stopNs - start * columnNs) - openedNs - earlyNs;
      const inFlightNs = Math.max(0, dueNs);
      earlyNs = inFlightNs - dueNs;
      const times = { startNs: startNs - skippedNs, endNs: stopNs - skippedNs };
      return { ...times, meanOutstanding: inFlightNs / (stopNs - startNs), ...endedOf(cell) };
    });
  }

  total(): EndedRequests {
    return endedOf(sumOf([this.before, ...this.cells]));
  }

  /** Returns the requests that ended in the column of a time or later, and the start of that column. @param atNs now */
  recent(sinceNs: number, atNs: number): EndedRequests & { readonly sinceNs: number } {
    this.makeRoom(atNs);
    const first = this.indexOf(sinceNs);
    return { sinceNs: this.startNs + first * this.columnNs, ...endedOf(sumOf(this.cells.slice(first))) };
  }

  /** Drops the columns, and begins again. */
  restart(atNs: number): void {
    this.forget(this.cells.length);
    this.startNs = atNs;
    this.lowNs = Number.POSITIVE_INFINITY;
  }

  /** Adds the time in flight, and returns the cell in which the request ended. */
  private addTimes(sentNs: number, endNs: number, overNs: number): Cell {
    if (overNs > this.lastNs) this.lastNs = overNs;
    // Most requests end in the same column as the previous one.
    if (endNs < this.lowNs || overNs >= this.highNs) {
      // The time in flight may extend to a later column than the end of the response.
      this.makeRoom(overNs);
      const index = this.indexOf(endNs);
      this.cell = this.cellAt(index);
      this.lowNs = this.startNs + index * this.columnNs;
      this.highNs = this.lowNs + this.columnNs;
    }
    const { cell } = this;
    if (this.isForgetful) return cell;
    if (sentNs >= this.lowNs && overNs < this.highNs) cell.openedNs += sentNs - Math.max(sentNs, overNs);
    else {
      this.addOpen(sentNs, 1);
      this.addOpen(Math.max(sentNs, overNs), -1);
    }
    return cell;
  }

  /** Adds a send, or an end. A time before the start counts as the start. */
  private addOpen(atNs: number, count: 1 | -1): void {
    const index = this.indexOf(atNs);
    const cell = this.cellAt(index);
    cell.openedCount += count;
    cell.openedNs += count * Math.max(0, atNs - this.startNs - index * this.columnNs);
  }

  private cellAt(index: number): Cell {
    const cell = this.cells[index];
    if (cell !== undefined) return cell;
    while (this.cells.length <= index) this.cells.push(new Cell());
    return this.cells[index] as Cell;
  }

  private indexOf(atNs: number): number {
    return Math.max(0, Math.floor((atNs - this.startNs) / this.columnNs));
  }

  private makeRoom(atNs: number): void {
    if (this.isForgetful) this.forget(this.indexOf(atNs) + 1 - this.mostColumns);
    else while (this.indexOf(atNs) >= this.mostColumns) this.join();
  }

  private forget(count: number): void {
    if (count <= 0) return;
    for (const cell of this.cells.splice(0, count)) this.before.merge(cell, 0);
    this.startNs += count * this.columnNs;
    this.lowNs = Number.POSITIVE_INFINITY;
  }

  private join(): void {
    const { cells, columnNs } = this;
    this.cells = cells.filter((_, index) => index % 2 === 0);
    for (const [index, cell] of cells.entries()) if (index % 2 === 1) cells[index - 1]?.merge(cell, columnNs);
    this.columnNs *= 2;
    this.lowNs = Number.POSITIVE_INFINITY;
  }
}

/** @param columnNs width of each column */
function sumOf(cells: readonly CellData[], columnNs = 0): Cell {
  const sum = new Cell();
  for (const [index, cell] of cells.entries()) sum.merge(cell, index * columnNs);
  return sum;
}

function endedOf({
  failedCount,
  cancelledCount,
  latency,
  firstResponse,
}: Omit<EndedRequests, "requestCount">): EndedRequests {
  return { requestCount: latency.count, failedCount, cancelledCount, latency, firstResponse };
}
