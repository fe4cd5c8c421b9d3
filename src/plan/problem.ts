/** What is wrong with something a user gave, in a form every front door can print. */

/** One thing to mend. */
export interface Problem {
  /**
   * The front door's own name (`--concurrency-range`), a setting as `setting()` marks it, the plan's path (`load.end`) or the file with its
   * place (`inputs.json, data[2]`).
   */
  readonly path: string;
  /** What is wrong, without the path; one sentence without a full stop. */
  readonly message: string;
  /** What was given, as the user wrote it; absent when nothing was given. */
  readonly value?: string | undefined;
  /** What to do or type instead. */
  readonly hint: string;
}

/** Enough to recognise a value by; a whole file on one line is of no use. */
const MAX_VALUE_CHARACTERS = 300;

/** Bad input: everything wrong with it at once, each with its value cut to 300 characters. Nothing was started or written when it is thrown. */
export class UserError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const shown = problems.map(withShortValue);
    super(shown.map(formatProblem).join("\n"));
    this.name = "UserError";
    this.problems = shown;
  }
}

function withShortValue(problem: Problem): Problem {
  const { value = "" } = problem;
  if (value.length <= MAX_VALUE_CHARACTERS) return problem;
  return { ...problem, value: `${value.slice(0, MAX_VALUE_CHARACTERS)}…` };
}

/** One problem as text: `PATH: message (got VALUE). Hint.` */
export function formatProblem(problem: Problem): string {
  const got = problem.value === undefined ? "" : ` (got ${problem.value})`;
  return `${problem.path}: ${problem.message}${got}. ${problem.hint}`;
}

/** Why a run that was asked for rightly could not be done or finished. */
export type RunErrorKind =
  | "unreachable"
  | "stalled"
  | "refused"
  | "unsupported"
  | "failed-request"
  | "output"
  /** The user ended it before there was anything to report. */
  | "interrupted"
  | "internal";

/** The failed request behind an error: kind and status as in `transport/failure.ts`, the message in the server's or the runtime's words. */
export interface FailureFacts {
  readonly kind: string;
  readonly message: string;
  readonly status?: number | undefined;
}

/** Errors that a front door words in its own way. */
export type RunErrorCode =
  /** No request succeeded while a level was measured. */
  | "no-valid-requests"
  /** The tensors could not be put into shared memory. */
  | "shared-memory";

/** What a front door may look at to word an error. */
export interface RunErrorFacts {
  readonly code?: RunErrorCode | undefined;
  /** The request that failed before the load began; absent for all other errors. */
  readonly failure?: FailureFacts | undefined;
}

/** A run that could not be done: the target is away, refuses, or lacks what is asked for. */
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

/** The message of anything caught, which code of a user's may make unreadable. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "an error that cannot be read";
  }
}
