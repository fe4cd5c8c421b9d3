/** The checksums of gzip and zlib, and those of two parts put together: CRC-32 (RFC 1952) and Adler-32 (RFC 1950). */

/** The CRC-32 of no bytes. */
export const CRC_OF_NOTHING = 0;

const CRC_POLYNOMIAL = 0xedb88320;
/** x^8 modulo the polynomial; the highest bit stands for x^0. */
const ONE_BYTE = 0x00800000;
const ADLER_MODULUS = 65_521;
/** So many bytes may be added up before the sums must be reduced, or they would not fit a double. */
const ADLER_BYTES = 4096;

let crcTable: Int32Array | undefined;

/** The CRC-32 of bytes that follow on others. @param crc that of the others */
export function crcOf(bytes: Uint8Array, crc: number): number {
  crcTable ??= buildCrcTable();
  let value = ~crc;
  for (let i = 0; i < bytes.length; i++)
    value = (value >>> 8) ^ (crcTable[(value ^ (bytes[i] as number)) & 255] as number);
  return ~value >>> 0;
}

/** What so many bytes do to the CRC-32 of what precedes them, for {@link joinCrcs}. */
export function toCrcShift(byteCount: number): number {
  let shift = 2 ** 31;
  let power = ONE_BYTE;
  for (let left = byteCount; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return shift;
}

/** The CRC-32 of two parts after each other. @param shift of the length of the second */
export function joinCrcs(first: number, second: number, shift: number): number {
  return (multiply(shift, first) ^ second) >>> 0;
}

/** The Adler-32 of bytes that follow on others. @param adler that of the others; that of no bytes is 1 */
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

/** The Adler-32 of two parts after each other. */
export function joinAdlers(first: number, second: number, secondBytes: number): number {
  // Each byte of the second part adds the first part's sum once more; the sum of no bytes is 1.
  const carried = (first & 0xffff) - 1;
  const low = (carried + (second & 0xffff) + ADLER_MODULUS) % ADLER_MODULUS;
  const high = ((first >>> 16) + (second >>> 16) + (secondBytes % ADLER_MODULUS) * carried) % ADLER_MODULUS;
  return (high + (high < 0 ? ADLER_MODULUS : 0)) * 65_536 + low;
}

/** The product of two polynomials modulo the CRC's. */
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
