import { basename, dirname, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { word } from "../plan/messages.ts";
import { nearestName, nearHint } from "../plan/nearest-name.ts";
import { messageOf, movePath, type Problem, problem, UserError, userError } from "../plan/problem.ts";
import { msToSec } from "../plan/units.ts";
import { guessedOption, renamedFunction } from "./renamed/hints.ts";

/** Errors of a scenario's code, with positions in the user's files. */

/** The folder of Rampart's code when it runs from source. */
const OWN_FOLDER = dirname(dirname(fileURLToPath(import.meta.url))) + sep;
const HINT = "Correct the file.";
/** Maximum number of syntax errors to report. More errors follow from the first ones, or the file is not a scenario at all. */
const MOST_PARTS = 3;

/**
 * Converts an error that occurred while a scenario was loaded.
 * @param file name as the user typed it
 * @param path absolute path of the file
 * @param names exports of `"rampart"`
 */
export function toLoadError(error: unknown, file: string, path: string, names: readonly string[] = []): UserError {
  if (error instanceof UserError) return new UserError(withPlace(error, file, path));
  // Bun reports several errors in one file together, each with its position. Errors after a syntax error mostly follow from it.
  const all = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  const parts = /^(?:Expected|Unexpected) /.test(messageOf(all[0])) ? all.slice(0, 1) : all;
  return new UserError(
    parts.slice(0, MOST_PARTS).map((part) => {
      const found = toProblem(part, "does not load", file, path);
      return { ...found, hint: hintForName(word(found.message), names) ?? found.hint };
    }),
  );
}

/** Whether a file, given by path or URL, belongs to Rampart and not to a user. */
export function isOwnFile(file: string): boolean {
  return toPath(file).startsWith(OWN_FOLDER);
}

/** Receives a line for standard error. */
export type Say = (text: string) => void;

/** Times after which a scenario that is still loading is mentioned, and after which that is an error, in milliseconds. */
export interface LoadLimits {
  readonly noticeMs: number;
  readonly mostMs: number;
  /** Whether the process may end meanwhile. Absent: false, because Node ends silently when only a promise is pending. */
  readonly letsEnd?: true;
}

/** Long, because a scenario may start a server before it is loaded. */
export const LOAD_LIMITS: LoadLimits = { noticeMs: 10_000, mostMs: 300_000 };

function stillLoading(ms: number): string {
  return `is still loading after ${msToSec(ms)} s`;
}

/** Describes a scenario that is still loading, without a full stop. */
export function describeLoading(ms: number): string {
  return `${stillLoading(ms)}: it waits for its top-level await`;
}

/**
 * Waits until a scenario is loaded.
 * @param limits default: a sentence after 10 s, and an error after 5 min @throws UserError if it is not loaded in time
 */
export async function beforeLimit<T>(
  loading: Promise<T>,
  file: string,
  say: Say,
  { noticeMs, mostMs, letsEnd }: LoadLimits = LOAD_LIMITS,
): Promise<T> {
  const timers: ReturnType<typeof setTimeout>[] = [];
  const late = new Promise<never>((_resolve, reject) => {
    const end = userError("exception", file, stillLoading(mostMs), "Look at what its top-level await waits for.");
    timers.push(
      setTimeout(
        () => say(`rampart: ${file}: ${describeLoading(noticeMs)}, for ${msToSec(mostMs)} s at most\n`),
        noticeMs,
      ),
      setTimeout(() => reject(end), mostMs),
    );
    if (letsEnd === true) for (const timer of timers) timer.unref();
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    timers.forEach(clearTimeout);
  }
}

/** Returns the problems of an error from Rampart's builders, with the place in the scenario's code that called them. */
export function withPlace(error: UserError, file: string, path: string): readonly Problem[] {
  const place = placeOf(error, path);
  if (place === undefined) return error.problems;
  return error.problems.map((found) => movePath(found, (named) => `${formatPlace(place, file, path)}: ${named}`));
}

/** Describes that a scenario's code ended the process. @param when for example `during its run` */
export function describeExit(file: string, code: number, when: string): string {
  return `rampart: ${file}: its code ended the process ${when} (exit code ${code}), so the run does not count. Remove that call, or throw an error instead.`;
}

/**
 * A name that the file uses without a definition, or imports from `"rampart"` although it does not exist: the messages of Bun, and of Node
 * and Deno.
 */
const UNDEFINED_NAME = /: (?:Can't find variable: )?([\w$]+) is not defined$/;
const MISSING_EXPORT =
  /named '([\w$]+)' not found in module 'rampart'|'rampart(?::\w+)?' does not provide an export named '([\w$]+)'/;

/** A call of something that is not a function, such as `rampart.server(1)`. */
const NO_FUNCTION = /[\w)]\.([\w$]+) is not a function/;

/** Methods of metrics, for hints on a call of a missing one. */
const METHODS: readonly (readonly [call: RegExp, hint: string])[] = [
  [/\bextracted\([^)]*\)\.\w+ is/, 'Write its statistic first: extracted("NAME").mean().below(1).'],
  [/\berrorRate\(\)\.\w+ is/, "It has is, below, atMost and where."],
  [
    /\b(?:p\d+|percentile|mean|min|max|throughput|metric|goodput)\([^)]*\)\.\w+ is/,
    "A metric has below, atMost, above, atLeast, where and within.",
  ],
];

