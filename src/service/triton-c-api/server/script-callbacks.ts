import { systemClock } from "../../../runtime/clock.ts";
import { createCallback, type NativeLibrary, openLibrary, toCString } from "../../../runtime/ffi/ffi.ts";
import type { NativeSymbols } from "../../../runtime/ffi/native.ts";
import { openMonotonicClock } from "../../../runtime/monotonic-offset.ts";
import type { ArrivedResponse, ServerCallbacks } from "./callbacks.ts";
import type { TritonLibrary } from "./library.ts";

const SYMBOLS = {
  malloc: { args: ["usize"], result: "pointer" },
  free: { args: ["pointer"], result: "void" },
  memcpy: { args: ["pointer", "buffer", "usize"], result: "pointer" },
  strcmp: { args: ["pointer", "pointer"], result: "i32" },
  setpgid: { args: ["i32", "i32"], result: "i32" },
  kill: { args: ["i32", "i32"], result: "i32" },
  fcntl: { args: ["i32", "i32", "i32"], result: "i32" },
  prctl: { args: ["i32", "usize"], result: "i32" },
} as const satisfies NativeSymbols;

type System = NativeLibrary<typeof SYMBOLS>;

const P = "pointer";
const ALLOCATE = { args: [P, P, "usize", "i32", "i64", P, P, P, P, P], result: P } as const;
const RELEASE = { args: [P, P, P, "usize", "i32", "i64"], result: P } as const;
const COMPLETE = { args: [P, "u32", P], result: "void" } as const;

const FINAL = 1;
const INTERNAL_ERROR = 1;
/** A place in shared memory: a name's address, an address and a size, ended by a name at 0. */
const PLACE_BYTES = 24;
const PIPE = 3;
const SET_DESCRIPTOR_FLAGS = 2;
const CLOSE_ON_EXEC = 1;
const SET_STATUS_FLAGS = 4;
const SIGNAL_AT_PARENTS_END = 1;
const SIGKILL = 9;
const SIGTERM = 15;

/**
 * Opens callbacks in JavaScript, for which Triton's threads wait: where no C can be compiled. Ties this process to the run's.
 * @param reason why C cannot be compiled
 * @throws NativeError
 */
export async function openScriptCallbacks(runPid: number, wake: () => void, reason: string): Promise<ServerCallbacks> {
  const system = await openLibrary(["libc.so.6", "libc.so"], SYMBOLS);
  const { free } = system.functions;
  tieTo(runPid, system);
  const monotonicNs = await openMonotonicClock();
  let triton: TritonLibrary | undefined;
  let arrived: ArrivedResponse[] = [];
  let beganNs = 0;
  const fail = (message: string): bigint => triton?.get("ErrorNew", INTERNAL_ERROR, toCString(message)) ?? 0n;
  return {
    warning: `latencies include the way to JavaScript, tens of microseconds for each output and each response, because ${reason}. The executable needs no compiler.`,
    allocate: await createCallback(ALLOCATE, createAllocate(system, fail)),
    release: await createCallback(RELEASE, (_allocator, _buffer, owned) => {
      free(owned);
      return 0n;
    }),
    complete: await createCallback(COMPLETE, (response, flags, call) => {
      const atNs = monotonicNs();
      // Not now: Triton may call back before the call that sends a request returns.
      if (arrived.length === 0) systemClock.nextTurn(wake);
      arrived.push({ response, call: Number(call), atNs, isFinal: (flags & FINAL) !== 0 });
    }),
    use: (opened) => {
      triton = opened;
    },
    infer: (server, request) => {
      beganNs = monotonicNs();
      return (triton as TritonLibrary).get("ServerInferAsync", server, request, 0n);
    },
    beganNs: () => beganNs,
    take: (receive) => {
      const taken = arrived;
      arrived = [];
      for (const one of taken) receive(one);
      return false;
    },
    endLoading: () => signalAtParentsEnd(SIGTERM, system),
    end: () => {
      system.functions.kill(0, SIGKILL);
    },
  };
}

/** Makes this process lead a group, with the models' processes, that ends with the process that started it. */
function tieTo(runPid: number, system: System): void {
  const { setpgid, fcntl, kill } = system.functions;
  setpgid(0, 0);
  fcntl(PIPE, SET_DESCRIPTOR_FLAGS, CLOSE_ON_EXEC); // The models' processes do not inherit the pipe.
  fcntl(PIPE, SET_STATUS_FLAGS, 0); // Writing to it waits.
  // While models are loaded, no JavaScript can run that would answer another signal. Models' processes notice the end themselves.
  signalAtParentsEnd(SIGKILL, system);
  if (process.ppid !== runPid) kill(0, SIGKILL); // It has ended already.
}

function signalAtParentsEnd(signal: number, { functions: { prctl } }: System): void {
  prctl(SIGNAL_AT_PARENTS_END, BigInt(signal));
}

/** Returns the function that gives Triton memory for an output: its place in shared memory, or memory of its own. */
function createAllocate(system: System, fail: (message: string) => bigint) {
  const { malloc, memcpy } = system.functions;
  const value = new BigUint64Array(1);
  const bytes = new Uint8Array(value.buffer);
  const put = (address: bigint, put: bigint, sizeBytes: bigint): void => {
    value[0] = put;
    memcpy(address, bytes, sizeBytes);
  };
  return (
    _allocator: bigint,
    name: bigint,
    sizeBytes: bigint,
    _type: number,
    _typeId: bigint,
    places: bigint,
    buffer: bigint,
    owned: bigint,
    actualType: bigint,
    actualId: bigint,
  ): bigint => {
    put(actualType, 0n, 4n);
    put(actualId, 0n, 8n);
    const place = findPlace(system, places, name);
    if (place !== undefined && sizeBytes > place.sizeBytes)
      return fail("the output is larger than its place in shared memory");
    const memory = place !== undefined || sizeBytes === 0n ? 0n : malloc(sizeBytes);
    put(buffer, place?.address ?? memory, 8n);
    put(owned, memory, 8n);
    return place === undefined && sizeBytes > 0n && memory === 0n ? fail("no memory for the output") : 0n;
  };
}

function findPlace(
  { functions: { strcmp }, readMemory }: System,
  places: bigint,
  name: bigint,
): { readonly address: bigint; readonly sizeBytes: bigint } | undefined {
  if (places === 0n) return undefined;
  for (let at = places; ; at += BigInt(PLACE_BYTES)) {
    const [placeName = 0n, address = 0n, sizeBytes = 0n] = new BigUint64Array(readMemory(at, PLACE_BYTES).buffer);
    if (placeName === 0n) return undefined;
    if (strcmp(placeName, name) === 0) return { address, sizeBytes };
  }
}
