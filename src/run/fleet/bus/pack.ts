import { Packr } from "msgpackr/pack";

/** Keeps what a structured clone keeps: typed arrays, `undefined`, numbers that JSON has not. */
const packr = new Packr({ structuredClone: true });

/** Packs plain data. The bytes are the caller's. */
export function pack(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** Unpacks plain data. @throws Error for other bytes */
export function unpack(bytes: Uint8Array): unknown {
  return packr.unpack(bytes);
}
