import { messageOf, type Problem, RunError, type RunErrorFacts, type RunErrorKind, UserError } from "./problem.ts";

/** An error on its way between threads, of which a message would keep the text alone. */
export type SentError =
  | { readonly kind: "user"; readonly problems: readonly Problem[] }
  | {
      readonly kind: "run";
      readonly run: RunErrorKind;
      readonly message: string;
      readonly hint: string;
      readonly facts: RunErrorFacts;
    }
  | { readonly kind: "other"; readonly message: string };

/** Makes an error ready to be sent. */
export function sendError(error: unknown): SentError {
  if (error instanceof UserError) return { kind: "user", problems: error.problems };
  if (error instanceof RunError) {
    const { kind: run, message, hint, facts } = error;
    return { kind: "run", run, message, hint, facts };
  }
  return { kind: "other", message: messageOf(error) };
}

/** An error as it was before it was sent. */
export function receiveError(sent: SentError): Error {
  switch (sent.kind) {
    case "user":
      return new UserError(sent.problems);
    case "run":
      return new RunError(sent.run, sent.message, sent.hint, sent.facts);
    case "other":
      return new Error(sent.message);
  }
}
