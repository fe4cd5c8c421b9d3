import { runtimeName } from "./runtime.ts";

/** Below this a loop is as quick as a call into the runtime. */
const NATIVE_FROM = 24;

// Deno refuses ranges that lie in the other array.
const isNative = runtimeName !== "deno";
const compare = Buffer.prototype.compare as (
  this: Uint8Array,
  other: Uint8Array,
  otherStart: number,
  otherEnd: number,
  start: number,
  end: number,
) => number;

/** Whether `a[aStart, aStart + length)` and `b[bStart, bStart + length)` are equal. Both must reach that far. */
export function isSameBytes(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  if (isNative && length >= NATIVE_FROM)
    return compare.call(a, b, bStart, bStart + length, aStart, aStart + length) === 0;
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false;
  return true;
}
