import { maskSecrets } from "../../plan/secrets.ts";
import { latin1Text } from "../latin1.ts";

const SHOWN_CHARACTERS = 60;
const EXAMINED_BYTES = 1024;

/** Whether a header line has this name. @param name lower case; compared case-insensitively */
export function isName(input: Uint8Array, start: number, end: number, name: string): boolean {
  const length = name.length;
  if (end - start <= length || input[start + length] !== 0x3a) return false;
  for (let i = 0; i < length; i++) {
    const byte = input[start + i] as number;
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (lower !== name.charCodeAt(i)) return false;
  }
  return true;
}

/** Parses the decimal digits in `[start, end)`; returns -1 when a byte is not a digit. */
export function digits(input: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = (input[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Parses a decimal header value with optional whitespace; returns -1 if it is not a number or has more than 15 digits. */
export function decimal(input: Uint8Array, start: number, end: number): number {
  let first = start;
  let last = end;
  while (first < last && (input[first] === 0x20 || input[first] === 0x09)) first++;
  while (last > first && (input[last - 1] === 0x20 || input[last - 1] === 0x09)) last--;
  if (first === last || last - first > 15) return -1;
  return digits(input, first, last);
}

/** Parses a chunk size, up to its extensions; returns -1 if it is not a number or has more than 12 digits. */
export function hexadecimal(input: Uint8Array, start: number, end: number): number {
  let value = 0;
  let i = start;
  for (; i < end; i++) {
    const byte = input[i] as number;
    const letter = byte | 0x20;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
    if (digit < 0) break;
    value = value * 16 + digit;
  }
  if (i === start || i - start > 12) return -1;
  while (i < end && (input[i] === 0x20 || input[i] === 0x09)) i++;
  return i === end || input[i] === 0x3b ? value : -1;
}

/** Quotes bytes for an error message: at most 60 characters, escaped, with secrets masked. */
export function quote(input: Uint8Array, start: number, end: number): string {
  // Mask before cutting, so that a secret at the cut is masked too.
  return JSON.stringify(
    maskSecrets(latin1Text(input, start, Math.min(end, start + EXAMINED_BYTES))).slice(0, SHOWN_CHARACTERS),
  );
}
