/** FP16 (IEEE 754 binary16) and BF16 (the upper half of a binary32) in 16 bits, little-endian. */

/** A floating-point type of 16 bits. */
export type ShortFloat = "FP16" | "BF16";

const FORMS: Readonly<Record<ShortFloat, { readonly fractionBits: number; readonly bias: number }>> = {
  FP16: { fractionBits: 10, bias: 15 },
  BF16: { fractionBits: 7, bias: 127 },
};

/** Whether a datatype is one of these two types. */
export function isShortFloat(datatype: string): datatype is ShortFloat {
  return Object.hasOwn(FORMS, datatype);
}

/** Returns the bits of the nearest number of the type, ties to even; infinity if the value is too large. */
export function toShortFloat(type: ShortFloat, value: number): number {
  const { fractionBits, bias } = FORMS[type];
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  const infinity = (2 * bias + 1) << fractionBits;
  if (Number.isNaN(size)) return infinity | (1 << (fractionBits - 1));
  // Subnormal numbers have the exponent of the smallest normal number.
  const exponent = Math.max(1 - bias, exponentOf(size));
  if (exponent > bias) return sign | infinity;
  const steps = roundToEven(size / 2 ** (exponent - fractionBits));
  const isNormal = size >= 2 ** (1 - bias);
  // A fraction that was rounded up to 1 carries over into the exponent.
  return sign | (isNormal ? ((exponent + bias - 1) << fractionBits) + steps : steps);
}

/** Returns the number that the bits represent. */
export function fromShortFloat(type: ShortFloat, bits: number): number {
  const { fractionBits, bias } = FORMS[type];
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits & 0x7fff) >> fractionBits;
  const fraction = (bits & ((1 << fractionBits) - 1)) / 2 ** fractionBits;
  if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** (1 - bias) : sign * (1 + fraction) * 2 ** (exponent - bias);
}

/** Whether the nearest number of the type to a finite number is finite too. */
export function fitsShortFloat(type: ShortFloat, value: number): boolean {
  return Number.isFinite(fromShortFloat(type, toShortFloat(type, value)));
}

export function readShortFloats(type: ShortFloat, bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = Math.floor(bytes.length / 2);
  return Array.from({ length: count }, (_, index) => fromShortFloat(type, view.getUint16(2 * index, true)));
}

/** Returns the exponent of the largest power of two that is not larger than `size`; for 0, the smallest possible exponent. */
function exponentOf(size: number): number {
  if (size === 0) return Number.NEGATIVE_INFINITY;
  if (size === Number.POSITIVE_INFINITY) return size;
  const near = Math.floor(Math.log2(size));
  if (2 ** near > size) return near - 1;
  return 2 ** (near + 1) <= size ? near + 1 : near;
}

function roundToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}
