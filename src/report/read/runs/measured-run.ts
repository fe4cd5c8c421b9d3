import * as v from "valibot";
import { LEVEL_UNITS } from "../../../load/level-units.ts";
import type { CustomFacts } from "../../../plan/assertions.ts";
import { formatKeys, type UserError, userError } from "../../../plan/problem.ts";
import { showValue } from "../../../plan/show-value.ts";

/** A run as read from a report, whichever tool wrote it. */

/** Hint for a file that is too large to be a report. */
export const REPORT_SIZE_HINT = "Give the file of --json: a report of any run is smaller.";

/** A value of a level, with its 95 % confidence interval within the run where the file has one. Times are nanoseconds, ratios 0 to 1. */
export interface MeasuredValue {
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  /** For a ratio: its total number of requests. Absent: unknown. */
  readonly total?: number;
  /** Set if its report marks it as uncertain. */
  readonly isUncertain?: true;
  /** For a metric that a scenario defines: the scenario's definition. */
  readonly custom?: CustomFacts;
}

/** A level of load, which is compared with the same level of another run. */
export interface MeasuredLevel {
  /** The load in words, with its phase and the tags of its requests: `concurrency 4`. Equal for levels that can be compared. */
  readonly label: string;
  /** The label with the name that the run's reports use for the level: `4 users`. Default: the label */
  readonly name?: string;
  /** Values by the name of the metric: `throughput`, `latency.p99`. */
  readonly values: ReadonlyMap<string, MeasuredValue>;
  /** Reasons why the level may be unreliable; sentences without a full stop. Default: none */
  readonly notes?: readonly string[];
}

/** One whole run. */
export interface MeasuredRun {
  /** The file; for a file of several runs, also the number of the run, from 1. */
  readonly source: string;
  /** The format of the file in words. */
  readonly format: string;
  /** Time at which the run began, as written in the file. Absent: unknown. */
  readonly startedAt?: string;
  readonly isPartial: boolean;
  /** Settings of the measurement: a path of the plan, such as `target.model`, and its value. */
  readonly facts: ReadonlyMap<string, string>;
  readonly levels: readonly MeasuredLevel[];
  /** Warnings of the file, in its first run. Default: none */
  readonly notes?: readonly string[];
  /** Set if files of this format never have confidence intervals within the run. */
  readonly isSummary?: true;
  /** Data about requests and servers besides the levels' values, by the file's names: `sessions (3)`. Default: none */
  readonly notCompared?: readonly string[];
}

/** A file to read. */
export interface RunFile {
  readonly path: string;
  /** Its first characters. */
  readonly head: string;
  /** Returns the whole text. @throws UserError when it cannot be read */
  readText(): string;
  /** Returns its JSON as an object; undefined if it is not an object. */
  readDocument(): Readonly<Record<string, unknown>> | undefined;
}

/** Returns a document in memory as a file. @param path name of the file in messages */
export function toRunFile(path: string, document: object): RunFile {
  return { path, head: "", readText: () => "", readDocument: () => ({ ...document }) };
}

/** A format of files with runs. */
export interface RunFormat {
  /** Name in words: `AIPerf's JSON`. */
  readonly name: string;
  /** Reports by its first characters whether a file has this format, so that large files are not parsed twice. */
  detectHead?(head: string): boolean;
  /** Reports by its parsed JSON whether a file has this format. */
  detectDocument?(document: Readonly<Record<string, unknown>>): boolean;
  /** Reads all runs of a file. @throws UserError naming the file and the position */
  read(file: RunFile): readonly MeasuredRun[];
}

/** Names of units in the files of different tools, without hyphens and underscores. */
const UNITS = Object.values(LEVEL_UNITS).flatMap((unit) =>
  [unit.name, unit.title, unit.exported].map((name) => [normalize(name), unit] as const),
);

/** Describes a level of load the same way for all formats: `concurrency 4`, `10 requests/s`. @param unit as the file names it */
export function describeLoad(unit: string, level: number): string {
  const known = UNITS.find(([name]) => name === normalize(unit));
  return known === undefined ? `${unit.replaceAll("_", " ")} ${level}` : known[1].describe(level);
}

function normalize(name: string): string {
  return name.toLowerCase().replace(/[-_\s]+/g, " ");
}

/** Checks the required part of another tool's report. @throws UserError naming the file and the position */
export function parseDocument<S extends v.GenericSchema>(schema: S, document: unknown, path: string): v.InferOutput<S> {
  const result = v.safeParse(schema, document);
  if (result.success) return result.output;
  const { place, message } = describeIssue(result.issues[0]);
  const at = place === undefined ? path : `${path}, ${place}`;
  throw userError("invalid-value", at, message, "Give a report as the tool wrote it.");
}

/** Checks the required part of Rampart's report, whose version is right. @throws UserError naming the file and the position */
export function parseOwn<S extends v.GenericSchema>(schema: S, document: unknown, path: string): v.InferOutput<S> {
  const result = v.safeParse(schema, document);
  if (result.success) return result.output;
  throw otherBuild(path, result.issues[0]);
}

function describeIssue(issue: v.BaseIssue<unknown>): { readonly place: string | undefined; readonly message: string } {
  const place = v.getDotPath(issue)?.split(".");
  const message = issue.received === "undefined" ? "is missing" : `has a wrong value: ${issue.message}`;
  return { place: place && formatKeys(place), message };
}

/** Returns the error for a file of Rampart with another version. @param expected the version that can be read */
export function otherVersion(path: string, version: unknown, expected: number): UserError {
  const message = `is a report of version ${showValue(version)}, and this Rampart reads version ${expected}`;
  return userError("mismatch", path, message, REREAD);
}

/** Returns the error for a file of Rampart with the right version but wrong fields. */
export function otherBuild(path: string, issue: v.BaseIssue<unknown>): UserError {
  const { place, message } = describeIssue(issue);
  const field = place === undefined ? "" : `: ${place} ${message}`;
  return userError("mismatch", path, `was written by another build of Rampart, or edited${field}`, REREAD);
}

const REREAD = "Use the Rampart that wrote it, or measure again.";

/** Names of statistics in reports, except percentiles, and in this code. */
const STATISTICS: ReadonlyMap<string, string> = new Map([
  ["mean", "mean"],
  ["avg", "mean"],
  ["average", "mean"],
  ["min", "min"],
  ["max", "max"],
]);

/** Adds the mean, the minimum, the percentiles and the maximum of a metric. @param scale factor to the unit of the metric */
export function putStatistics(
  values: Map<string, MeasuredValue>,
  name: string,
  statistics: Readonly<Record<string, unknown>>,
  scale: number,
): void {
  for (const [key, value] of Object.entries(statistics)) {
    const statistic = STATISTICS.get(key) ?? (/^p\d+(\.\d+)?$/.test(key) ? key : undefined);
    if (statistic === undefined || typeof value !== "number") continue;
    values.set(`${name}.${statistic}`, { value: value * scale });
  }
}

/** Creates a value with its interval, if it has both ends. */
export function withBounds(value: number, low: number | null, high: number | null): MeasuredValue {
  return low === null || high === null ? { value } : { value, low, high };
}
