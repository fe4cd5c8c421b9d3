/** Node's own, which Bun and Deno have too; unlike `toString` it takes any bytes. */
const slice = (Buffer.prototype as unknown as { latin1Slice(this: Uint8Array, start: number, end: number): string })
  .latin1Slice;

/** The bytes `[start, end)` as text, each a character. Makes no view of them, which takes longer than reading a short text. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
  return slice.call(bytes, start, end);
}
