import assert from "node:assert/strict";
import { test } from "node:test";
import { alignCode } from "../../compile/align-code.ts";

const LARGE_PAGE = 2 ** 21;
const CODE = { offset: 0x1d00, address: 0x41_5d00, bytes: "the code" };
const DATA = { offset: 0x2e00, address: 0x61_6e00, bytes: "the data" };

/** An executable of three loaded parts (constants, code, data) with a section for each of the last two. */
function makeExecutable(codeAddress = CODE.address): Buffer {
  const file = Buffer.alloc(0x4000);
  file.write("\x7fELF\x02\x01", 0, "latin1");
  file.writeBigUInt64LE(64n, 32);
  file.writeBigUInt64LE(0x3000n, 40);
  file.writeUInt16LE(3, 56);
  file.writeUInt16LE(2, 60);
  const parts = [
    [4, 0, 0x40_0000],
    [5, CODE.offset, codeAddress],
    [6, DATA.offset, DATA.address],
  ] as const;
  for (const [index, [flags, offset, address]] of parts.entries()) {
    const at = 64 + index * 56;
    file.writeUInt32LE(1, at);
    file.writeUInt32LE(flags, at + 4);
    file.writeBigUInt64LE(BigInt(offset), at + 8);
    file.writeBigUInt64LE(BigInt(address), at + 16);
  }
  for (const [index, { offset, bytes }] of [CODE, DATA].entries()) {
    file.writeBigUInt64LE(BigInt(offset), 0x3000 + index * 64 + 24);
    file.write(bytes, offset, "latin1");
  }
  return file;
}

function wordAt(file: Buffer, place: number): number {
  return Number(file.readBigUInt64LE(place));
}

test("code comes to lie where file and memory agree within large pages, and everything behind it is found", () => {
  const before = makeExecutable();
  const after = alignCode(before);
  const codeOffset = wordAt(after, 64 + 56 + 8);
  assert.equal((CODE.address - codeOffset) % LARGE_PAGE, 0);
  assert.equal(wordAt(after, 64 + 56 + 16), CODE.address);
  assert.equal(after.toString("latin1", codeOffset, codeOffset + CODE.bytes.length), CODE.bytes);
  const dataOffset = wordAt(after, 64 + 2 * 56 + 8);
  assert.equal(after.toString("latin1", dataOffset, dataOffset + DATA.bytes.length), DATA.bytes);
  // Pages are mapped whole: the data's place must still agree with its address within small ones.
  assert.equal((DATA.address - dataOffset) % 4096, 0);
  const sections = wordAt(after, 40);
  assert.deepEqual([wordAt(after, sections + 24), wordAt(after, sections + 64 + 24)], [codeOffset, dataOffset]);
  assert.ok(after.length < before.length + LARGE_PAGE);
  assert.deepEqual(after.subarray(64 + 16, 64 + 56), before.subarray(64 + 16, 64 + 56));
});

test("a file that is aligned already, or is another kind of file, is not changed", () => {
  const aligned = alignCode(makeExecutable());
  assert.equal(alignCode(aligned), aligned);
  const alike = makeExecutable(0x40_0000 + CODE.offset);
  assert.equal(alignCode(alike), alike);
  const script = Buffer.from("#!/bin/sh\necho no executable, but longer than the header of one would be\n");
  assert.equal(alignCode(script), script);
  const small = makeExecutable();
  small[4] = 1; // 32 bits
  assert.equal(alignCode(small), small);
});
