import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { RunError } from "../../../src/plan/problem.ts";
import { runtimeName } from "../../../src/runtime/runtime.ts";
import { SystemMemory } from "../../../src/transport/shared-memory/system.ts";

/** POSIX shared memory as files. */

const own = (name: string): string => `rampart-test-${name}-${runtimeName}-${process.pid}`;
const pathOf = (name: string): string => `/dev/shm/${name}`;

test("a region is zeros of its size, is written, read back and removed", () => {
  const memory = new SystemMemory();
  const name = own("whole");
  try {
    const region = memory.create(name, 1000);
    assert.ok(region);
    assert.deepEqual([region.kind, region.name, region.key, region.sizeBytes], ["system", name, `/${name}`, 1000]);
    assert.deepEqual(new Uint8Array(readFileSync(pathOf(name))), new Uint8Array(1000));
    assert.equal(statSync(pathOf(name)).mode & 0o777, 0o600, "nobody else may look");
    region.write(10, Uint8Array.of(1, 2, 3));
    assert.deepEqual(new Uint8Array(readFileSync(pathOf(name))).subarray(9, 14), Uint8Array.of(0, 1, 2, 3, 0));
    const bytes = new Uint8Array(1000).fill(7);
    writeFileSync(pathOf(name), bytes, { flag: "r+" });
    assert.deepEqual(region.read(998, 2), Uint8Array.of(7, 7), "what the server wrote");
    assert.throws(() => region.read(999, 2), RunError);
  } finally {
    memory.release();
  }
  assert.equal(existsSync(pathOf(name)), false);
  memory.release();
});

test("memory is taken when a region is made, not when the server writes", () => {
  const memory = new SystemMemory();
  const name = own("taken");
  try {
    memory.create(name, 5_000_001);
    const { size, blocks } = statSync(pathOf(name));
    assert.equal(size, 5_000_001);
    assert.ok(blocks * 512 >= size, `${blocks} blocks`);
  } finally {
    memory.release();
  }
});

test("a name that is taken gives nothing, and is left as it is", () => {
  const memory = new SystemMemory();
  const name = own("foreign");
  writeFileSync(pathOf(name), "theirs");
  try {
    assert.equal(memory.create(name, 4), undefined);
    memory.release();
    assert.equal(readFileSync(pathOf(name), "utf8"), "theirs");
  } finally {
    rmSync(pathOf(name), { force: true });
  }
});

test("a region that cannot be made is an error that names it, and nothing is left", () => {
  const memory = new SystemMemory();
  const long = own("x".repeat(300));
  assert.throws(
    () => memory.create(long, 4),
    (error) => {
      assert.ok(error instanceof RunError);
      assert.equal(error.code, "unsupported");
      assert.ok(error.message.startsWith(`unable to allocate shared memory of 4 bytes for '${long}': `));
      return true;
    },
  );
  memory.release();
});

test("regions are for this user, and for more only as far as they must be", () => {
  const memory = new SystemMemory();
  const mode = (name: string): number => statSync(pathOf(name)).mode & 0o777;
  const before = process.umask(0o077);
  try {
    const first = memory.create(own("first"), 4);
    assert.ok(first);
    assert.equal(mode(first.name), 0o600);
    assert.equal(memory.widenAccess(first), true);
    assert.equal(mode(first.name), 0o660);
    const second = memory.create(own("second"), 4);
    assert.ok(second);
    assert.equal(mode(second.name), 0o660);
    assert.equal(memory.widenAccess(second), true);
    assert.deepEqual([mode(first.name), mode(second.name)], [0o660, 0o666]);
    assert.equal(memory.widenAccess(second), false);
  } finally {
    process.umask(before);
    memory.release();
  }
});
