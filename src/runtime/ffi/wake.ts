import { Socket } from "node:net";
import { runtimeName } from "../runtime.ts";
import { createCallback, openLibrary } from "./ffi.ts";
import { NativeError } from "./native.ts";

/** A way for C to wake the thread that created it, from any thread and without waiting. */
export interface Wake {
  /** Address of a function to call, without parameters and result; 0n: write a byte to the file instead. */
  readonly address: bigint;
  /** File descriptor; -1 if there is a function. Writing never blocks: when the file is full, the thread will wake anyway. */
  readonly file: number;
  /** Closes the wake. Until then the process does not end by itself. */
  close(): void;
}

const LONG_MS = 2 ** 30;
const NONBLOCKING_AND_CLOSED_ON_EXEC = 0o2004000;

/**
 * Returns a wake that makes this thread call `action` soon; several wakes in a short time may cause one call. Linux only. @throws
 * NativeError
 */
export async function createWake(action: () => void): Promise<Wake> {
  if (runtimeName === "bun") {
    const address = await createCallback({ args: [], result: "void" }, action);
    // Without a timer, Bun's event loop would spin when it waits for nothing else.
    const timer = setInterval(() => {}, LONG_MS);
    return { address, file: -1, close: () => clearInterval(timer) };
  }
  const symbols = {
    pipe2: { args: ["buffer", "i32"], result: "i32" },
    close: { args: ["i32"], result: "i32" },
  } as const;
  const { functions } = await openLibrary(["libc.so.6", "libc.so"], symbols);
  const files = new Int32Array(2);
  if (functions.pipe2(new Uint8Array(files.buffer), NONBLOCKING_AND_CLOSED_ON_EXEC) !== 0)
    throw new NativeError("no pipe can be opened");
  const [fd = -1, file = -1] = files;
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on("data", action).on("error", () => {});
  const close = (): void => {
    socket.destroy();
    functions.close(file);
  };
  return { address: 0n, file, close };
}
