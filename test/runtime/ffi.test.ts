import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { createCallback, openLibrary, toCString } from "../../src/runtime/ffi/ffi.ts";
import { NativeError } from "../../src/runtime/ffi/native.ts";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { makeFolder, writeIn } from "../make-folder.ts";

/** Native calls, the same on every runtime. */

const LIBC = ["libc.so.6", "libc.so", "libSystem.B.dylib"];
/** Every type in every role, and a variable. */
const SOURCE = `
#include <pthread.h>
#include <stdint.h>
#include <string.h>
int32_t negate(int32_t a) { return -a; }
uint32_t add_one(uint32_t a) { return a + 1; }
int64_t halve(int64_t a) { return a / 2; }
uint64_t same(uint64_t a) { return a; }
int64_t many(int32_t a, uint32_t b, int64_t c, uint64_t d, void *e, unsigned char *f, int32_t g, int64_t h) {
  return a + (int64_t)b * 10 + c * 100 + (int64_t)d * 1000 + (e == 0) * 10000 + f[1] * 100000 + g * 1000000 + h * 100000000;
}
char variable[6] = "worth";
char *pointer_to_variable(void) { return variable; }
void fill(unsigned char *bytes, uint64_t size, int32_t value) { memset(bytes, value, size); }
void *null_pointer(void) { return 0; }
typedef void *(*callback)(int32_t, uint32_t, int64_t, uint64_t, void *, double);
void *call(callback action) { return action(-1, 4294967295u, -5000000000, 18446744073709551615ul, variable, 0.5); }
static void *returned;
static void *run(void *action) { returned = call((callback)action); return 0; }
static pthread_t thread;
int32_t call_on_thread(callback action) { return pthread_create(&thread, 0, run, (void *)action); }
void *join_thread(void) { pthread_join(thread, 0); return returned; }
char *long_text(void) { static char text[10001]; memset(text, 'x', 10000); return text; }
`;

const folder = makeFolder();
let path: string;

before(() => {
  path = join(folder, "libsample.so");
  writeFileSync(join(folder, "sample.c"), SOURCE);
  execFileSync("gcc", ["-shared", "-fPIC", "-pthread", "-o", path, join(folder, "sample.c")]);
});

test("libc's functions are called", async () => {
  const libc = await openLibrary(LIBC, {
    getpid: { args: [], result: "i32" },
    strlen: { args: ["buffer"], result: "usize" },
    memcpy: { args: ["buffer", "buffer", "usize"], result: "pointer" },
  });
  assert.ok(LIBC.includes(libc.name));
  assert.equal(libc.functions.getpid(), process.pid);
  assert.equal(libc.functions.strlen(toCString("grüße")), 7n);
  const target = new Uint8Array(5);
  assert.notEqual(libc.functions.memcpy(target, Uint8Array.of(1, 2, 3, 4), 3n), 0n);
  assert.deepEqual(target, Uint8Array.of(1, 2, 3, 0, 0));
});

test("every type arrives and returns as it was, at its limits too", async () => {
  const { functions } = await openLibrary([path], {
    negate: { args: ["i32"], result: "i32" },
    add_one: { args: ["u32"], result: "u32" },
    halve: { args: ["i64"], result: "i64" },
    same: { args: ["usize"], result: "usize" },
    many: { args: ["i32", "u32", "i64", "usize", "pointer", "buffer", "i32", "i64"], result: "i64" },
    null_pointer: { args: [], result: "pointer" },
  });
  assert.equal(functions.negate(5), -5);
  assert.equal(functions.negate(-2147483647), 2147483647);
  assert.equal(functions.add_one(4294967294), 4294967295);
  assert.equal(functions.halve(-(2n ** 63n)), -(2n ** 62n));
  assert.equal(functions.halve(8n), 4n);
  assert.equal(functions.same(2n ** 64n - 1n), 2n ** 64n - 1n);
  assert.equal(functions.same(7n), 7n);
  assert.equal(functions.many(1, 2, 3n, 4n, 0n, Uint8Array.of(0, 6), 7, 8n), 807614321n);
  assert.equal(functions.null_pointer(), 0n);
});

test("C writes into a buffer, a part of one too, and into none beside it", async () => {
  const { functions } = await openLibrary([path], { fill: { args: ["buffer", "usize", "i32"], result: "void" } });
  const whole = new Uint8Array(8);
  assert.equal(functions.fill(whole.subarray(2, 5), 3n, 9), undefined);
  assert.deepEqual(whole, Uint8Array.of(0, 0, 9, 9, 9, 0, 0, 0));
  const large = new Uint8Array(1 << 20);
  functions.fill(large, BigInt(large.length), 1);
  assert.ok(large.every((byte) => byte === 1));
  const buffer = Buffer.alloc(16);
  functions.fill(buffer, 16n, 3);
  assert.ok(buffer.every((byte) => byte === 3));
});

