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
import { basename, dirname, join } from "node:path";
import type { SettingPath, Text } from "../plan/messages.ts";
import type { Plan } from "../plan/plan.ts";
import { describeWriteError, messageOf, RunError } from "../plan/problem.ts";
import { maskSecrets } from "../plan/secrets.ts";
import { countOf } from "../plan/units.ts";
import { fileSystem } from "../runtime/files.ts";
import { PIPE_BYTES } from "../runtime/stdio.ts";
import {
  findPlace,
  nameOfPart,
  type OutputPlace,
  outputFilesOf,
  statOf,
  systemError,
  toStream,
} from "./output-place.ts";
import type { Report } from "./report.ts";

/**
 * Writes all of Rampart's files for users. A regular file is written atomically: to a temporary file with a unique name, which is
 * then renamed. Any other path, such as a pipe or a terminal, is written directly. Secrets are masked.
 */

const MOST_NAMES = 5;
const COPY_BYTES = 256 * 1024;
const RETRY_MS = 5;

interface OutputOptions {
  /** Whether secrets are masked. False for files that a run reads again and sends. Default: true */
  readonly isMasked?: boolean;
  /** Whether to fail with `EEXIST` if the file exists. Default: false */
  readonly isNew?: boolean;
  /** Mode of a new file. Default: 0o666 minus the umask */
  readonly mode?: number;
}

/** A file that is written in parts. All methods throw system errors. */
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

  /** Appends text. Masks a secret only if it is within one text. After an error, `byteCount` includes the bytes that were written. */
  write(text: string): void {
    this.writeBytes(Buffer.from(this.isMasked ? maskSecrets(text) : text));
  }

  /** Appends bytes like {@link write}. Secrets in them must be masked. */
  writeBytes(bytes: Uint8Array): void {
    writeAll(this.fd as number, bytes, this.writtenBytes, (count) => {
      this.writtenBytes += count;
    });
  }

  /** Drops everything after the given number of bytes. */
  truncate(byteCount: number): void {
    ftruncateSync(this.fd as number, byteCount);
    this.writtenBytes = byteCount;
  }

  /** Renames the file into place. */
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
      // A file that is a mount point, for example in a container, cannot be replaced.
      if ((error as NodeJS.ErrnoException).code !== "EBUSY") throw error;
      this.fd = openSync(partPath, "r");
      this.copyTo({ kind: "stream", path: place.path, isRegular: true });
      this.discard();
    }
  }

  /** Deletes the partial file. Can be called several times, and after `commit`. */
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

/** Writes a whole file. @throws system errors; an existing file is then unchanged */
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

/** Removes a file of an earlier run, so that it is not mistaken for the report of a failed run. Removes only regular files. */
export function removeOutput(path: string): void {
  try {
    const place = findPlace(path);
    if (place.kind === "file" && place.mode !== undefined) rmSync(place.path, { force: true });
  } catch {
    // A file that cannot be removed does not exist, or cannot be written either.
  }
}

/** Links the file to its name, which fails if the name has been taken in the meantime. Without support for links, checks first. */
function placeNew(partPath: string, path: string): void {
  try {
    linkSync(partPath, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || isTaken(path)) throw systemError("EEXIST", "exists already", path);
    renameSync(partPath, path);
  }
}

/** Reports whether a path exists, including a dangling link. */
function isTaken(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

interface Part {
  readonly fd: number;
  readonly partPath: string;
}

/** Opens a temporary file next to a path; undefined if the folder accepts no new file, but the existing file can be written. */
function openBeside(path: string, mode: number): Part | undefined {
  try {
    return openPart(path, mode);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["EACCES", "EPERM", "EROFS"].includes(code) || statOf(path) === undefined) throw error;
    return undefined;
  }
}

/** Creates a new file. Fails if the name exists, including as a link. */
function openPart(path: string, mode: number): Part {
  for (let attempt = 1; ; attempt++) {
    const partPath = nameOfPart(path);
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

/** Returns the descriptor of this process for a path such as `/dev/fd/3`. Reopening the path would write the file from its start. */
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

/** Opens a file for direct writing. A pipe without a reader is an error instead of an endless wait. */
function openStream(path: string, isRegular: boolean): number {
  const { O_WRONLY, O_NONBLOCK, O_TRUNC, O_NOCTTY } = constants;
  try {
    return openSync(path, isRegular ? O_WRONLY | O_TRUNC : O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
    throw systemError("ENXIO", "is a pipe that no program reads", path);
  }
}

/** @param onWritten receives the number of bytes of each part, including parts before an error */
function writeAll(
  fd: number,
  bytes: Uint8Array,
  position: number | undefined,
  onWritten: (count: number) => void = () => {},
): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      const count =
        position === undefined
          ? writeSync(fd, bytes, done, Math.min(PIPE_BYTES, bytes.length - done), null)
          : writeSync(fd, bytes, done, bytes.length - done, position + done);
      done += count;
      onWritten(count);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      // The pipe is full.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/** Removes the files of an earlier run when the run starts, so that they are not mistaken for those of this run if it fails. */
export function createEarlierFiles(plan: Plan): Report {
  let isDone = false;
  const removeOnce = (): void => {
    if (!isDone) removeEarlierFiles(plan);
    isDone = true;
  };
  return { onLevelStart: removeOnce, finish: removeOnce };
}

/** Removes regular files at the paths of a plan's files. */
export function removeEarlierFiles(plan: Plan): void {
  for (const [, path] of outputFilesOf(plan)) removeOutput(path);
}

/**
 * Writes the file of a report.
 * @param at the setting that chooses the file, or its folder, which is then created if needed
 * @param isMasked whether secrets in the text are masked; false for a text without secrets
 * @throws RunError naming the file and the setting
 */
export function writeReport(path: string, text: string, at: SettingPath, isMasked = true): void {
  try {
    if (at.endsWith(".folder")) fileSystem().mkdirSync(dirname(path), { recursive: true });
    writeOutput(path, text, { isMasked });
  } catch (error) {
    throw notWritten(path, error, at);
  }
}

/** Errors after which more may be written once space is freed: a full disk, a quota, or the maximum file size. */
const FULL: Readonly<Record<string, string>> = {
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file is too long for the system",
};

/** Returns the error for a file that could not be written. Parameters are as in {@link writeReport}. */
export function notWritten(path: string, error: unknown, at: SettingPath): RunError {
  const full = whyFull(error);
  return new RunError("output", `${path} cannot be written: ${full ?? describeWriteError(error)}`, hintFor(at, full));
}

/** Returns the error for a file that ends before its last request. @param requestCount number of requests in the file */
export function cutOff(path: string, error: unknown, at: SettingPath, requestCount: number): RunError {
  const full = whyFull(error);
  const message = `${path} is cut off after ${countOf(requestCount, "request")}, and the later ones are lost: ${full ?? messageOf(error)}`;
  return new RunError("output", message, hintFor(at, full));
}

/** Describes a lack of space; undefined for other errors. */
function whyFull(error: unknown): string | undefined {
  return FULL[String((error as { readonly code?: unknown } | undefined)?.code)];
}

function hintFor(at: SettingPath, full: string | undefined): Text {
  if (full !== undefined) return { say: "free-space", at };
  return at.endsWith(".folder") ? { say: "other-folder", at } : { say: "other-file", at };
}
