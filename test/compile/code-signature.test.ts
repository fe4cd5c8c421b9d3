import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { checkCodeSignature, removeCodeSignature } from "../../compile/release/code-signature.ts";

/** Signatures of executables for macOS, with small files that have all that is read of them. */

const PAGE = 4096;
const SEGMENT = 0x19;

/** A file of three pages, the last one short, with a segment's command on each side of the signature's. */
function makeSigned(): Buffer {
  const end = 2 * PAGE + 100;
  const file = Buffer.alloc(end + 200);
  for (const [at, value] of [
    [16, 3],
    [20, 24 + 16 + 24],
    [32, SEGMENT],
    [36, 24],
    [56, 0x1d],
    [60, 16],
    [64, end],
    [68, 200],
    [72, SEGMENT],
    [76, 24],
  ] as const)
    file.writeUInt32LE(value, at);
  file.fill(7, 200, end);
  // A list of one entry, which is the table of hashes.
  for (const [at, value] of [
    [0, 0xfade0cc0],
    [8, 1],
    [16, 20],
    [20, 0xfade0c02],
    [20 + 16, 44],
    [20 + 28, 3],
    [20 + 32, end],
  ] as const)
    file.writeUInt32BE(value, end + at);
  file.writeUInt8(32, end + 20 + 36);
  file.writeUInt8(12, end + 20 + 39);
  for (const page of [0, 1, 2]) {
    const bytes = file.subarray(page * PAGE, Math.min((page + 1) * PAGE, end));
    createHash("sha256")
      .update(bytes)
      .digest()
      .copy(file, end + 64 + 32 * page);
  }
  return file;
}

test("a signature is valid when every page has its hash", () => {
  assert.equal(checkCodeSignature(makeSigned()), "valid");
});

for (const at of [100, PAGE, 2 * PAGE + 99])
  test(`a change of byte ${at} makes it invalid`, () => {
    const file = makeSigned();
    file[at] = 9;
    assert.equal(checkCodeSignature(file), "invalid");
  });

test("a signature of the beginning only is invalid", () => {
  const file = makeSigned();
  file.writeUInt32BE(2 * PAGE, file.length - 200 + 20 + 32);
  assert.equal(checkCodeSignature(file), "invalid");
});

test("a signature is removed, and the other commands stay", () => {
  const file = makeSigned();
  const size = file.length;
  removeCodeSignature(file);
  assert.equal(checkCodeSignature(file), "none");
  assert.deepEqual(
    [16, 20, 32, 56, 60].map((at) => file.readUInt32LE(at)),
    [2, 48, SEGMENT, SEGMENT, 24],
  );
  assert.equal(file.length, size);
  removeCodeSignature(file);
  assert.equal(file.readUInt32LE(16), 2);
});
