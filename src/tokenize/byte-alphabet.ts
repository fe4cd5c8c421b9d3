import { encoder } from "../runtime/text.ts";
/** The alphabet of byte-level tokenizers: a printable character for each byte. Source: `bytes_to_unicode` of GPT-2. */

/** The character for each byte. */
export const BYTE_CHARS: readonly string[] = makeByteChars();

const BYTE_OF_CHAR: ReadonlyMap<string, number> = new Map(BYTE_CHARS.map((char, byte) => [char, byte]));

function makeByteChars(): string[] {
  let spare = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    return String.fromCharCode(isPrintable ? byte : spare++);
  });
}

/** Converts the text's UTF-8 bytes to the alphabet. */
export function toByteChars(text: string): string {
  if (/^[!-~]*$/.test(text)) return text;
  let chars = "";
  for (const byte of encoder.encode(text)) chars += BYTE_CHARS[byte];
  return chars;
}

/** Returns the bytes of a token. A token with characters outside the alphabet has its own UTF-8 bytes. */
export function fromByteChars(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let index = 0; index < token.length; index++) {
    const byte = BYTE_OF_CHAR.get(token[index] as string);
    if (byte === undefined) return encoder.encode(token);
    bytes[index] = byte;
  }
  return bytes;
}
