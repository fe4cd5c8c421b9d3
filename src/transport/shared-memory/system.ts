import { messageOf, RunError } from "../../plan/problem.ts";
import { fileSystem } from "../../runtime/files.ts";
import type { SharedMemory, SharedRegion, SystemRegion } from "./shared-memory.ts";

/** On Linux, `shm_open` objects are files in this folder, so no native call is necessary. */
const FOLDER = "/dev/shm";
/**
 * Access for this user, then also its group, then everybody. Tensors may be private, so access starts narrow; the server needs to
 * read and write.
 */
const MODES = [0o600, 0o660, 0o666] as const;

const CHUNK_BYTES = 1024 * 1024; // 1 MiB

/** POSIX shared memory. */
export class SystemMemory implements SharedMemory {
  private readonly fds: number[] = [];
  private readonly fdOf = new Map<string, number>();
  /** Index in {@link MODES}. */
  private width = 0;
  private readonly paths: string[] = [];

  constructor() {
    if (!fileSystem().existsSync(FOLDER)) {
      throw new RunError(
        "unsupported",
        `system shared memory needs ${FOLDER}, which this system does not have`,
        "Run where the server runs, on Linux.",
      );
    }
  }

  create(name: string, sizeBytes: number): SystemRegion | undefined {
    const files = fileSystem();
    const path = `${FOLDER}/${name}`;
    let fd: number;
    try {
      // Accessible only to this user until `fchmod`.
      fd = files.openSync(path, "wx+", MODES[0]);
    } catch (error) {
      if ((error as { code?: unknown }).code === "EEXIST") return undefined;
      throw toRunError(name, sizeBytes, error);
    }
    this.fds.push(fd);
    this.paths.push(path);
    this.fdOf.set(name, fd);
    try {
      // `open` applies the umask; `fchmod` does not.
      files.fchmodSync(fd, MODES[this.width] as number);
    } catch (error) {
      throw toRunError(name, sizeBytes, error);
    }
    const write = (offset: number, bytes: Uint8Array): void => {
      try {
        writeAll(fd, offset, bytes);
      } catch (error) {
        throw toRunError(name, sizeBytes, error);
      }
    };
    // Allocate all pages now: if there is not enough, the server's first write would crash it.
    const zeros = new Uint8Array(Math.min(sizeBytes, CHUNK_BYTES));
    for (let offset = 0; offset < sizeBytes; offset += zeros.length)
      write(offset, zeros.subarray(0, Math.min(zeros.length, sizeBytes - offset)));
    return {
      kind: "system",
      name,
      key: `/${name}`,
      sizeBytes,
      write,
      read: (offset, size) => readAll(fd, offset, size),
    };
  }

  widenAccess({ name }: SharedRegion): boolean {
    const mode = MODES[this.width + 1];
    const fd = this.fdOf.get(name);
    if (mode === undefined || fd === undefined) return false;
    this.width++;
    fileSystem().fchmodSync(fd, mode);
    return true;
  }

  release(): void {
    const files = fileSystem();
    this.fdOf.clear();
    for (const path of this.paths.splice(0)) files.rmSync(path, { force: true });
    for (const fd of this.fds.splice(0)) files.closeSync(fd);
  }
}

function writeAll(fd: number, offset: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; )
    done += fileSystem().writeSync(fd, bytes, done, bytes.length - done, offset + done);
}

function readAll(fd: number, offset: number, sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  for (let done = 0; done < sizeBytes; ) {
    const size = fileSystem().readSync(fd, bytes, done, sizeBytes - done, offset + done);
    if (size === 0) throw new RunError("internal", "a shared memory region became shorter", "Report this as a bug.");
    done += size;
  }
  return bytes;
}

function toRunError(name: string, sizeBytes: number, error: unknown): RunError {
  return new RunError(
    "unsupported",
    `unable to allocate shared memory of ${sizeBytes} bytes for '${name}': ${messageOf(error)}`,
    `Is ${FOLDER} large enough, and may this user write there?`,
  );
}
