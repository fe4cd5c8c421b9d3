import { messageOf, type Problem, RunError, UserError } from "./problem.ts";

/** An error in a form that can be sent to another thread: a message between threads would keep only its text. */
export type SentError =
  | { readonly kind: "user"; readonly problems: readonly Problem[] }
  | ({ readonly kind: "run" } & Pick<RunError, "code" | "text" | "hint" | "facts">)
  | { readonly kind: "other"; readonly message: string };

/** Serializes an error for another thread. */
function sendError(error: unknown): SentError {
  if (error instanceof UserError) return { kind: "user", problems: error.problems };
  if (error instanceof RunError) {
    const { code, text, hint, facts } = error;
    return { kind: "run", code, text, hint, facts };
  }
  return { kind: "other", message: messageOf(error) };
}

/** Restores a serialized error. */
function receiveError(sent: SentError): Error {
  switch (sent.kind) {
    case "user":
      return new UserError(sent.problems);
    case "run":
      return new RunError(sent.code, sent.text, sent.hint, sent.facts);
    case "other":
      return new Error(sent.message);
  }
}

/** Conversion of errors that are sent between threads. */
export const ERROR_FORM = { send: sendError, receive: receiveError };
