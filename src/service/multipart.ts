import { joinBytes } from "../runtime/bytes.ts";
import { encoder } from "../runtime/text.ts";

/** Bodies of type multipart/form-data, as RFC 7578 describes them. */

export interface FormPart {
  readonly name: string;
  /** Absent: the part has no file name. */
  readonly fileName?: string;
  /** Absent: the part has no Content-Type. */
  readonly contentType?: string;
  readonly bytes: Uint8Array;
}

/** A body as sent. */
export interface EncodedBody {
  readonly bytes: Uint8Array;
  /** Value of the header Content-Type. */
  readonly contentType: string;
}

const BOUNDARY_START = "------------------------";
const BOUNDARY_DIGITS = 16;

/** Encodes a form. The same parts give the same bytes. */
export function encodeForm(parts: readonly FormPart[]): EncodedBody {
  const boundary = chooseBoundary(parts);
  const pieces: Uint8Array[] = [];
  for (const part of parts) pieces.push(encoder.encode(formatHead(part, boundary)), part.bytes, LINE_END);
  pieces.push(encoder.encode(`--${boundary}--\r\n`));
  return { bytes: joinBytes(pieces), contentType: `multipart/form-data; boundary=${boundary}` };
}

const LINE_END = encoder.encode("\r\n");

/** Returns the first boundary of a fixed series that occurs in none of the parts. */
export function chooseBoundary(parts: readonly FormPart[]): string {
  const bodies = parts.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  for (let number = 1; ; number++) {
    const boundary = BOUNDARY_START + number.toString(16).padStart(BOUNDARY_DIGITS, "0");
    if (!bodies.some((body) => body.includes(boundary))) return boundary;
  }
}

function formatHead({ name, fileName, contentType }: FormPart, boundary: string): string {
  const file = fileName === undefined ? "" : `; filename="${escapeName(fileName)}"`;
  const type = contentType === undefined ? "" : `Content-Type: ${contentType}\r\n`;
  return `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"${file}\r\n${type}\r\n`;
}

/** Escapes a name as browsers do. */
function escapeName(name: string): string {
  return name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
