/** A method of Node's that Bun and Deno have too. Unlike `toString`, it works on any bytes. */
const slice = (Buffer.prototype as Buffer & { latin1Slice(this: Uint8Array, start: number, end: number): string })
  .latin1Slice;

/** Decodes `bytes[start, end)` as Latin-1. Creates no view, because that would take longer than decoding a short text. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
  return slice.call(bytes, start, end);
}
