import { MOST_LEVELS } from "../load/levels.ts";
import { type Ladder, LoadSearch } from "../load/search.ts";
import {
  type FailedPoint,
  formatPoint,
  type MeasuredPoint,
  type PointParameters,
  type SearchSummary,
  type SweepSummary,
} from "../result/sweep.ts";

/** Measures the points of a sweep, or searches for the highest load that meets limits. Each point is a run. */

/** A varied parameter and its values, in order. */
export interface SweepAxis<Value = number> {
  readonly name: string;
  readonly values: readonly Value[];
}

/** Result of a point. */
export type PointOutcome<Point extends MeasuredPoint> =
  | {
      readonly kind: "measured";
      readonly point: Point;
      /** Reason why the point does not count as passed: failed requests, or an unstable measurement. Undefined if it passed. */
      readonly failureReason: string | undefined;
      /** Whether the client, instead of the server, may have been the limit. Undefined for results from a checkpoint. */
      readonly isClientLimited: boolean;
    }
  | ({ readonly kind: "failed" } & FailedPoint)
  /** Interrupted with Ctrl-C. */
  | { readonly kind: "interrupted" };

/** A search along one axis, once for each combination of the other parameters. */
export interface SweepSearch<Point extends MeasuredPoint> {
  /** Name of the axis, which is a load. */
  readonly parameter: string;
  readonly ladder: Ladder;
  /** The limits in words. */
  readonly limits: readonly string[];
  /** Returns the limits that a point breaks, in words with the measured values. */
  findBroken(point: Point): readonly string[];
}

/** The points to measure, and how to measure them. */
export interface SweepTask<Point extends MeasuredPoint> {
  readonly axes: readonly SweepAxis[];
  /** Undefined: every point is measured. */
  readonly search: SweepSearch<Point> | undefined;
  /**
   * Measures a point. An error ends the sweep.
   * @param repeat number of earlier measurements of the point
   * @param isFirst whether this is the first point of all
   */
  measure(parameters: PointParameters, repeat: number, isFirst: boolean): Promise<PointOutcome<Point>>;
  /** Receives the results so far after each point, and at the end. */
  onChange(sweep: SweepSummary<Point>): void;
  /** Receives progress in words. */
  note(text: string): void;
}

/** Maximum number of points of a sweep, as of levels. */
export const MOST_POINTS = MOST_LEVELS;

/** Returns the number of combinations of the axes' values. */
export function countPoints(axes: readonly { readonly values: readonly unknown[] }[]): number {
  return axes.reduce((count, { values }) => count * values.length, 1);
}

/** Returns all combinations of the axes' values, {@link MOST_POINTS} at most. The last axis changes fastest. */
export function combineAxes<Value>(axes: readonly SweepAxis<Value>[]): (readonly (readonly [string, Value])[])[] {
  return axes.reduce<(readonly (readonly [string, Value])[])[]>(
    (points, { name, values }) => points.flatMap((point) => values.map((value) => [...point, [name, value] as const])),
    [[]],
  );
}

/**
 * Measures a sweep. A failed point is reported and the sweep continues; an interrupted point ends it.
 * @returns the measured points, and whether all points passed or all searches found an answer
 */
export async function runSweep<Point extends MeasuredPoint>(
  task: SweepTask<Point>,
): Promise<{ readonly sweep: SweepSummary<Point>; readonly isPassed: boolean }> {
  const running = new RunningSweep(task);
  const isPassed = await (task.search === undefined ? running.measureAll() : running.searchAll(task.search));
  task.onChange(running.sweep);
  return { sweep: running.sweep, isPassed };
}

class RunningSweep<Point extends MeasuredPoint> {
  private readonly task: SweepTask<Point>;
  private readonly points: Point[] = [];
  private readonly failed: FailedPoint[] = [];
  private readonly answers: SearchSummary[] = [];
  private readonly brokenLimits = new Map<string, readonly string[]>();
  readonly sweep: SweepSummary<Point>;

  constructor(task: SweepTask<Point>) {
    const { points, failed, answers, brokenLimits } = this;
    this.task = task;
    const search = task.search && { limits: task.search.limits, answers };
    this.sweep = { points, failed, search, brokenLimits };
  }

