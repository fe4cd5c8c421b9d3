import assert from "node:assert/strict";
import { test } from "node:test";
import { compileC } from "../../src/runtime/ffi/compile-c.ts";
import { openLibrary } from "../../src/runtime/ffi/ffi.ts";
import { NativeError } from "../../src/runtime/ffi/native.ts";
import { createWake } from "../../src/runtime/ffi/wake.ts";
import { runtimeName } from "../../src/runtime/runtime.ts";

/** C that is compiled when it is needed, and how it wakes JavaScript. */

const LIBC = ["libc.so.6", "libc.so"];

test("C is compiled, and calls the system's functions", async () => {
  const source = `
    int abs(int);
    static int twice(int value) { return 2 * abs(value); }
    void *address_of_twice(void) { return (void *)twice; }
  `;
  const { address_of_twice: address } = await compileC(source, ["address_of_twice"]);
  const { functionAt } = await openLibrary(LIBC, {});
  assert.equal(functionAt(address, { args: ["i32"], result: "i32" })(-21), 42);
});

test("an error says that a source does not compile", async () => {
  await assert.rejects(compileC("int broken(", ["broken"]), (error) => {
    assert.ok(error instanceof NativeError);
    assert.match(error.message, /^C code could not be compiled: ./);
    return true;
  });
});

const testElsewhere: typeof test | undefined = runtimeName === "bun" ? undefined : test;

// Bun has a compiler of its own.
testElsewhere?.("an error says that there is no compiler", async () => {
  const path = process.env["PATH"];
  process.env["PATH"] = "/nowhere";
  try {
    await assert.rejects(compileC("void *none(void) { return 0; }", ["none"]), /cc is not on the PATH/);
  } finally {
    process.env["PATH"] = path;
  }
});

test("a wake runs an action on this thread, and again after the next wake", async () => {
  let wakened = Promise.withResolvers<void>();
  const { address, file, close } = await createWake(() => wakened.resolve());
  const { functions, functionAt } = await openLibrary(LIBC, {
    write: { args: ["i32", "buffer", "usize"], result: "i64" },
  });
  const wake = (): void => {
    if (file < 0) functionAt(address, { args: [], result: "void" })();
    else assert.equal(functions.write(file, Uint8Array.of(1), 1n), 1n);
  };
  try {
    for (let time = 0; time < 3; time++) {
      wakened = Promise.withResolvers<void>();
      wake();
      await wakened.promise;
    }
  } finally {
    close();
  }
});
