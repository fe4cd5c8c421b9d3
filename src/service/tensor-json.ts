import type { Payload } from "./content.ts";
import { toJsonElements } from "./json-tensors.ts";
import type { Tensor } from "./tensor.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
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
  if (messages !== undefined)
    return bytes.length === 0 ? '{"message_generator":""}' : `{"messages":${decodeText(bytes)}}`;
  const { id, delayMs } = session ?? {};
  const delay = delayMs === undefined ? "" : `"delay":${BigInt(Math.round(delayMs))},`;
  const name = id === undefined ? "" : `"session_id":${JSON.stringify(id)},`;
  return `{${delay}${name}"payload":${JSON.stringify(decodeText(bytes))}}`;
}

function formatData({ datatype, bytes }: Tensor, onUnsupported?: (datatype: string) => void): string {
  if (bytes.length === 0) return '""';
  if (datatype === "BYTES") return JSON.stringify(decodeText(bytes.subarray(4)));
  const elements = toJsonElements(datatype, bytes);
  if (elements === undefined) {
    onUnsupported?.(datatype);
    return "null";
  }
  return elements.length === 1 ? (elements[0] as string) : `[${elements.join(",")}]`;
}

/** Decodes bytes for JSON: as UTF-8 if they are valid, otherwise one character per byte, so that nothing is lost. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return latin1.decode(bytes);
  }
}
