import * as v from "valibot";
import { LEVEL_UNITS } from "../../../load/level-units.ts";
import type { CustomFacts } from "../../../plan/assertions.ts";
import { formatKeys, type UserError, userError } from "../../../plan/problem.ts";
import { showValue } from "../../../plan/show-value.ts";

/** A run as its report has it, whichever tool wrote that. */

/** What to do about a file that is too large to be a report. */
export const REPORT_SIZE_HINT = "Give the file of --json: a report of any run is smaller.";

/** A value of a level, with its 95 % confidence interval within the run where the file has one. Times are nanoseconds, ratios 0 to 1. */
export interface MeasuredValue {
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  /** Of a ratio: the number of requests that it is of. Absent: not known. */
  readonly total?: number;
  /** Its report marks it as uncertain. */
  readonly isUncertain?: true;
  /** Of a metric that a scenario defines: what it says about it. */
  readonly custom?: CustomFacts;
}

/** A level of load: what is compared with the same level of another run. */
export interface MeasuredLevel {
  /** The load in words, with its phase and the tags of its requests: `concurrency 4`. Equal for levels that can be compared. */
  readonly label: string;
  /** The label as the reports of the run name the level: `4 users`. Default: the label. */
  readonly name?: string;
  /** By the name of the metric: `throughput`, `latency.p99`. */
  readonly values: ReadonlyMap<string, MeasuredValue>;
  /** What limits the trust in it; sentences without a full stop. Default: nothing */
  readonly notes?: readonly string[];
}

/** One whole run. */
export interface MeasuredRun {
  /** The file, and for a file of several runs the number of the run, from 1. */
  readonly source: string;
  /** The format of the file in words. */
  readonly format: string;
  /** When it began, in the file's words. Absent: not known. */
  readonly startedAt?: string;
  /** It ended early. */
  readonly isPartial: boolean;
  /** What was measured and how: a path of the plan, such as `target.model`, and its value. */
  readonly facts: ReadonlyMap<string, string>;
  readonly levels: readonly MeasuredLevel[];
  /** What its file warns of, in the first run of the file. Default: nothing. */
  readonly notes?: readonly string[];
  /** Set: files of this format have no confidence intervals within the run, whatever was measured. */
  readonly isSummary?: true;
  /** What the file says about requests and servers beyond the values of levels, in its own names: `sessions (3)`. Default: nothing. */
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

/** Returns a document at hand as a file. @param path what it is called */
export function toRunFile(path: string, document: object): RunFile {
  return { path, head: "", readText: () => "", readDocument: () => ({ ...document }) };
}

/** A format of files with runs. */
export interface RunFormat {
  /** In words: `AIPerf's JSON`. */
  readonly name: string;
  /** Reports whether a file has this format by its first characters, so that large files are not parsed twice. */
  detectHead?(head: string): boolean;
  /** Reports whether a file has this format by its parsed JSON. */
  detectDocument?(document: Readonly<Record<string, unknown>>): boolean;
  /** Reads all runs of a file. @throws UserError naming the file and the place */
  read(file: RunFile): readonly MeasuredRun[];
}

/** Names of units in the files of the different tools, without hyphens and underscores. */
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

/** Checks the part of another tool's report that is read. @throws UserError naming the file and the place */
export function parseDocument<S extends v.GenericSchema>(schema: S, document: unknown, path: string): v.InferOutput<S> {
  const result = v.safeParse(schema, document);
  if (result.success) return result.output;
  const { place, message } = describeIssue(result.issues[0]);
  const at = place === undefined ? path : `${path}, ${place}`;
  throw userError("invalid-value", at, message, "Give a report as the tool wrote it.");
}

/** Checks the part of Rampart's own report that is read, whose version is right. @throws UserError naming the file and the place */
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

/** Returns the error of a file of Rampart of another version. @param expected the version that is read */
export function otherVersion(path: string, version: unknown, expected: number): UserError {
  const message = `is a report of version ${showValue(version)}, and this Rampart reads version ${expected}`;
  return userError("mismatch", path, message, REREAD);
}

/** Returns the error of a file of Rampart whose version is right, and whose fields are not. */
export function otherBuild(path: string, issue: v.BaseIssue<unknown>): UserError {
  const { place, message } = describeIssue(issue);
  const field = place === undefined ? "" : `: ${place} ${message}`;
  return userError("mismatch", path, `was written by another build of Rampart, or edited${field}`, REREAD);
}

const REREAD = "Use the Rampart that wrote it, or measure again.";

/** Names of statistics in reports besides percentiles, and here. */
const STATISTICS: ReadonlyMap<string, string> = new Map([
  ["mean", "mean"],
  ["avg", "mean"],
  ["average", "mean"],
  ["min", "min"],
  ["max", "max"],
]);

/** Adds the mean, the minimum, the percentiles and the maximum of a metric. @param scale to the unit of the metric */
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

/** Makes a value with its interval, if it has both ends. */
export function withBounds(value: number, low: number | null, high: number | null): MeasuredValue {
  return low === null || high === null ? { value } : { value, low, high };
}
