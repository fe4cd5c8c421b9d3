import { type NameOf, type Text, word } from "./messages.ts";
import { defined } from "./objects.ts";
import { limitMessage } from "./show-value.ts";
import { countOf } from "./units.ts";

/**
 * Kind of problem with the user's input:
 *
 * - `conflict`: two settings exclude each other, or one needs another
 * - `exception`: the scenario's own code throws or does not end
 * - `invalid-value`: the value has the wrong form or type, or is not allowed
 * - `mismatch`: data does not fit the model, the load or other data
 * - `missing`: something required is absent
 * - `not-json`: a text is not valid JSON
 * - `overwrite`: an output would replace a file that is still needed
 * - `unknown-name`: there is no option, field or choice of this name
 * - `unreadable`, `unwritable`: a file cannot be read or written
 * - `unsupported`: the target, or this version, cannot do it
 */
export type ProblemCode =
  | "conflict"
  | "exception"
  | "invalid-value"
  | "mismatch"
  | "missing"
  | "not-json"
  | "overwrite"
  | "unknown-name"
  | "unreadable"
  | "unsupported"
  | "unwritable";

/** A problem with the user's input, as plain data that every front door can put into words. */
export interface Problem {
  readonly code: ProblemCode;
  /** A setting, the front door's name of it, the plan's path (`load.end`), or the file and position (`inputs.json, data[2]`). */
  readonly path: Text;
  /** One sentence without the path and without a full stop. */
  readonly message: Text;
  /** The value as the user wrote it; absent if there was none. */
  readonly value?: string | undefined;
  /** A sentence that says how to correct it. Empty: the message is sufficient. */
  readonly hint: Text;
}

/** A problem in the words of a front door. */
export interface WordedProblem extends Problem {
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

/** Maximum length of a quoted value: enough to recognise it without printing a whole file. */
const MAX_VALUE_CHARACTERS = 300;
/** A path has at most 4,096 characters. */
const MAX_PATH_CHARACTERS = 4200;
/** The hint of an internal error is its stack. */
const MAX_STACK_CHARACTERS = 4000;
/** Maximum number of problems reported at once. */
const MAX_PROBLEMS = 50;

/**
 * Invalid input, with all problems at once, at most 50. Values are cut to 300 characters, messages and hints to 2,000. It is
 * thrown before anything has been started or written.
 */
export class UserError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: Problem | readonly Problem[]) {
    const shown = limitProblems([problems].flat());
    super(shown.map(formatProblem).join("\n"));
    this.name = "UserError";
    this.problems = shown;
  }

  /** The content of `message`, with the settings that it names. */
  get text(): Text {
    return this.problems.map((found, index) => [index === 0 ? "" : "\n", textOfProblem(found)]);
  }
}

function limitProblems(problems: readonly Problem[]): readonly Problem[] {
  const shown = problems.slice(0, MAX_PROBLEMS).map(limitLength);
  const last = shown.at(-1);
  const hiddenCount = problems.length - shown.length;
  if (last === undefined || hiddenCount === 0) return shown;
  const hint = "Correct the ones above first.";
  return [
    ...shown,
    problem(last.code, last.path, `${countOf(hiddenCount, "more problem follows", "more problems follow")}`, hint),
  ];
}

function limitLength({ code, path, message, value, hint }: Problem): Problem {
  return {
    code,
    path: limitText(path, MAX_PATH_CHARACTERS),
    message: limitText(message),
    ...(value === undefined ? {} : { value: limitMessage(value, MAX_VALUE_CHARACTERS + 1) }),
    hint: limitText(hint),
  };
}

/** Limits a text of words. Other texts are limited when they are formatted. */
function limitText(text: Text, most?: number): Text {
  return typeof text === "string" ? limitMessage(text, most) : text;
}

/** Formats a problem in words. @param nameOf the names of the user's front door; default: settings keep their paths in the plan */
export function wordProblem({ path, message, hint, ...rest }: Problem, nameOf?: NameOf): WordedProblem {
  return {
    ...rest,
    path: limitMessage(word(path, nameOf), MAX_PATH_CHARACTERS),
    message: limitMessage(word(message, nameOf)),
    hint: limitMessage(word(hint, nameOf)),
  };
}

