import type { SequenceMark } from "../service.ts";

/** Stamps for requests of sequences (Triton's sequence extension). Encoded by hand, because every request has its own. */

const encoder = new TextEncoder();

/** Returns JSON that closes the id's string and adds the sequence's parameters. `true` and `false` have the same length. */
export function stampHttpSequence({ id, isStart, isEnd }: SequenceMark): Uint8Array {
  return encoder.encode(
    `","parameters":{"sequence_id":${id},"sequence_start":${isStart ? "true " : "false"},"sequence_end":${isEnd ? "true " : "false"}}`,
  );
}

const ID_NAME = "sequence_id";
/** By length of the id's varint: its map entry without the varint. */
const ID_STARTS: Uint8Array[] = [];
/** The entries of the two flags, created for the first stamp. */
let flags: { readonly start: Uint8Array; readonly end: Uint8Array } | undefined;

/** Returns three entries of the request's parameter map: `sequence_id` (int64), `sequence_start` and `sequence_end` (bool). */
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

/** Returns the start of an entry of map field 4, up to its value's message. */
function mapEntryStart(name: string, valueBytes: number): Uint8Array {
  const entryBytes = 2 + name.length + 2 + valueBytes;
  return Uint8Array.of(0x22, entryBytes, 0x0a, name.length, ...encoder.encode(name), 0x12, valueBytes);
}

/** Returns an entry whose last byte is its `bool_param`. */
function flagEntry(name: string): Uint8Array {
  return Uint8Array.of(...mapEntryStart(name, 2), 0x08, 0); // bool_param
}
