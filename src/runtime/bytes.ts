import { runtimeName } from "./runtime.ts";

/** Below this length, a loop is faster than a native call, which takes 75 ns for any length. */
const NATIVE_FROM = 96;
/** Bytes compared per iteration. */
const STEP = 8;

// Deno rejects ranges in the second array.
const isNative = runtimeName !== "deno";
const compare = Buffer.prototype.compare as (
  this: Uint8Array,
  other: Uint8Array,
  otherStart: number,
  otherEnd: number,
  start: number,
  end: number,
) => number;

const copy = Buffer.prototype.copy as (
  this: Uint8Array,
  target: Uint8Array,
  at: number,
  start: number,
  end: number,
) => number;

/** Copies `from[start, end)` to `to`, from `at` on. On Bun it takes a third of the time of `set` with a view of the range. */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  copy.call(from, to, at, start, end);
}

/** Whether `a[aStart, aStart + length)` and `b[bStart, bStart + length)` are equal. Both ranges must be within bounds. */
export function isSameBytes(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  if (isNative && length >= NATIVE_FROM)
    return compare.call(a, b, bStart, bStart + length, aStart, aStart + length) === 0;
  let i = 0;
  for (; i + STEP <= length; i += STEP) if (differ8(a, aStart + i, b, bStart + i) !== 0) return false;
  for (; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false;
  return true;
}

/** Returns 0 if the next eight bytes are equal. */
function differ8(a: Uint8Array, at: number, b: Uint8Array, bt: number): number {
  return (
    ((a[at] as number) ^ (b[bt] as number)) |
    ((a[at + 1] as number) ^ (b[bt + 1] as number)) |
    ((a[at + 2] as number) ^ (b[bt + 2] as number)) |
    ((a[at + 3] as number) ^ (b[bt + 3] as number)) |
    ((a[at + 4] as number) ^ (b[bt + 4] as number)) |
    ((a[at + 5] as number) ^ (b[bt + 5] as number)) |
    ((a[at + 6] as number) ^ (b[bt + 6] as number)) |
    ((a[at + 7] as number) ^ (b[bt + 7] as number))
  );
}

export const NO_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/** Concatenates pieces of data, in memory of their own. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0;
  for (const part of parts) size += part.length;
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
