import { messageOf, type Problem, RunError, type RunErrorKind, UserError } from "./problem.ts";

/** An error on its way between threads, of which a message would keep the text alone. */
export type SentError =
  | { readonly kind: "user"; readonly problems: readonly Problem[] }
  | { readonly kind: "run"; readonly run: RunErrorKind; readonly message: string; readonly hint: string }
  | { readonly kind: "other"; readonly message: string };

/** Makes an error ready to be sent. */
function sendError(error: unknown): SentError {
  if (error instanceof UserError) return { kind: "user", problems: error.problems };
  if (error instanceof RunError) return { kind: "run", run: error.kind, message: error.message, hint: error.hint };
  return { kind: "other", message: messageOf(error) };
}

/** An error as it was before it was sent. */
function receiveError(sent: SentError): Error {
  switch (sent.kind) {
    case "user":
      return new UserError(sent.problems);
    case "run":
      return new RunError(sent.run, sent.message, sent.hint);
    case "other":
      return new Error(sent.message);
  }
}

/** How errors travel between threads. */
export const ERROR_FORM = { send: sendError, receive: receiveError };