  async measureAll(): Promise<boolean> {
    const points = combineAxes(this.task.axes);
    let isPassed = true;
    for (const [index, parameters] of points.entries()) {
      const outcome = await this.measure(parameters, `point ${index + 1} of ${points.length}`, 0);
      if (outcome.kind === "interrupted") return false;
      if (outcome.kind === "failed" || outcome.failureReason !== undefined) isPassed = false;
    }
    return isPassed;
  }

  async searchAll(search: SweepSearch<Point>): Promise<boolean> {
    const others = this.task.axes.filter(({ name }) => name !== search.parameter);
    let hasAll = true;
    for (const fixed of combineAxes(others)) {
      const isFound = await this.searchOne(search, fixed);
      if (isFound === undefined) return false;
      hasAll &&= isFound;
    }
    return hasAll;
  }

  /** Searches along the axis for one combination of the other parameters. Undefined if the search was interrupted. */
  private async searchOne(task: SweepSearch<Point>, fixed: PointParameters): Promise<boolean | undefined> {
    const { parameter } = task;
    const clientLimited = new Set<number>();
    const search = new LoadSearch(task.ladder, "ends");
    for (let value = search.next(); value !== undefined; value = search.next()) {
      const parameters = this.place(parameter, value, fixed);
      const repeat = search.timesTried(value);
      const outcome = await this.measure(parameters, repeat === 0 ? "search" : "search, to confirm", repeat);
      if (outcome.kind === "interrupted") return undefined;
      if (outcome.kind === "measured" && outcome.isClientLimited) clientLimited.add(value);
      search.add(value, this.judge(outcome, parameters, task) ? "kept" : "broken");
    }
    const { highest, broken } = search.ends;
    this.answers.push({
      parameter,
      fixed,
      highest: highest ?? null,
      lowestBroken: broken ?? null,
      isClientLimited: broken !== undefined && clientLimited.has(broken),
      highestVotes: highest === undefined ? null : search.votesOf(highest),
      lowestBrokenVotes: broken === undefined ? null : search.votesOf(broken),
    });
    return highest !== undefined;
  }

  private async measure(parameters: PointParameters, progress: string, repeat: number): Promise<PointOutcome<Point>> {
    const { points, failed, task } = this;
    task.note(`${progress}: ${formatPoint(parameters)}`);
    const outcome = await task.measure(parameters, repeat, points.length + failed.length === 0);
    if (outcome.kind === "interrupted") {
      task.note(`the sweep was interrupted at ${formatPoint(parameters)}; the summary holds the points before it`);
      return outcome;
    }
    if (outcome.kind === "measured") points.push(outcome.point);
    else {
      failed.push(outcome);
      task.note(`${formatPoint(parameters)} failed: ${outcome.reason}`);
    }
    task.onChange(this.sweep);
    return outcome;
  }

  /** Reports whether a point meets the limits: its results, its ratio of failed requests, and its stability where required. */
  private judge(
    outcome: Exclude<PointOutcome<Point>, { readonly kind: "interrupted" }>,
    parameters: PointParameters,
    search: SweepSearch<Point>,
  ): boolean {
    const failure = outcome.kind === "failed" ? outcome.reason : outcome.failureReason;
    const broken = outcome.kind === "failed" ? [] : search.findBroken(outcome.point);
    const failures = failure === undefined ? [] : [failure];
    if (outcome.kind === "measured") this.brokenLimits.set(outcome.point.name, [...failures, ...broken]);
    const found = [
      ...failures.map((text) => `fails: ${text}`),
      ...(broken.length === 0 ? [] : [`breaks ${broken.join("; ")}`]),
    ];
    this.task.note(`${formatPoint(parameters)} ${found.length === 0 ? "keeps all limits" : found.join("; it ")}`);
    return found.length === 0;
  }

  /** Inserts the searched value in the order of the axes, which determines folder names. */
  private place(parameter: string, value: number, fixed: PointParameters): PointParameters {
    const others = [...fixed];
    return this.task.axes.map(({ name }) =>
      name === parameter ? [name, value] : (others.shift() as PointParameters[number]),
    );
  }
}
