import { Packr } from "msgpackr/pack";

/** Supports all types of a structured clone: typed arrays, `undefined`, numbers that JSON lacks. */
const packr = new Packr({ structuredClone: true });

/** Packs plain data. The caller owns the returned bytes. */
export function pack(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** Unpacks plain data. @throws Error for bytes that `pack` did not produce */
export function unpack(bytes: Uint8Array): unknown {
  return packr.unpack(bytes);
}
