import { type NativeLibrary, openLibrary } from "../../../runtime/ffi/ffi.ts";
import { NativeError, type NativeSymbols } from "../../../runtime/ffi/native.ts";

/** Error of a failed call of Triton's library. */
export class TritonError extends Error {
  override readonly name = "TritonError";
  /** Triton's code: `Not found`, `Invalid argument` and others. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** The data types of Triton's C API, by their numbers. */
export const DATATYPE_NAMES: readonly string[] =
  "INVALID BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 BYTES BF16".split(" ");

const P = "pointer";
const B = "buffer";

/** The functions of Triton's C API (tritonserver.h, API version 1) that are used. */
const SYMBOLS = {
  ApiVersion: { args: [B, B], result: P },
  ErrorNew: { args: ["i32", B], result: P },
  ErrorCodeString: { args: [P], result: P },
  ErrorMessage: { args: [P], result: P },
  ErrorDelete: { args: [P], result: "void" },
  ServerOptionsNew: { args: [B], result: P },
  ServerOptionsSetModelRepositoryPath: { args: [P, B], result: P },
  ServerOptionsSetBackendDirectory: { args: [P, B], result: P },
  ServerOptionsSetRepoAgentDirectory: { args: [P, B], result: P },
  ServerOptionsSetCacheDirectory: { args: [P, B], result: P },
  ServerOptionsSetCacheConfig: { args: [P, B, B], result: P },
  ServerOptionsSetBackendConfig: { args: [P, B, B, B], result: P },
  ServerOptionsSetModelControlMode: { args: [P, "i32"], result: P },
  ServerOptionsSetStartupModel: { args: [P, B], result: P },
  ServerOptionsSetModelLoadRetryCount: { args: [P, "u32"], result: P },
  ServerOptionsSetExitTimeout: { args: [P, "u32"], result: P },
  ServerOptionsSetLogInfo: { args: [P, "i32"], result: P },
  ServerOptionsSetLogVerbose: { args: [P, "i32"], result: P },
  ServerNew: { args: [B, P], result: P },
  ServerIsLive: { args: [P, B], result: P },
  ServerIsReady: { args: [P, B], result: P },
  ServerMetadata: { args: [P, B], result: P },
  ServerModelMetadata: { args: [P, B, "i64", B], result: P },
  ServerModelConfig: { args: [P, B, "i64", "u32", B], result: P },
  ServerModelStatistics: { args: [P, B, "i64", B], result: P },
  ServerModelIndex: { args: [P, "u32", B], result: P },
  MessageSerializeToJson: { args: [P, B, B], result: P },
  MessageDelete: { args: [P], result: P },
  ResponseAllocatorNew: { args: [B, P, P, P], result: P },
  InferenceRequestNew: { args: [B, P, B, "i64"], result: P },
  InferenceRequestDelete: { args: [P], result: P },
  InferenceRequestSetId: { args: [P, B], result: P },
  InferenceRequestSetFlags: { args: [P, "u32"], result: P },
  InferenceRequestSetCorrelationId: { args: [P, "usize"], result: P },
  InferenceRequestSetCorrelationIdString: { args: [P, B], result: P },
  InferenceRequestSetPriorityUInt64: { args: [P, "usize"], result: P },
  InferenceRequestSetTimeoutMicroseconds: { args: [P, "usize"], result: P },
  InferenceRequestSetStringParameter: { args: [P, B, B], result: P },
  InferenceRequestSetIntParameter: { args: [P, B, "i64"], result: P },
  InferenceRequestSetBoolParameter: { args: [P, B, "i32"], result: P },
  InferenceRequestSetDoubleParameter: { args: [P, B, "f64"], result: P },
  InferenceRequestAddInput: { args: [P, B, "i32", B, "usize"], result: P },
  InferenceRequestAppendInputData: { args: [P, B, P, "usize", "i32", "i64"], result: P },
  InferenceRequestAddRequestedOutput: { args: [P, B], result: P },
  InferenceRequestSetReleaseCallback: { args: [P, P, P], result: P },
  InferenceRequestSetResponseCallback: { args: [P, P, P, P, P], result: P },
  ServerInferAsync: { args: [P, P, P], result: P },
  InferenceResponseError: { args: [P], result: P },
  InferenceResponseModel: { args: [P, B, B], result: P },
  InferenceResponseId: { args: [P, B], result: P },
  InferenceResponseOutputCount: { args: [P, B], result: P },
  InferenceResponseOutput: { args: [P, "u32", B, B, B, B, B, B, B, B, B], result: P },
  InferenceResponseDelete: { args: [P], result: P },
} as const satisfies NativeSymbols;

type Symbols = typeof SYMBOLS;
type Name = keyof Symbols;

/** Triton's library, ready to call. */
export interface TritonLibrary extends Pick<NativeLibrary<NativeSymbols>, "readText" | "readMemory" | "functionAt"> {
  /** Calls a function that may return an error. @throws TritonError */
  call(name: Name, ...args: readonly (number | bigint | Uint8Array)[]): void;
  /** Throws an error that a function returned, unless it is 0n. @param isOwned whether to delete the error. Default: true */
  check(error: bigint, isOwned?: boolean): void;
  /** Calls a function and returns its result, without checking it for an error. */
  readonly get: (name: Name, ...args: readonly (number | bigint | Uint8Array)[]) => bigint;
  addressOf(name: Name): bigint;
}

/** Opens the library. @throws NativeError with the loader's reason */
export async function openTritonLibrary(path: string): Promise<TritonLibrary> {
  const full = Object.fromEntries(
    Object.entries(SYMBOLS).map(([name, signature]) => [`TRITONSERVER_${name}`, signature]),
  );
  const library = await openLibrary([path], full);
  type Loose = (...args: readonly (number | bigint | Uint8Array)[]) => bigint;
  const functions = new Map<string, Loose>();
  for (const name of Object.keys(SYMBOLS)) functions.set(name, library.functions[`TRITONSERVER_${name}`] as Loose);
  const get = (name: Name, ...args: readonly (number | bigint | Uint8Array)[]): bigint =>
    (functions.get(name) as Loose)(...args);
  const check = (error: bigint, isOwned = true): void => {
    if (error === 0n) return;
    const failure = new TritonError(
      library.readText(get("ErrorMessage", error)),
      library.readText(get("ErrorCodeString", error)),
    );
    if (isOwned) get("ErrorDelete", error);
    throw failure;
  };
  const triton: TritonLibrary = {
    get,
    check,
    call: (name, ...args) => check(get(name, ...args)),
    addressOf: (name) => library.addressOf(`TRITONSERVER_${name}`),
    readText: library.readText,
    readMemory: library.readMemory,
    functionAt: library.functionAt,
  };
  refuseOtherApi(triton);
  return triton;
}

function refuseOtherApi(triton: TritonLibrary): void {
  const major = new Cell();
  triton.call("ApiVersion", major.bytes, new Cell().bytes);
  const version = Number(major.value & 0xffffffffn);
  if (version !== 1)
    throw new NativeError(`its C API has the major version ${version}, and this program knows version 1`);
}

/** Eight bytes into which C writes a result. */
export class Cell {
  private readonly store = new BigUint64Array(1);
  readonly bytes = new Uint8Array(this.store.buffer);

  get value(): bigint {
    return this.store[0] as bigint;
  }
}
