/** Lays out an executable so that the kernel can map its code in large pages. */

const LARGE_PAGE_BYTES = 2 ** 21;
/** Places in the ELF header, its program headers and its section headers (64 bits, little endian). */
const HEADER = { programTable: 32, sectionTable: 40, programCount: 56, sectionCount: 60 };
const PROGRAM = { bytes: 56, type: 0, flags: 4, offset: 8, address: 16 };
const SECTION = { bytes: 64, offset: 24 };
const LOADED = 1;
const EXECUTABLE = 1;

/**
 * Where the code's place in the file and its address in memory agree within large pages, and the file lies in the page cache in large
 * pages, a start takes some 20 page faults for its code instead of some 250: about 0.5 ms of 8. Bytes are inserted in front of the code, and
 * what names places behind it is corrected; addresses stay as they are.
 * @returns the file as it is where it is no such executable or is laid out so already
 */
export function alignCode(file: Buffer): Buffer {
  if (file.length < 64 || file.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") return file;
  const programTable = Number(file.readBigUInt64LE(HEADER.programTable));
  const programs = Array.from(
    { length: file.readUInt16LE(HEADER.programCount) },
    (_, index) => programTable + index * PROGRAM.bytes,
  );
  const code = programs.find(
    (at) =>
      file.readUInt32LE(at + PROGRAM.type) === LOADED && (file.readUInt32LE(at + PROGRAM.flags) & EXECUTABLE) !== 0,
  );
  if (code === undefined) return file;
  const codeOffset = Number(file.readBigUInt64LE(code + PROGRAM.offset));
  const codeAddress = Number(file.readBigUInt64LE(code + PROGRAM.address));
  const gap = (((codeAddress - codeOffset) % LARGE_PAGE_BYTES) + LARGE_PAGE_BYTES) % LARGE_PAGE_BYTES;
  // Headers in front of the code would have to stay there.
  if (gap === 0 || codeOffset < programTable + programs.length * PROGRAM.bytes) return file;

  const moved = Buffer.concat([file.subarray(0, codeOffset), Buffer.alloc(gap), file.subarray(codeOffset)]);
  const shift = (place: number): void => {
    const offset = moved.readBigUInt64LE(place);
    if (offset >= codeOffset) moved.writeBigUInt64LE(offset + BigInt(gap), place);
  };
  for (const at of programs) shift(at + PROGRAM.offset);
  shift(HEADER.sectionTable);
  const sectionTable = Number(moved.readBigUInt64LE(HEADER.sectionTable));
  const sectionCount = moved.readUInt16LE(HEADER.sectionCount);
  for (let index = 0; index < sectionCount; index++) shift(sectionTable + index * SECTION.bytes + SECTION.offset);
  return moved;
}
