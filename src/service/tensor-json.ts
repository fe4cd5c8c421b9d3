import { toJsonElements } from "./json-tensors.ts";
import type { Payload } from "./service.ts";
import type { Tensor } from "./tensor.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const latin1 = new TextDecoder("latin1");

/**
 * Tensors by name as perf_analyzer's profile export holds them: one element bare, several as a list, `""` without bytes. BYTES are one text:
 * the length of the first element is left out, those of others stay inside. `null` for datatypes without a JSON form.
 * @param onUnsupported receives such a datatype
 */
export function formatTensors(tensors: readonly Tensor[], onUnsupported?: (datatype: string) => void): string {
  const fields = tensors.map((tensor) => `${JSON.stringify(tensor.name)}:${formatData(tensor, onUnsupported)}`);
  return `{${fields.join(",")}}`;
}

/** A payload as perf_analyzer's profile export holds it; of a turn its session and its pause besides. */
export function formatPayload({ bytes, session }: Payload): string {
  const { id, delayMs } = session ?? {};
  const delay = delayMs === undefined ? "" : `"delay":${BigInt(Math.round(delayMs))},`;
  const name = id === undefined ? "" : `"session_id":${JSON.stringify(id)},`;
  return `{${delay}${name}"payload":${JSON.stringify(toText(bytes))}}`;
}

/** The body of a response to a payload, as the export holds it. */
export function formatBody(body: Uint8Array): string {
  return `{"response":${JSON.stringify(toText(body))}}`;
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

/** Bytes as text that JSON can hold: UTF-8 where they are, otherwise one character per byte, so that nothing is lost. */
function toText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return latin1.decode(bytes);
  }
}
