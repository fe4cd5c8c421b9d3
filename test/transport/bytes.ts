/** Bytes in tests. */

const encoder = new TextEncoder();

/** Text as bytes; every character below 256 is one byte. */
export function latin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Pairs of hexadecimal digits; blanks and line breaks between them do not matter. */
export function hex(text: string): Uint8Array {
  const digits = text.replace(/\s+/g, "");
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

export function toText(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Ways to deliver the same bytes: whole, one at a time, in pairs, and cut in two at every point. */
export function splits(bytes: Uint8Array): Uint8Array[][] {
  const ways = [[bytes], inPieces(bytes, 1), inPieces(bytes, 2)];
  for (let at = 1; at < bytes.length; at++) ways.push([bytes.slice(0, at), bytes.slice(at)]);
  return ways;
}

/** Pieces of `size` bytes, the last one maybe shorter. */
export function inPieces(bytes: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size));
  return pieces;
}

/** Bytes that show any shift or loss: a fixed pseudo-random sequence. */
export function pattern(size: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = seed;
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    bytes[i] = state >>> 16;
  }
  return bytes;
}

/** Base64; line breaks in it do not matter. */
export function base64(text: string): Uint8Array {
  return latin1(atob(text.replace(/\s+/g, "")));
}
