import { maskSecrets } from "../plan/secrets.ts";
import { decoder } from "../runtime/text.ts";
import type { Failure } from "../transport/failure.ts";

const MAX_EXPLANATION_CHARACTERS = 300;
const MAX_RESPONSE_CHARACTERS = 4096;

/** Bytes that are not text decode to at least this share of replacement characters. Text in another encoding decodes to fewer. */
const BINARY_RATIO = 0.1;

/** Returns bytes as text, or their size if they are not text: `812 bytes`. */
export function describeBytes(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  const replacedCount = text.split("\ufffd").length - 1;
  const isBinary = text.includes("\0") || (replacedCount > 0 && replacedCount >= BINARY_RATIO * text.length);
  return isBinary ? `${bytes.length} bytes` : text;
}

/** Returns a response's body as text, without secrets. Masks before truncating, because half of a key would not be found. */
export function toMaskedText(body: Uint8Array): string {
  return maskSecrets(describeBytes(unzip(body)).trim());
}

const MOST_UNZIPPED_BYTES = 1024 * 1024; // 1 MiB

/** Decompresses gzip (RFC 1952), also if its end is missing; returns other bytes unchanged. Proxies compress error pages without being asked. */
function unzip(body: Uint8Array): Uint8Array {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  const { gunzipSync, constants } = process.getBuiltinModule("node:zlib");
  try {
    return gunzipSync(body, { maxOutputLength: MOST_UNZIPPED_BYTES, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return body;
  }
}

/** Appends the beginning of an explanation to a failure's message. An empty explanation adds nothing. */
export function appendExplanation(failure: Failure, explanation: string): Failure {
  if (explanation === "") return failure;
  return { ...failure, message: `${failure.message}: ${explanation.slice(0, MAX_EXPLANATION_CHARACTERS)}` };
}

/**
 * Adds the server's explanation to a failure.
 * @param text the response, without secrets
 * @param explanation the part of the response to show; empty: nothing is added
 */
export function addExplanation(failure: Failure, text: string, explanation: string): Failure {
  if (explanation === "") return failure;
  return { ...appendExplanation(failure, explanation), response: text.slice(0, MAX_RESPONSE_CHARACTERS) };
}

/** Adds the beginning of the response to the failure of an error status, on one line. */
export function explainStatus(failure: Failure, body: Uint8Array | undefined): Failure {
  if (failure.kind !== "http" || body === undefined) return failure;
  const text = toMaskedText(body);
  return addExplanation(failure, text, text.replace(/\s+/g, " "));
}
