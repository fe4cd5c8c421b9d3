import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { maskSecrets } from "../plan/secrets.ts";
import { findPlace, type OutputPlace, statOf, systemError, toStream } from "./output-place.ts";

/**
 * Every file that Rampart writes for a user. A regular file appears whole or not at all: it is written under a name of its own, which
 * cannot be taken, and renamed. Anything else with a path, such as a pipe or a terminal, is written to and stays what it is.
 * Secrets are masked.
 */

const MOST_NAMES = 5;
const COPY_BYTES = 256 * 1024;
const RETRY_MS = 5;

/** How a file is written. */
export interface OutputOptions {
  /** False for what a run reads again and sends. Default true. */
  readonly isMasked?: boolean;
  /** True leaves alone what is there, and fails with `EEXIST`. Default false. */
  readonly isNew?: boolean;
  /** Of a file that was not there. Default 0o666 without the umask. */
  readonly mode?: number;
}

/** A file that is written piece by piece. All methods throw the system's errors. */
export class OutputFile {
  private readonly place: OutputPlace;
  private readonly isMasked: boolean;
  private readonly isNew: boolean;
  private readonly partPath: string;
  private fd: number | undefined;
  private writtenBytes = 0;

  constructor(path: string, { isMasked = true, isNew = false, mode = 0o666 }: OutputOptions = {}) {
    this.isMasked = isMasked;
    this.isNew = isNew;
    if (isNew && isTaken(path)) throw systemError("EEXIST", "exists already", path);
    const place = findPlace(path);
    const part = place.kind === "file" ? openBeside(place.path, mode) : undefined;
    this.place = part === undefined ? toStream(place) : place;
    const { fd, partPath } = part ?? openPart(join(tmpdir(), `rampart-${basename(path)}`), 0o600);
    this.fd = fd;
    this.partPath = partPath;
  }

  /** Bytes written so far. */
  get byteCount(): number {
    return this.writtenBytes;
  }

  /** Appends text. A secret is found where it lies within one text. */
  write(text: string): void {
    const bytes = Buffer.from(this.isMasked ? maskSecrets(text) : text);
    writeAll(this.fd as number, bytes, this.writtenBytes);
    this.writtenBytes += bytes.length;
  }

  /** Forgets everything after the first bytes. */
  truncate(byteCount: number): void {
    ftruncateSync(this.fd as number, byteCount);
    this.writtenBytes = byteCount;
  }

  /** Puts the file in its place. */
  commit(): void {
    const { place, partPath } = this;
    const fd = this.fd as number;
    if (place.kind === "stream") {
      this.copyTo(place);
      this.discard();
      return;
    }
    if (place.mode !== undefined) fchmodSync(fd, place.mode);
    this.close();
    try {
      if (this.isNew) placeNew(partPath, place.path);
      else renameSync(partPath, place.path);
      this.discard();
    } catch (error) {
      // A file that is mounted by itself, as into a container, cannot be replaced.
      if ((error as NodeJS.ErrnoException).code !== "EBUSY") throw error;
      this.fd = openSync(partPath, "r");
      this.copyTo({ kind: "stream", path: place.path, isRegular: true });
      this.discard();
    }
  }

  /** Leaves nothing of it. May be called again, and after `commit`. */
  discard(): void {
    this.close();
    rmSync(this.partPath, { force: true });
  }

  private close(): void {
    const { fd } = this;
    this.fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }

  private copyTo(place: OutputPlace & { readonly kind: "stream" }): void {
    const { fd: source } = this;
    writeToStream(place, (write) => {
      const piece = Buffer.alloc(COPY_BYTES);
      for (let at = 0; ; ) {
        const count = readSync(source as number, piece, 0, piece.length, at);
        if (count === 0) return;
        write(piece.subarray(0, count));
        at += count;
      }
    });
  }
}

/** Writes a whole file. @throws the system's errors; a file that was there is as it was then */
export function writeOutput(path: string, text: string, options: OutputOptions = {}): void {
  const file = new OutputFile(path, options);
  try {
    file.write(text);
    file.commit();
  } catch (error) {
    file.discard();
    throw error;
  }
}

/** Removes what an earlier run wrote, so that it does not pass for the report of one that failed. Only regular files are removed. */
export function removeOutput(path: string): void {
  try {
    const place = findPlace(path);
    if (place.kind === "file" && place.mode !== undefined) rmSync(place.path, { force: true });
  } catch {
    // What cannot be removed is not there, or cannot be written either.
  }
}

/** A link takes no name that somebody has taken meanwhile; where there are no links, a look has to do. */
function placeNew(partPath: string, path: string): void {
  try {
    linkSync(partPath, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || isTaken(path)) throw systemError("EEXIST", "exists already", path);
    renameSync(partPath, path);
  }
}

/** Whether anything has the name, be it a link to nothing. */
function isTaken(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

interface Part {
  readonly fd: number;
  readonly partPath: string;
}

/** Undefined where the folder takes no new file and the one that is there can be written. */
function openBeside(path: string, mode: number): Part | undefined {
  try {
    return openPart(path, mode);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["EACCES", "EPERM", "EROFS"].includes(code) || statOf(path) === undefined) throw error;
    return undefined;
  }
}

/** Creates a file that was not there: a name that somebody else has taken, be it with a link, is not used. */
function openPart(path: string, mode: number): Part {
  for (let attempt = 1; ; attempt++) {
    const partPath = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.part`;
    try {
      return { fd: openSync(partPath, "wx+", mode), partPath };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || attempt === MOST_NAMES) throw error;
    }
  }
}

function writeToStream(
  { path, isRegular }: OutputPlace & { readonly kind: "stream" },
  body: (write: (bytes: Uint8Array) => void) => void,
): void {
  const open = openFdOf(path);
  const fd = open ?? openStream(path, isRegular);
  try {
    body((bytes) => writeAll(fd, bytes, undefined));
  } finally {
    if (open === undefined) closeSync(fd);
  }
}

/** The descriptor of this process that a path such as `/dev/fd/3` means; opened anew, a file would be written from its start. */
function openFdOf(path: string): number | undefined {
  const name = /^\/dev\/std(out|err)$/.exec(path)?.[1];
  if (name !== undefined) return name === "out" ? 1 : 2;
  const digits = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1];
  if (digits === undefined) return undefined;
  try {
    fstatSync(Number(digits));
    return Number(digits);
  } catch {
    return undefined;
  }
}

/** A pipe without a reader is an error, not an endless wait. */
function openStream(path: string, isRegular: boolean): number {
  const { O_WRONLY, O_NONBLOCK, O_TRUNC, O_NOCTTY } = constants;
  try {
    return openSync(path, isRegular ? O_WRONLY | O_TRUNC : O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
    throw systemError("ENXIO", "is a pipe that no program reads", path);
  }
}

function writeAll(fd: number, bytes: Uint8Array, position: number | undefined): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done, bytes.length - done, position === undefined ? null : position + done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      // The pipe's reader is slower.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
