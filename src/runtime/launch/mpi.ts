import { openLibrary, toCString } from "../ffi/ffi.ts";

/** The MPI job of this process. Calls do not block, except `finalize`. */
export interface MpiWorld {
  /** 0 to `size` - 1. */
  readonly rank: number;
  /** Number of ranks. */
  readonly size: number;
  /** Sends a 32-bit integer to another rank. Values to the same rank arrive in order. */
  send(rank: number, value: number): void;
  /** Returns the next value that has arrived from any rank; undefined if there is none. */
  receive(): { readonly from: number; readonly value: number } | undefined;
  /** Leaves MPI after all ranks have called it. No call may follow. A rank that ends without it aborts the whole job. */
  finalize(): void;
}

/** Error: MPI cannot be used. The message contains the reason. */
class MpiError extends Error {
  override readonly name = "MpiError";
}

/** First the name used by `libopenmpi-dev`, a user's own library and perf_analyzer, then the name in Open MPI 1.10 to 5. */
const LIBRARIES = ["libmpi.so", "libmpi.so.40", "libmpi.dylib"];
const SYMBOLS = {
  MPI_Get_library_version: { args: ["buffer", "buffer"], result: "i32" },
  MPI_Init: { args: ["pointer", "pointer"], result: "i32" },
  MPI_Comm_rank: { args: ["pointer", "buffer"], result: "i32" },
  MPI_Comm_size: { args: ["pointer", "buffer"], result: "i32" },
  MPI_Send: { args: ["buffer", "i32", "pointer", "i32", "i32", "pointer"], result: "i32" },
  MPI_Recv: { args: ["buffer", "i32", "pointer", "i32", "i32", "pointer", "buffer"], result: "i32" },
  MPI_Iprobe: { args: ["i32", "i32", "pointer", "buffer", "buffer"], result: "i32" },
  MPI_Finalize: { args: [], result: "i32" },
} as const;
/** MPI_MAX_LIBRARY_VERSION_STRING. */
const VERSION_BYTES = 256;
/** Open MPI's MPI_Status has 24 bytes and starts with the sender's rank. */
const STATUS_BYTES = 64;
const ANY_SOURCE = -1;
const TAG = 0;
const HELLO = 0;

/** Variables that process managers set for their ranks: Open MPI's mpirun, PMIx (also Slurm), and the older PMI. */
const ENVIRONMENT = ["OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"];

/** Whether `mpirun` or a similar tool started this process. In any other process, initialising MPI may exit. */
export function isMpiRank(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return ENVIRONMENT.some((name) => env[name] !== undefined);
}

/**
 * Joins the Open MPI job of this process and waits for all ranks. Load this module with `await import()`, only when MPI is requested.
 * @throws MpiError or NativeError if there is no Open MPI
 */
export async function openMpi(): Promise<MpiWorld> {
  const { addressOf, functions } = await openLibrary(LIBRARIES, SYMBOLS);
  checkImplementation(functions.MPI_Get_library_version);
  const comm = addressOf("ompi_mpi_comm_world");
  const int = addressOf("ompi_mpi_int");
  // By default, MPI aborts the process on any other error.
  if (functions.MPI_Init(0n, 0n) !== 0) throw new MpiError("MPI_Init failed");
  const number = new Int32Array(1);
  const bytes = new Uint8Array(number.buffer);
  const readInt = (call: (into: Uint8Array) => number): number => {
    call(bytes);
    return number[0] as number;
  };
  const rank = readInt((into) => functions.MPI_Comm_rank(comm, into));
  const size = readInt((into) => functions.MPI_Comm_size(comm, into));
  const status = new Int32Array(STATUS_BYTES / 4);
  const statusBytes = new Uint8Array(status.buffer);
  const send = (to: number, value: number): void => {
    number[0] = value;
    functions.MPI_Send(bytes, 1, int, to, TAG, comm);
  };
  const receiveFrom = (from: number): number =>
    readInt((into) => functions.MPI_Recv(into, 1, int, from, TAG, comm, statusBytes));
  greetAll(rank, size, send, receiveFrom);
  return {
    rank,
    size,
    send,
    receive: () => {
      if (readInt((into) => functions.MPI_Iprobe(ANY_SOURCE, TAG, comm, into, statusBytes)) === 0) return undefined;
      const from = status[0] as number;
      return { from, value: receiveFrom(from) };
    },
    finalize: () => {
      functions.MPI_Finalize();
    },
  };
}

function checkImplementation(getVersion: (text: Uint8Array, length: Uint8Array) => number): void {
  const text = toCString(" ".repeat(VERSION_BYTES));
  const length = new Int32Array(1);
  getVersion(text, new Uint8Array(length.buffer));
  const version = new TextDecoder().decode(text.subarray(0, length[0]));
  if (!version.startsWith("Open MPI"))
    throw new MpiError(`only Open MPI is supported, and this is ${version.split("\n")[0]}`);
}

/** Opens the connections between all ranks, so that later sends of small messages do not block. */
function greetAll(
  rank: number,
  size: number,
  send: (to: number, value: number) => void,
  receiveFrom: (from: number) => number,
): void {
  for (let other = 0; other < size; other++) if (other !== rank) send(other, HELLO);
  for (let other = 0; other < size; other++) if (other !== rank) receiveFrom(other);
}