/** A package that is not installed: the messages of Bun and Deno, and of Node. */
const MISSING_PACKAGE = /Cannot find (?:package|module) '([^'./][^']*)'|bare specifier "([^"./][^"]*)"/;

/** Returns a hint on how to correct a name; undefined for other errors. */
function hintForName(message: string, names: readonly string[]): string | undefined {
  const [, inMost, inDeno] = MISSING_PACKAGE.exec(message) ?? [];
  const missing = inMost ?? inDeno;
  if (missing !== undefined && /^k6\b/.test(missing))
    return "Use the functions of Rampart instead, and write export default defineScenario({ … }).";
  if (missing !== undefined) return `Install it beside the scenario: npm install ${missing}.`;
  const undefinedName = UNDEFINED_NAME.exec(message)?.[1];
  if (undefinedName !== undefined && names.includes(undefinedName))
    return `Add it to the import: import { ${undefinedName} } from "rampart".`;
  const [, inBun, inNode] = MISSING_EXPORT.exec(message) ?? [];
  const name = undefinedName ?? inBun ?? inNode ?? NO_FUNCTION.exec(message)?.[1] ?? "";
  const renamed = renamedFunction(name);
  const method = METHODS.find(([call]) => call.test(message))?.[1];
  if (renamed !== undefined || method !== undefined) return renamed ?? method;
  const near = name === "" || NO_FUNCTION.test(message) ? undefined : nearestName(name, names);
  return near === undefined ? guessedOption([name]) : nearHint(near, "");
}

/** Converts an error that the scenario's code throws later; undefined if no frame is in the scenario's folder. */
export function toLaterError(error: unknown, file: string, path: string): UserError | undefined {
  if (placeOf(error, path) === undefined) return undefined;
  return new UserError([toProblem(error, "throws while it runs", file, path)]);
}

/** Converts an error that a hook throws. @param hook name of the hook */
export function toHookError(error: unknown, hook: string, file: string, path: string): UserError {
  return new UserError(toProblem(error, `${hook} fails`, file, path, describeCommand(error) ?? messageOf(error)));
}

/** Converts an error from a function that replaces a field. */
export function toFieldProblem(error: unknown, field: string, file: string, path: string): Problem {
  return toProblem(error, `the function of ${field} throws`, file, path);
}

/** Number of last lines of a command's output that errors contain. */
const MAX_SHOWN_LINES = 20;

/** Describes a failed command of `$`; undefined for other errors. zx's message would contain frames of Rampart. */
function describeCommand(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("exitCode" in error) || !("stdall" in error)) return undefined;
  const { exitCode, signal, stderr, stdall, cause } = error as object as Readonly<Record<string, unknown>>;
  if (exitCode === null && !signal) return messageOf(cause);
  const end = signal ? `a command was ended by ${signal}` : `a command ended with exit code ${exitCode}`;
  const printed = String(stderr).trim() || String(stdall).trim();
  return printed === "" ? end : `${end}: ${printed.split("\n").slice(-MAX_SHOWN_LINES).join("\n")}`;
}

function toProblem(error: unknown, what: string, file: string, path: string, reason = messageOf(error)): Problem {
  const place = placeOf(error, path);
  const message = `${what}: ${reason
    .replace(PLACE_IN_MESSAGE, "")
    .replace(REPEATED, "")
    .replace(/^SyntaxError: |\.+$/g, "")}`;
  if (place === undefined) return problem("exception", file, message, HINT);
  return problem("exception", formatPlace(place, file, path), message, HINT);
}

function formatPlace(place: Place, file: string, path: string): string {
  const shown = place.path === path ? file : basename(place.path);
  return `${shown}:${place.line}${place.column === undefined ? "" : `:${place.column}`}`;
}

interface Place {
  readonly path: string;
  readonly line: number;
  /** Column, from 1; undefined if the runtime does not report it. */
  readonly column?: number | undefined;
}

interface WithPlace {
  readonly stack?: unknown;
  readonly position?: { readonly file?: string; readonly line?: number; readonly column?: number } | null;
}

/** A position in a stack frame, or above the stack, where Node reports syntax errors. */
const FRAME = /(?:^|[\s(])((?:file:\/\/)?\/[^\s()]+?):(\d+)(?::(\d+))?(?=[)\s]|$)/g;

/** The position that the load hook appends to a syntax error's message. */
const PLACE_IN_MESSAGE = / \(\/[^()]+:\d+\)$/;

/** Text that Bun appends to the message of a call that is not a function. */
const REPEATED = /\. \(In '.*', '.*' is undefined\)$/s;

/** Returns the innermost position of an error in the scenario's folder. */
function placeOf(error: unknown, path: string): Place | undefined {
  let stack: unknown;
  try {
    const { position, stack: text } = (error ?? {}) as WithPlace;
    if (position?.file !== undefined && position.line !== undefined)
      return { path: position.file, line: position.line, column: position.column };
    stack = typeof text === "string" ? `${messageOf(error)}\n${text}` : undefined;
  } catch {
    return undefined;
  }
  if (typeof stack !== "string") return undefined;
  const folder = dirname(path) + sep;
  for (const [, url = "", line, column] of stack.matchAll(FRAME)) {
    const found = url.startsWith("file://") ? toPath(url) : url;
    if (!found.startsWith(folder) || found.includes("node_modules") || found.startsWith(OWN_FOLDER)) continue;
    return { path: found, line: Number(line), column: column === undefined ? undefined : Number(column) };
  }
  return undefined;
}

function toPath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}
