import { messageOf } from "../../../plan/problem.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createCallback, type NativeLibrary, openLibrary, toCString } from "../../../runtime/ffi/ffi.ts";
import type { NativeSymbols } from "../../../runtime/ffi/native.ts";
import { openMonotonicClock } from "../../../runtime/monotonic-offset.ts";
import { encodeResponseFrame, FrameReader, RESPONSE_FLAGS } from "../../../transport/in-process/frames.ts";
import type { FrameHost, ServerCallbacks, StartedCall } from "./callbacks.ts";
import { encodeResponse } from "./infer-response.ts";
import type { TritonLibrary } from "./library.ts";
import { writeToRun } from "./write-to-run.ts";

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
/** Size of a place in shared memory: the address of a name, an address and a size. The list ends with the name 0. */
const PLACE_BYTES = 24;
const PIPE = 3;
const SET_DESCRIPTOR_FLAGS = 2;
const CLOSE_ON_EXEC = 1;
const SET_STATUS_FLAGS = 4;
const SIGNAL_AT_PARENTS_END = 1;
const SIGKILL = 9;
const SIGTERM = 15;

/** A response that Triton has delivered. */
interface ArrivedResponse {
  /** Its address; 0n for an end without content. */
  readonly response: bigint;
  readonly call: number;
  /** Time of its arrival, in nanoseconds of the system's monotonic clock. */
  readonly atNs: number;
  readonly isFinal: boolean;
}

/**
 * Opens callbacks in JavaScript, for which Triton's threads wait. Used if C cannot be compiled. Ties this process to the
 * run's.
 * @param reason why C cannot be compiled
 * @throws NativeError
 */
export async function openScriptCallbacks(runPid: number, reason: string): Promise<ServerCallbacks> {
  const system = await openLibrary(["libc.so.6", "libc.so"], SYMBOLS);
  const { free } = system.functions;
  tieTo(runPid, system);
  const monotonicNs = await openMonotonicClock();
  let triton: TritonLibrary | undefined;
  const calls = new ActiveCalls();
  const fail = (message: string): bigint => triton?.get("ErrorNew", INTERNAL_ERROR, toCString(message)) ?? 0n;
  let arrived: ArrivedResponse[] = [];
  const drain = (): void => {
    const taken = arrived;
    arrived = [];
    if (triton === undefined) return;
    writeToRun(Buffer.concat(taken.map((one) => encodeArrived(triton as TritonLibrary, one, calls))));
  };
  const complete = await createCallback(COMPLETE, (response, flags, call) => {
    const atNs = monotonicNs();
    // Deferred: Triton may call back before the call that sends a request returns.
    if (arrived.length === 0) systemClock.nextTurn(drain);
    arrived.push({ response, call: Number(call), atNs, isFinal: (flags & FINAL) !== 0 });
  });
  return {
    warning: `latencies include the way to JavaScript, tens of microseconds for each output and each response, because ${reason}. The executable needs no compiler.`,
    allocate: await createCallback(ALLOCATE, createAllocate(system, fail)),
    release: await createCallback(RELEASE, (_allocator, _buffer, owned) => {
      free(owned);
      return 0n;
    }),
    use: (opened) => {
      triton = opened;
    },
    run: (host) => {
      calls.host = host;
      const reader = new FrameReader((frame) => host.receive(frame));
      process.stdin.on("data", (chunk: Uint8Array) => reader.feed(chunk));
      process.stdin.on("end", () => host.end());
      process.stdin.on("error", () => host.end());
      signalAtParentsEnd(SIGTERM, system);
    },
    infer: (request, started) => {
      const library = triton as TritonLibrary;
      library.call("InferenceRequestSetReleaseCallback", request, library.addressOf("InferenceRequestDelete"), 0n);
      const { allocator = 0n, server = 0n } = calls.host ?? {};
      const { call, places } = started;
      library.call("InferenceRequestSetResponseCallback", request, allocator, places, complete, BigInt(call));
      calls.add(started, monotonicNs());
      const error = library.get("ServerInferAsync", server, request, 0n);
      if (error === 0n) return 0n;
      calls.end(call);
      library.get("InferenceRequestDelete", request);
      return error;
    },
    forget: (template) => calls.forget(template),
    write: writeToRun,
    end: () => {
      system.functions.kill(0, SIGKILL);
    },
  };
}

/** Calls in flight by number, and the templates that they use. */
class ActiveCalls {
  host: FrameHost | undefined;
  private readonly calls = new Map<number, { readonly template: number; readonly beganNs: number }>();
  private readonly uses = new Map<number, number>();
  private readonly forgotten = new Set<number>();

  add({ call, template }: StartedCall, beganNs: number): void {
    this.calls.set(call, { template, beganNs });
    this.uses.set(template, (this.uses.get(template) ?? 0) + 1);
  }

  beganNs(call: number): number {
    return this.calls.get(call)?.beganNs ?? 0;
  }

  end(call: number): void {
    const template = this.calls.get(call)?.template;
    if (template === undefined) return;
    this.calls.delete(call);
    const uses = (this.uses.get(template) ?? 0) - 1;
    if (uses > 0) this.uses.set(template, uses);
    else this.uses.delete(template);
    if (uses === 0 && this.forgotten.delete(template)) this.host?.endTemplate(template);
  }

  forget(template: number): void {
    if (this.uses.has(template)) this.forgotten.add(template);
    else this.host?.endTemplate(template);
  }
}

/** Returns the frame of a response, and deletes the response. */
function encodeArrived(
  triton: TritonLibrary,
  { response, call, atNs, isFinal }: ArrivedResponse,
  calls: ActiveCalls,
): Uint8Array {
  let flags: number = isFinal ? RESPONSE_FLAGS.final : 0;
  let body: Uint8Array = new Uint8Array(0);
  if (response === 0n) flags |= RESPONSE_FLAGS.empty;
  else {
    try {
      body = encodeResponse(triton, response);
    } catch (error) {
      flags |= RESPONSE_FLAGS.failed;
      body = new TextEncoder().encode(messageOf(error));
    }
    triton.call("InferenceResponseDelete", response);
  }
  const beganNs = calls.beganNs(call);
  if (isFinal) calls.end(call);
  return encodeResponseFrame(call, flags, { beganNs, atNs }, body);
}

/**
 * Makes this process the leader of a group that includes the models' processes and that ends with the process that
 * started it.
 */
function tieTo(runPid: number, system: System): void {
  const { setpgid, fcntl, kill } = system.functions;
  setpgid(0, 0);
  fcntl(PIPE, SET_DESCRIPTOR_FLAGS, CLOSE_ON_EXEC); // The models' processes do not inherit the pipe.
  fcntl(PIPE, SET_STATUS_FLAGS, 0); // blocking writes
  // While models are loading, no JavaScript can run to handle another signal. Models' processes notice the end themselves.
  signalAtParentsEnd(SIGKILL, system);
  if (process.ppid !== runPid) kill(0, SIGKILL); // the run's process has already ended
}

function signalAtParentsEnd(signal: number, { functions: { prctl } }: System): void {
  prctl(SIGNAL_AT_PARENTS_END, BigInt(signal));
}

/** Returns the function with which Triton allocates memory for an output: its place in shared memory, or separate memory. */
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