test("a variable's address is found, and memory is read there", async () => {
  const library = await openLibrary([path], {
    pointer_to_variable: { args: [], result: "pointer" },
    long_text: { args: [], result: "pointer" },
    fill: { args: ["pointer", "usize", "i32"], result: "void" },
  });
  const address = library.addressOf("variable");
  assert.equal(library.functions.pointer_to_variable(), address);
  assert.deepEqual(library.readMemory(address, 5), new TextEncoder().encode("worth"));
  assert.equal(library.readText(address), "worth");
  assert.equal(library.readText(library.functions.long_text()).length, 10_000);
  assert.equal(library.readMemory(address, 0).length, 0);
  const copy = library.readMemory(address, 5);
  library.functions.fill(address, 1n, 0x77);
  assert.equal(library.readText(address), "worth");
  library.functions.fill(address, 1n, 0x57);
  assert.equal(library.readText(address), "Worth");
  assert.equal(copy[0], 0x77, "what was read is a copy");
});

test("the first library that can be opened is taken", async () => {
  const library = await openLibrary([join(folder, "libnone.so"), path], { negate: { args: ["i32"], result: "i32" } });
  assert.equal(library.name, path);
  assert.equal(library.functions.negate(1), -1);
});

test("an error names the libraries that could not be opened, and why", async () => {
  await assert.rejects(openLibrary(["librampart-none.so", "librampart-none.so.1"], {}), (error) => {
    assert.ok(error instanceof NativeError);
    assert.match(error.message, /^could not open librampart-none\.so or librampart-none\.so\.1: .*[Nn]o such file/);
    return true;
  });
  const text = writeIn(folder, "text.so", "no library");
  await assert.rejects(openLibrary([text], {}), /could not open .*text\.so: .+/);
});

test("an error names the symbol that is missing", async () => {
  const symbols = { negate: { args: ["i32"], result: "i32" }, absent: { args: [], result: "void" } } as const;
  await assert.rejects(openLibrary([path], symbols), /the library .*libsample\.so has no absent: .+/);
  const library = await openLibrary([path], {});
  assert.throws(() => library.addressOf("nothing"), /has no nothing/);
});

test("a call with too few arguments is refused", async () => {
  const { functions } = await openLibrary([path], { negate: { args: ["i32"], result: "i32" } });
  assert.throws(() => (functions.negate as () => number)(), TypeError);
});

describe("a function that C calls", () => {
  const ARGS = ["i32", "u32", "i64", "usize", "pointer", "f64"] as const;
  const SENT = [-1, 4294967295, -5000000000n, 2n ** 64n - 1n] as const;
  const SYMBOLS = {
    call: { args: ["pointer"], result: "pointer" },
    call_on_thread: { args: ["pointer"], result: "i32" },
    join_thread: { args: [], result: "pointer" },
  } as const;

  // A skipped test counts as failed.
  const [testOnBun, testElsewhere] = runtimeName === "bun" ? [test, undefined] : [undefined, test];

  testElsewhere?.("gets every type, and what it returns arrives", async () => {
    const library = await openLibrary([path], SYMBOLS);
    const received: unknown[] = [];
    const address = await createCallback({ args: ARGS, result: "pointer" }, (...args) => {
      received.push(...args);
      return 77n;
    });
    assert.equal(library.functions.call(address), 77n);
    assert.deepEqual(received, [...SENT, library.addressOf("variable"), 0.5]);
  });

  testElsewhere?.("is called on this thread by another one, which waits for the result", async () => {
    const { functions } = await openLibrary([path], SYMBOLS);
    const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
    const address = await createCallback({ args: ARGS, result: "pointer" }, (...args) => {
      resolve(args);
      return 78n;
    });
    assert.equal(functions.call_on_thread(address), 0);
    assert.deepEqual((await promise).slice(0, 4), SENT);
    // Deno passes the result on when this turn of the event loop ends.
    await new Promise(setImmediate);
    assert.equal(functions.join_thread(), 78n);
  });

  testOnBun?.("returns nothing, because C does not wait for it", async () => {
    await assert.rejects(
      createCallback({ args: [], result: "i32" }, () => 1),
      NativeError,
    );
  });
});
