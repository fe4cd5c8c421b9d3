import { maskSecrets } from "../plan/secrets.ts";
import type { Failure } from "../transport/failure.ts";

const MAX_EXPLANATION_CHARACTERS = 300;
const MAX_RESPONSE_CHARACTERS = 4096;

const decoder = new TextDecoder();

/** Of bytes that are not text, at least this share decodes to replacement characters. Text in another encoding has fewer. */
const BINARY_RATIO = 0.1;

/** Returns bytes as text, or their number when they are not text: `812 bytes`. */
export function describeBytes(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  const replacedCount = text.split("\ufffd").length - 1;
  const isBinary = text.includes("\0") || (replacedCount > 0 && replacedCount >= BINARY_RATIO * text.length);
  return isBinary ? `${bytes.length} bytes` : text;
}

/** Returns a response's body as text, without secrets. Mask before truncating, because half of a key would not be found. */
export function toMaskedText(body: Uint8Array): string {
  return maskSecrets(describeBytes(body).trim());
}

/** Adds the beginning of an explanation to a failure's message. An empty one adds nothing. */
export function appendExplanation(failure: Failure, explanation: string): Failure {
  if (explanation === "") return failure;
  return { ...failure, message: `${failure.message}: ${explanation.slice(0, MAX_EXPLANATION_CHARACTERS)}` };
}

/**
 * Adds to a failure what its response says.
 * @param text the response, without secrets
 * @param explanation the part of it to show; empty: nothing is added
 */
export function addExplanation(failure: Failure, text: string, explanation: string): Failure {
  if (explanation === "") return failure;
  return { ...appendExplanation(failure, explanation), response: text.slice(0, MAX_RESPONSE_CHARACTERS) };
}

/** Adds the beginning of the response to an error status, on one line. */
export function explainStatus(failure: Failure, body: Uint8Array | undefined): Failure {
  if (failure.kind !== "http" || body === undefined) return failure;
  const text = toMaskedText(body);
  return addExplanation(failure, text, text.replace(/\s+/g, " "));
}
