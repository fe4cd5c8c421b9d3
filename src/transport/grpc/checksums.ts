/** CRC-32 (RFC 1952) and Adler-32 (RFC 1950), and the combination of the checksums of two parts. */

/** The CRC-32 of zero bytes. */
export const CRC_OF_NOTHING = 0;

const CRC_POLYNOMIAL = 0xedb88320;
/** x^8 modulo the polynomial; the highest bit is x^0. */
const ONE_BYTE = 0x00800000;
const ADLER_MODULUS = 65_521;
/** Number of bytes to add before reducing the sums, which must not overflow a double. */
const ADLER_BYTES = 4096;

let crcTable: Int32Array | undefined;

/** Continues a CRC-32 with more bytes. @param crc CRC-32 of the preceding bytes */
export function crcOf(bytes: Uint8Array, crc: number): number {
  crcTable ??= buildCrcTable();
  let value = ~crc;
  for (let i = 0; i < bytes.length; i++)
    value = (value >>> 8) ^ (crcTable[(value ^ (bytes[i] as number)) & 255] as number);
  return ~value >>> 0;
}

/** Returns the shift for {@link joinCrcs} of a second part with this many bytes. */
export function toCrcShift(byteCount: number): number {
  let shift = 2 ** 31;
  let power = ONE_BYTE;
  for (let left = byteCount; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return shift;
}

/** Combines the CRC-32 of two consecutive parts. @param shift {@link toCrcShift} of the second part's length */
export function joinCrcs(first: number, second: number, shift: number): number {
  return (multiply(shift, first) ^ second) >>> 0;
}

/** Continues an Adler-32 with more bytes. @param adler Adler-32 of the preceding bytes; 1 for none */
export function adlerOf(bytes: Uint8Array, adler: number): number {
  let low = adler & 0xffff;
  let high = adler >>> 16;
  for (let start = 0; start < bytes.length; start += ADLER_BYTES) {
    const end = Math.min(start + ADLER_BYTES, bytes.length);
    for (let i = start; i < end; i++) {
      low += bytes[i] as number;
      high += low;
    }
    low %= ADLER_MODULUS;
    high %= ADLER_MODULUS;
  }
  return high * 65_536 + low;
}

/** Combines the Adler-32 of two consecutive parts. */
export function joinAdlers(first: number, second: number, secondBytes: number): number {
  // Each byte of the second part adds the first part's low sum once more; the sum of zero bytes is 1.
  const carried = (first & 0xffff) - 1;
  const low = (carried + (second & 0xffff) + ADLER_MODULUS) % ADLER_MODULUS;
  const high = ((first >>> 16) + (second >>> 16) + (secondBytes % ADLER_MODULUS) * carried) % ADLER_MODULUS;
  return (high + (high < 0 ? ADLER_MODULUS : 0)) * 65_536 + low;
}

/** Multiplies two polynomials modulo the CRC's. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ CRC_POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}

function buildCrcTable(): Int32Array {
  const table = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ CRC_POLYNOMIAL : value >>> 1;
    table[byte] = value;
  }
  return table;
}
