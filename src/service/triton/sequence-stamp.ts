import { NO_BYTES } from "../../runtime/bytes.ts";
import { encoder } from "../../runtime/text.ts";
import type { SequenceMark } from "../content.ts";
import { encodeMessage } from "../protobuf/message.ts";
import { INFER_REQUEST } from "./messages.ts";

/**
 * Stamps for requests of sequences (Triton's sequence extension). Encoded by hand, because every request has a different
 * stamp.
 */

/** Returns the stamp function for a model's sequence ids. @param hasTextIds whether ids are texts instead of numbers */
export function httpSequenceStamp(hasTextIds: boolean): (mark: SequenceMark) => Uint8Array {
  return hasTextIds ? (mark) => stampHttpSequence(mark, `"${textOf(mark)}"`) : (mark) => stampHttpSequence(mark);
}

/** Like {@link httpSequenceStamp}, for gRPC. */
export function grpcSequenceStamp(hasTextIds: boolean): (mark: SequenceMark) => Uint8Array {
  return hasTextIds ? stampGrpcText : stampGrpcSequence;
}

/** Returns JSON that closes the id's string and adds the sequence's parameters. `true` and `false` have the same length here. */
function stampHttpSequence({ id, isStart, isEnd }: SequenceMark, shownId = String(id)): Uint8Array {
  return encoder.encode(
    `","parameters":{"sequence_id":${shownId},"sequence_start":${isStart ? "true " : "false"},"sequence_end":${isEnd ? "true " : "false"}}`,
  );
}

const ID_NAME = "sequence_id";
/** Map entry of the id without its varint, by length of the varint. */
const ID_STARTS: Uint8Array[] = [];
/** The entries of the two flags, created for the first stamp. */
let flags: { readonly start: Uint8Array; readonly end: Uint8Array } | undefined;

/** Returns three entries of the request's parameter map: `sequence_id` (int64), `sequence_start` and `sequence_end` (bool). */
function stampGrpcSequence(mark: SequenceMark): Uint8Array {
  const { id } = mark;
  const idBytes = varintBytes(id);
  let idStart = ID_STARTS[idBytes];
  if (idStart === undefined) {
    idStart = Uint8Array.of(...mapEntryStart(ID_NAME, 1 + idBytes), 0x10); // int64_param
    ID_STARTS[idBytes] = idStart;
  }
  const stamp = startStamp(idStart, idBytes);
  let position = idStart.length;
  for (let rest = id; ; rest = Math.floor(rest / 128)) {
    stamp[position++] = rest < 128 ? rest : (rest % 128) | 0x80;
    if (rest < 128) break;
  }
  return addFlags(stamp, mark);
}

/** The same with `sequence_id` as text. */
function stampGrpcText(mark: SequenceMark): Uint8Array {
  textStart ??= encodeMessage(INFER_REQUEST, {
    parameters: { [ID_NAME]: { string_param: "0".repeat(TEXT_ID_CHARACTERS) } },
  }).slice(0, -TEXT_ID_CHARACTERS);
  const stamp = startStamp(textStart, TEXT_ID_CHARACTERS);
  encoder.encodeInto(textOf(mark), stamp.subarray(textStart.length));
  return addFlags(stamp, mark);
}

/** Map entry of a text id without the text, created for the first stamp. */
let textStart: Uint8Array | undefined;

/**
 * Maximum length of an id in Triton. Triton passes models a buffer of this size and (in 2.51) interprets the bytes after a shorter id as
 * more elements, which models of the Python backend cannot read.
 */
const TEXT_ID_CHARACTERS = 128;

function textOf({ id }: SequenceMark): string {
  return String(id).padStart(TEXT_ID_CHARACTERS, "0");
}

/** Returns a stamp with space for the id and the flags after its start. */
function startStamp(idStart: Uint8Array, idBytes: number): Uint8Array {
  flags ??= { start: flagEntry("sequence_start"), end: flagEntry("sequence_end") };
  const stamp = new Uint8Array(idStart.length + idBytes + flags.start.length + flags.end.length);
  stamp.set(idStart);
  return stamp;
}

/** Writes the flags at a stamp's end. */
function addFlags(stamp: Uint8Array, { isStart, isEnd }: SequenceMark): Uint8Array {
  const { start = NO_BYTES, end = NO_BYTES } = flags ?? {};
  const endAt = stamp.length - end.length;
  stamp.set(start, endAt - start.length);
  stamp[endAt - 1] = isStart ? 1 : 0;
  stamp.set(end, endAt);
  stamp[stamp.length - 1] = isEnd ? 1 : 0;
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
