/** A problem with the user's input, in a form that every front end can print. */
export interface Problem {
  /** A setting that `setting()` marks, the front end's name of it, the plan's path (`load.end`), or the file and place (`inputs.json, data[2]`). */
  readonly path: string;
  /** One sentence without the path and without a full stop. */
  readonly message: string;
  /** The value as the user wrote it; absent when there was none. */
  readonly value?: string | undefined;
  /** How to correct it. */
  readonly hint: string;
}

/** Enough to recognise a value without printing a whole file. */
const MAX_VALUE_CHARACTERS = 300;

/** Invalid input, with all problems at once. Values are cut to 300 characters. When it is thrown, nothing has been started or written. */
export class UserError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const shown = problems.map(withShortValue);
    super(shown.map(formatProblem).join("\n"));
    this.name = "UserError";
    this.problems = shown;
  }
}

/** Returns the error of a file or folder that cannot be read. */
export function unreadable(path: string, error: unknown, hint: string): UserError {
  return new UserError([{ path, message: `cannot be read: ${messageOf(error)}`, hint }]);
}

function withShortValue(problem: Problem): Problem {
  const { value = "" } = problem;
  if (value.length <= MAX_VALUE_CHARACTERS) return problem;
  return { ...problem, value: `${value.slice(0, MAX_VALUE_CHARACTERS)}…` };
}

/** Formats a problem: `PATH: message (got VALUE). Hint.` */
export function formatProblem(problem: Problem): string {
  const got = problem.value === undefined ? "" : ` (got ${problem.value})`;
  return `${problem.path}: ${problem.message}${got}. ${problem.hint}`;
}

/** Why a valid run failed. */
export type RunErrorKind =
  | "unreachable"
  | "stalled"
  | "refused"
  | "unsupported"
  | "failed-request"
  | "output"
  /** The user ended it before there was a result. */
  | "interrupted"
  | "internal";

/** The failed request of an error: kind and status as in `transport/failure.ts`, and the message of the server or the runtime. */
export interface FailureFacts {
  readonly kind: string;
  readonly message: string;
  readonly status?: number | undefined;
}

/** Errors that a front end words in its own way. */
export type RunErrorCode =
  /** No request succeeded while a level was measured. */
  | "no-valid-requests"
  /** The tensors could not be put into shared memory. */
  | "shared-memory";

/** Facts that a front end needs to word an error. */
export interface RunErrorFacts {
  readonly code?: RunErrorCode | undefined;
  /** The request that failed before the load began; absent for all other errors. */
  readonly failure?: FailureFacts | undefined;
}

/** A run failed, for example because the target is unreachable, rejects requests, or lacks a feature. */
export class RunError extends Error {
  readonly kind: RunErrorKind;
  readonly hint: string;
  readonly facts: RunErrorFacts;

  constructor(kind: RunErrorKind, message: string, hint: string, facts: RunErrorFacts = {}) {
    super(message);
    this.name = "RunError";
    this.kind = kind;
    this.hint = hint;
    this.facts = facts;
  }

  /** The same error in other words. */
  reword(message: string, hint = this.hint): RunError {
    return new RunError(this.kind, message, hint, this.facts);
  }
}

/** Returns the message of anything caught. Never throws, even if a user's error object does. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "an error that cannot be read";
  }
}
