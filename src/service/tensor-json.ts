import { viewJoined } from "../runtime/bytes.ts";
import type { Payload } from "./content.ts";
import { toJsonElements } from "./json-tensors.ts";
import type { Tensor } from "./tensor.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const latin1 = new TextDecoder("latin1");

/**
 * Formats tensors by name like perf_analyzer's profile export: one element directly, several as a list, `""` without bytes. BYTES become
 * one string without the length of the first element, but with the lengths of the others. `null` for datatypes without a JSON form.
 * @param onUnsupported called with such a datatype
 */
export function formatTensors(tensors: readonly Tensor[], onUnsupported?: (datatype: string) => void): string {
  const fields = tensors.map((tensor) => `${JSON.stringify(tensor.name)}:${formatData(tensor, onUnsupported)}`);
  return `{${fields.join(",")}}`;
}

/**
 * Formats a payload like perf_analyzer's profile export; a turn is formatted with its session and delay. Messages are JSON if their
 * text is known; in perf_analyzer it never is.
 */
export function formatPayload({ bytes, messages, session }: Payload): string {
  if (messages !== undefined) return bytes.length === 0 ? '{"message_generator":""}' : `{"messages":${toText(bytes)}}`;
  const { id, delayMs } = session ?? {};
  const delay = delayMs === undefined ? "" : `"delay":${BigInt(Math.round(delayMs))},`;
  const name = id === undefined ? "" : `"session_id":${JSON.stringify(id)},`;
  return `{${delay}${name}"payload":${JSON.stringify(toText(bytes))}}`;
}

/**
 * Formats the bodies of the responses to a payload like the export, separated by commas. @param change changes the text of each body
 * before it is formatted
 */
export function formatBodies(bodies: readonly Uint8Array[], change: (text: string) => string = (text) => text): string {
  return toTexts(bodies)
    .map((body) => `{"response":${JSON.stringify(change(body))}}`)
    .join(",");
}

function formatData({ datatype, bytes }: Tensor, onUnsupported?: (datatype: string) => void): string {
  if (bytes.length === 0) return '""';
  if (datatype === "BYTES") return JSON.stringify(toText(bytes.subarray(4)));
  const elements = toJsonElements(datatype, bytes);
  if (elements === undefined) {
    onUnsupported?.(datatype);
    return "null";
  }
  return elements.length === 1 ? (elements[0] as string) : `[${elements.join(",")}]`;
}

/** Decodes bytes for JSON: as UTF-8 if they are valid, otherwise one character per byte, so that nothing is lost. */
function toText(bytes: Uint8Array): string {
  return decodeValid(bytes) ?? latin1.decode(bytes);
}

/** Decodes bodies like `toText`. Text of one byte per character is decoded in one step, which takes a quarter of the time. */
function toTexts(bodies: readonly Uint8Array[]): string[] {
  const bytes = viewJoined(bodies);
  const all = decodeValid(bytes);
  if (all?.length !== bytes.length) return bodies.map(toText);
  let end = 0;
  return bodies.map(({ length }) => {
    end += length;
    return all.slice(end - length, end);
  });
}

/** Returns undefined when the bytes are not UTF-8. */
function decodeValid(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