/** Formats the keys of a path like code: `assert[0].where`. */
export function formatKeys(keys: readonly string[]): string {
  return keys.map((key, index) => (/^\d+$/.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}

/** Changes the path of a problem, unless the path is a setting of a plan. */
export function movePath(found: Problem, change: (path: string) => string): Problem {
  return typeof found.path === "string" ? { ...found, path: change(found.path) } : found;
}

/** Returns the result of `read`; undefined if it throws problems. @param problems receives them @throws all other errors */
export function collect<T>(problems: Problem[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

/**
 * Adds the problems of one of several plans, each once. @param place changes the path of a problem to that in all plans @throws
 * other errors
 */
export function addProblems(problems: Problem[], error: unknown, place: (path: string) => string): void {
  if (!(error instanceof UserError)) throw error;
  const known = new Set(problems.map((one) => JSON.stringify(one)));
  const found = error.problems.map((one) => movePath(one, place));
  problems.push(...found.filter((one) => !known.has(JSON.stringify(one))));
}

/** Formats an error for the user of a front door. Returns errors that are not for users unchanged. */
export function wordError<E>(error: E, nameOf: NameOf | undefined): E;
export function wordError(error: unknown, nameOf: NameOf | undefined): unknown {
  if (error instanceof RunError) return error.reword(word(error.text, nameOf), word(error.hint, nameOf));
  if (error instanceof UserError) return new UserError(error.problems.map((found) => wordProblem(found, nameOf)));
  return error;
}

/** Formats a problem: `PATH: message (got VALUE). Hint.` */
export function formatProblem(problem: Problem): string {
  return word(textOfProblem(problem));
}

function textOfProblem({ path, message, value, hint }: Problem): Text {
  return [...sentence([path, ": ", message, value === undefined ? "" : ` (got ${value})`]), ...spaced(hint)];
}

function spaced(hint: Text): readonly Text[] {
  return hint === "" ? [] : [" ", hint];
}

/** Ends a sentence. Messages of servers and of perf_analyzer may already end with a full stop. */
function sentence(parts: readonly Text[]): readonly Text[] {
  return /[.?!]$/.test(word(parts)) ? parts : [...parts, "."];
}

/** Formats an error of a run: `message. Hint.` */
export function formatRunError({ message, hint }: RunError): string {
  return word([...sentence([message]), ...spaced(hint)]);
}

/** Creates a problem. The arguments are the fields of {@link Problem}. */
export function problem(code: ProblemCode, path: Text, message: Text, hint: Text, value?: string): Problem {
  return { code, path, message, hint, ...defined({ value }) };
}

/** Hint for settings that exclude each other. */
export const ONLY_ONE = "Give only one of them.";

/** Creates an error with one problem. The arguments are the fields of {@link Problem}. */
export function userError(...problemArguments: Parameters<typeof problem>): UserError {
  return new UserError(problem(...problemArguments));
}

/**
 * Creates the error of a file or folder that cannot be read.
 * @param smaller what to do about a file that is larger than the maximum
 */
export function unreadable(
  path: string,
  error: unknown,
  hint = "Give the path of an existing file.",
  smaller = "Give a smaller file.",
): UserError {
  const isTooLarge = (error as { readonly code?: unknown } | undefined)?.code === "EFBIG";
  return userError("unreadable", path, `cannot be read: ${describeFileError(error)}`, isTooLarge ? smaller : hint);
}

export const NO_FILE = "there is no such file";
/** Message for a path of a folder that does not exist. */
export const NO_FOLDER = "there is no such folder";
const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: NO_FILE,
  EEXIST: "there is a file of this name",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "the name is too long",
};

/** Describes an error of the file system without the names of system calls. */
function describeFileError(error: unknown): string {
  return FILE_ERRORS[String((error as { readonly code?: unknown } | undefined)?.code)] ?? messageOf(error);
}

/** Describes why a file cannot be written. If a path does not exist, it is the folder. */
export function describeWriteError(error: unknown): string {
  return (error as { readonly code?: unknown } | undefined)?.code === "ENOENT" ? NO_FOLDER : describeFileError(error);
}

export function notJson(path: string, error: unknown, hint = ""): UserError {
  return userError("not-json", path, `is not JSON: ${messageOf(error)}`, hint);
}

/** Reason why a valid run failed. */
export type RunErrorCode =
  | "unreachable"
  | "stalled"
  | "refused"
  | "unsupported"
  | "failed-request"
  /** An assertion did not hold during the run, and ended it. */
  | "assertion-failed"
  /** No request succeeded while a level was measured. */
  | "no-valid-requests"
  /** The load needs more of this host than the run may use: requests in flight, memory, files or ports. */
  | "host-limit"
  | "output"
  /** The user ended the run before there was a result. */
  | "interrupted"
  /** The scenario's code threw an error. */
  | "exception"
  | "internal";

/** The failed request of an error: kind and status as in `transport/failure.ts`, and the message of the server or the runtime. */
export interface FailureFacts {
  readonly kind: string;
  readonly message: string;
  readonly status?: number | undefined;
}

/** Facts that a front end needs to describe an error. */
export interface RunErrorFacts {
  /** The part of the preparation that failed, if it matters: writing tensors to shared memory. */
  readonly stage?: "shared-memory" | undefined;
  /** The request that failed before the load began; absent for all other errors. */
  readonly failure?: FailureFacts | undefined;
}

/**
 * A run failed, for example because the target is unreachable, rejects requests, or lacks a feature. Its message is cut to 2,000 characters.
 */
export class RunError extends Error {
  readonly code: RunErrorCode;
  /** The content of `message`, with the settings that it names. */
  readonly text: Text;
  readonly hint: Text;
  readonly facts: RunErrorFacts;

  constructor(code: RunErrorCode, message: Text, hint: Text, facts: RunErrorFacts = {}) {
    super(limitMessage(word(message)));
    this.name = "RunError";
    this.code = code;
    this.text = limitText(message);
    this.hint = limitText(hint, MAX_STACK_CHARACTERS);
    this.facts = facts;
  }

  /** Returns the same error with another message. */
  reword(message: Text, hint = this.hint): RunError {
    return new RunError(this.code, message, hint, this.facts);
  }
}

/** Returns the message of any caught value, cut to 2,000 characters. Never throws, even if a user's error object does. */
export function messageOf(error: unknown): string {
  try {
    return limitMessage(String(error instanceof Error ? error.message : error));
  } catch {
    return "an error that cannot be read";
  }
}

/** Returns the message of any caught value, with the settings that it names. */
export function textOf(error: unknown): Text {
  return error instanceof RunError || error instanceof UserError ? error.text : messageOf(error);
}
