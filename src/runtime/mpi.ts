import { openLibrary, toCString } from "./ffi/ffi.ts";

/**
 * MPI, as far as the ranks of a job send each other small numbers: Open MPI, called through its library. Load this module with `await
 * import()`, only where it is asked for.
 */

/** The job this process is a rank of. All calls return at once but `finalize`. */
export interface MpiWorld {
  /** 0 to `size` - 1. */
  readonly rank: number;
  /** How many ranks there are. */
  readonly size: number;
  /** Sends a whole number of 32 bits to another rank. Those to the same rank arrive in order. */
  send(rank: number, value: number): void;
  /** The next number that has arrived from any rank; undefined when there is none. */
  receive(): { readonly from: number; readonly value: number } | undefined;
  /** Leaves MPI, which waits until all ranks do; nothing may be called afterwards. Without it a rank's end is an error that ends all others. */
  finalize(): void;
}

/** MPI cannot be used; the message says why. */
export class MpiError extends Error {
  override readonly name = "MpiError";
}

/** The name with `libopenmpi-dev` or a user's own library first, as perf_analyzer asks for it, then that of Open MPI 1.10 to 5. */
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
/** Open MPI's MPI_Status has 24 bytes, the rank that sent first. */
const STATUS_BYTES = 64;
const ANY_SOURCE = -1;
const TAG = 0;
const HELLO = 0;

/** What process managers tell the ranks they start: Open MPI's mpirun, PMIx (also Slurm's), and the older PMI. */
const ENVIRONMENT = ["OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"];

/** Whether something like `mpirun` started this process. Initialising MPI in any other one may end it. */
export function isMpiRank(): boolean {
  for (const name of ENVIRONMENT) if (process.env[name] !== undefined) return true;
  return false;
}

/**
 * Joins the job that this process is a rank of; waits until all its ranks do.
 * @throws MpiError or NativeError when there is no Open MPI
 */
export async function openMpi(): Promise<MpiWorld> {
  const { addressOf, functions } = await openLibrary(LIBRARIES, SYMBOLS);
  checkImplementation(functions.MPI_Get_library_version);
  const comm = addressOf("ompi_mpi_comm_world");
  const int = addressOf("ompi_mpi_int");
  // Other errors end the process by themselves: that is MPI's default.
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

/** Opens the connections between all ranks while each of them waits: from then on sending a small message never does. */
function greetAll(
  rank: number,
  size: number,
  send: (to: number, value: number) => void,
  receiveFrom: (from: number) => number,
): void {
  for (let other = 0; other < size; other++) if (other !== rank) send(other, HELLO);
  for (let other = 0; other < size; other++) if (other !== rank) receiveFrom(other);
}
