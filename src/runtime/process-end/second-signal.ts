import { openLibrary } from "../ffi/ffi.ts";

/**
 * Lets the kernel end the process at a second signal while code blocks the thread. A listener in JavaScript runs only between events, so
 * endless code in a scenario would delay every signal. With `SA_RESETHAND`, the kernel removes the runtime's handler after calling it: the
 * next signal has its default effect, unless the listener has run meanwhile and called {@link armSecondSignal}.
 */

interface Layout {
  readonly sizeBytes: number;
  /** Offset of `sa_flags`. */
  readonly flagsAt: number;
  readonly resetHand: number;
}

/** Layouts of `struct sigaction` in glibc and musl with 64-bit pointers, and in macOS. */
const LAYOUTS: Readonly<Partial<Record<NodeJS.Platform, Layout>>> = {
  linux: { sizeBytes: 152, flagsAt: 136, resetHand: 0x80000000 },
  darwin: { sizeBytes: 16, flagsAt: 12, resetHand: 0x4 },
};
const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
/** `SIG_DFL` and `SIG_IGN`; larger values are addresses. */
const LAST_SPECIAL_HANDLER = 1n;

type Arm = (signal: number) => void;
let arm: Arm | undefined;

/**
 * Loads the dependencies of {@link armSecondSignal}. Without them (Node without koffi, other systems), a blocked thread needs
 * SIGKILL.
 */
export async function prepareSecondSignal(): Promise<void> {
  const layout = LAYOUTS[process.platform];
  if (arm !== undefined || layout === undefined) return;
  try {
    arm = await createArm(layout);
  } catch {
    // Native calls are not available.
  }
}

/** Arms signals that have a listener, for their next delivery. Does nothing unless {@link prepareSecondSignal} has succeeded. */
export function armSecondSignal(signals: readonly (keyof typeof NUMBERS)[]): void {
  for (const signal of signals) arm?.(NUMBERS[signal]);
}

async function createArm({ sizeBytes, flagsAt, resetHand }: Layout): Promise<Arm> {
  const library = await openLibrary(["libc.so.6", "libc.so", "libSystem.B.dylib"], {});
  const address = library.addressOf("sigaction");
  const read = library.functionAt(address, { args: ["i32", "pointer", "buffer"], result: "i32" });
  const write = library.functionAt(address, { args: ["i32", "buffer", "pointer"], result: "i32" });
  const armed = new Map<number, Uint8Array>();
  return (signal) => {
    const action = new Uint8Array(sizeBytes);
    const view = new DataView(action.buffer);
    if (read(signal, 0n, action) !== 0) return;
    if (view.getBigUint64(0, true) > LAST_SPECIAL_HANDLER) {
      view.setUint32(flagsAt, (view.getUint32(flagsAt, true) | resetHand) >>> 0, true);
      armed.set(signal, action);
    }
    const handler = armed.get(signal);
    if (handler !== undefined) write(signal, handler, 0n);
  };
}
