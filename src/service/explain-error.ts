import { maskSecrets } from "../plan/secrets.ts";
import type { Failure } from "../transport/failure.ts";

const MAX_EXPLANATION_CHARACTERS = 300;
const MAX_ANSWER_CHARACTERS = 4096;

const decoder = new TextDecoder();

/** Returns the text of a response's body, without secrets. Mask before truncating, because half of a key would not be found. */
export function toMaskedText(body: Uint8Array): string {
  return maskSecrets(decoder.decode(body).trim());
}

/**
 * Adds to a failure what its response says.
 * @param text the response, without secrets
 * @param explanation the part of it to show; empty: nothing is added
 */
export function addExplanation(failure: Failure, text: string, explanation: string): Failure {
  if (explanation === "") return failure;
  const message = `${failure.message}: ${explanation.slice(0, MAX_EXPLANATION_CHARACTERS)}`;
  return { ...failure, message, answer: text.slice(0, MAX_ANSWER_CHARACTERS) };
}

/** Adds the beginning of the response to an error status, on one line. @param toText default: the response as text */
export function explainStatus(
  failure: Failure,
  body: Uint8Array | undefined,
  toText: (body: Uint8Array) => string = toMaskedText,
): Failure {
  if (failure.kind !== "http" || body === undefined) return failure;
  const text = toText(body);
  return addExplanation(failure, text, text.replace(/\s+/g, " "));
}
