import type { SequenceMark } from "../service.ts";

/**
 * What tells Triton that a request belongs to a sequence, written anew for every request and therefore by hand. Source: Triton's sequence
 * extension.
 */

const encoder = new TextEncoder();

/** JSON that closes the id's string and gives the sequence's parameters; as long for `true` as for `false`. */
export function stampHttpSequence({ id, isStart, isEnd }: SequenceMark): Uint8Array {
  return encoder.encode(
    `","parameters":{"sequence_id":${id},"sequence_start":${isStart ? "true " : "false"},"sequence_end":${isEnd ? "true " : "false"}}`,
  );
}

const ID_NAME = "sequence_id";
/** By bytes of the id's varint: its map entry without the varint. */
const ID_STARTS: Uint8Array[] = [];
/** The entries of the two flags, made with the first stamp. */
let flags: { readonly start: Uint8Array; readonly end: Uint8Array } | undefined;

/** Three entries of the request's map of parameters: `sequence_id` (int64), `sequence_start` and `sequence_end` (bool). */
export function stampGrpcSequence({ id, isStart, isEnd }: SequenceMark): Uint8Array {
  flags ??= { start: flagEntry("sequence_start"), end: flagEntry("sequence_end") };
  const { start, end } = flags;
  const idBytes = varintBytes(id);
  let idStart = ID_STARTS[idBytes];
  if (idStart === undefined) {
    idStart = Uint8Array.of(...mapEntryStart(ID_NAME, 1 + idBytes), 0x10); // int64_param
    ID_STARTS[idBytes] = idStart;
  }
  const stamp = new Uint8Array(idStart.length + idBytes + start.length + end.length);
  stamp.set(idStart);
  let position = idStart.length;
  for (let rest = id; ; rest = Math.floor(rest / 128)) {
    stamp[position++] = rest < 128 ? rest : (rest % 128) | 0x80;
    if (rest < 128) break;
  }
  stamp.set(start, position);
  position += start.length;
  stamp[position - 1] = isStart ? 1 : 0;
  stamp.set(end, position);
  stamp[position + end.length - 1] = isEnd ? 1 : 0;
  return stamp;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** A map entry of field 4 up to where its value's message begins. */
function mapEntryStart(name: string, valueBytes: number): Uint8Array {
  const entryBytes = 2 + name.length + 2 + valueBytes;
  return Uint8Array.of(0x22, entryBytes, 0x0a, name.length, ...encoder.encode(name), 0x12, valueBytes);
}

/** An entry whose last byte is its `bool_param`. */
function flagEntry(name: string): Uint8Array {
  return Uint8Array.of(...mapEntryStart(name, 2), 0x08, 0); // bool_param
}
