import { fileSystem } from "./files.ts";

/** A temporary file without a name, which is deleted with the object or the process. All methods throw the system's error. */
export class TemporaryFile {
  private readonly fd: number;
  private endBytes = 0;

  /** @param subject content, as part of the name that the file has for a moment */
  constructor(subject: string) {
    const { openSync, rmSync } = fileSystem();
    const { join } = process.getBuiltinModule("node:path");
    const path = join(temporaryFolder(), `rampart-${subject}-${process.pid}-${crypto.randomUUID()}`);
    this.fd = openSync(path, "wx+", 0o600);
    rmSync(path);
    closing.register(this, this.fd, this);
  }

  get length(): number {
    return this.endBytes;
  }

  /** Appends bytes. Returns their position. */
  append(bytes: Uint8Array): number {
    const position = this.endBytes;
    for (let at = 0; at < bytes.length; )
      at += fileSystem().writeSync(this.fd, bytes, at, bytes.length - at, position + at);
    this.endBytes += bytes.length;
    return position;
  }

  /** Fills all of `into` with the bytes starting at a position. */
  read(position: number, into: Uint8Array): void {
    for (let at = 0; at < into.length; ) {
      const count = fileSystem().readSync(this.fd, into, at, into.length - at, position + at);
      if (count === 0) throw new RangeError("the temporary file is too short");
      at += count;
    }
  }

  /** Closes the file. No call may follow. */
  close(): void {
    closing.unregister(this);
    fileSystem().closeSync(this.fd);
  }
}

export function temporaryFolder(): string {
  return process.getBuiltinModule("node:os").tmpdir();
}

const closing = new FinalizationRegistry<number>((fd) => fileSystem().closeSync(fd));
