import { createHash } from "node:crypto";

/** The code signature of an executable for macOS. Apple silicon runs only signed programs; an Intel processor runs unsigned ones too. */

/** A load command of a Mach-O file. */
interface LoadCommand {
  readonly at: number;
  readonly kind: number;
  readonly bytes: number;
}

const HEADER_BYTES = 32;
const CODE_SIGNATURE = 0x1d;
/** In a signature: the table of hashes. Numbers of a signature are big-endian. */
const CODE_DIRECTORY = 0xfa_de_0c_02;

/** Whether each page of the file has the hash that its signature says; `none`: the file has no signature. */
export function checkCodeSignature(file: Buffer): "none" | "valid" | "invalid" {
  const command = findSignature(file);
  if (command === undefined) return "none";
  const start = file.readUInt32LE(command.at + 8);
  const signature = file.subarray(start);
  const directories = Array.from({ length: signature.readUInt32BE(8) }, (_, index) =>
    signature.readUInt32BE(12 + 8 * index + 4),
  ).filter((at) => signature.readUInt32BE(at) === CODE_DIRECTORY);
  const areValid = directories.every((at) => isValid(file, signature.subarray(at), start));
  return directories.length > 0 && areValid ? "valid" : "invalid";
}

/** @param start where the signature is: everything before it must be signed */
function isValid(file: Buffer, directory: Buffer, start: number): boolean {
  const [hashes, pages, end] = [16, 28, 32].map((at) => directory.readUInt32BE(at)) as [number, number, number];
  const [hashBytes, pageBytes] = [directory.readUInt8(36), 2 ** directory.readUInt8(39)];
  if (end !== start || pages !== Math.ceil(end / pageBytes)) return false;
  for (let page = 0; page < pages; page++) {
    const bytes = file.subarray(page * pageBytes, Math.min((page + 1) * pageBytes, end));
    const hash = createHash("sha256").update(bytes).digest().subarray(0, hashBytes);
    if (!hash.equals(directory.subarray(hashes + page * hashBytes, hashes + (page + 1) * hashBytes))) return false;
  }
  return true;
}

/** Takes the signature's load command out of the file, in place. */
export function removeCodeSignature(file: Buffer): void {
  const command = findSignature(file);
  if (command === undefined) return;
  const end = HEADER_BYTES + file.readUInt32LE(20);
  file.copy(file, command.at, command.at + command.bytes, end);
  file.fill(0, end - command.bytes, end);
  file.writeUInt32LE(file.readUInt32LE(16) - 1, 16);
  file.writeUInt32LE(file.readUInt32LE(20) - command.bytes, 20);
}

function findSignature(file: Buffer): LoadCommand | undefined {
  let at = HEADER_BYTES;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const command = { at, kind: file.readUInt32LE(at), bytes: file.readUInt32LE(at + 4) };
    if (command.kind === CODE_SIGNATURE) return command;
    at += command.bytes;
  }
  return undefined;
}
