import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join, resolve } from "node:path";

/**
 * Returns `node:fs`, loaded on first use: importing it would add almost a millisecond to every start on Bun, which usually needs no file.
 */
export function fileSystem(): typeof import("node:fs") {
  return process.getBuiltinModule("node:fs");
}

/** Local copies of the files of another host. */
export interface FileMirror {
  /** Folder of the files, each under its absolute path on the other host. */
  readonly root: string;
  /** Base folder of relative paths on the other host. */
  readonly folder: string;
  /** Cache of tokenizers on the other host. */
  readonly hubCache: string;
}

let mirror: FileMirror | undefined;
/** Paths of the files that were opened, if they are being recorded. */
let opened: Set<string> | undefined;

/** Returns the copies of another host's files that this thread uses; undefined: it uses the files of its own host. */
export function fileMirror(): FileMirror | undefined {
  return mirror;
}

/** Makes this thread, and threads that it starts, read the copies of another host's files where they exist. */
export function useFileMirror(files: FileMirror | undefined): void {
  mirror = files;
}

/** Returns the place of a file or folder that the user names: its path, or the local copy of another host's file. */
export function locate(path: string): string {
  if (mirror === undefined) return path;
  const there = join(mirror.root, resolve(mirror.folder, path));
  return fileSystem().existsSync(there) ? there : path;
}

/**
 * Starts recording the files that this thread opens with the functions below. @returns a function that stops recording and returns their
 * absolute paths
 */
export function noteOpenedFiles(): () => string[] {
  const paths = new Set<string>();
  opened = paths;
  return () => {
    if (opened === paths) opened = undefined;
    return [...paths];
  };
}

/** Whether this process currently cannot open another file. */
export function isOutOfFiles(): boolean {
  const { closeSync, openSync } = fileSystem();
  try {
    closeSync(openSync("/dev/null", "r"));
    return false;
  } catch (error) {
    const { code } = error as { code?: string };
    return code === "EMFILE" || code === "ENFILE";
  }
}

/**
 * Default maximum size of a file that is read as a whole: 256 MiB. All files that a user names are read with the functions below, so
 * that no file can fill the memory: they reject devices, and files above a limit.
 */
export const MOST_FILE_BYTES = 256 * 1024 * 1024;
/**
 * Maximum size of a file whose bytes are sent unchanged, such as a body or a raw tensor: 1 GiB. A pipe's limit is {@link MOST_FILE_BYTES}.
 */
export const MOST_BODY_BYTES = 1024 * 1024 * 1024;
/** Maximum size of settings: scenarios, configurations, templates, `.proto` files, certificates and keys: 16 MiB. */
export const MOST_SETTINGS_BYTES = 16 * 1024 * 1024;

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads a whole file, or a pipe of the shell.
 * @param file path or file descriptor
 * @param mostBytes default: {@link MOST_FILE_BYTES}
 * @throws Error for a device (`it is a device, not a file`), a named pipe, or a longer file; otherwise the system's error
 */
export function readFileBytes(file: string | number, mostBytes = MOST_FILE_BYTES): Buffer {
  const { closeSync, readSync } = fileSystem();
  const fd = typeof file === "number" ? file : openFile(file);
  try {
    const content = new Content(fd, mostBytes);
    while (content.add(readSync(fd, content.space(), 0, content.space().length, null)));
    return content.finish();
  } finally {
    if (typeof file !== "number") closeSync(fd);
  }
}

/** Reads a whole file as UTF-8 without a byte order mark. Otherwise like {@link readFileBytes}. */
export function readFileText(file: string | number, mostBytes?: number): string {
  return toText(readFileBytes(file, mostBytes));
}

/** Like {@link readFileBytes}, without blocking the thread: a pipe may have nothing to read for a long time. */
export async function loadFileBytes(path: string, mostBytes = MOST_FILE_BYTES): Promise<Buffer> {
  const handle = await openHandle(path);
  try {
    const content = new Content(handle.fd, mostBytes);
    while (content.add((await handle.read(content.space(), 0, content.space().length, null)).bytesRead));
    return content.finish();
  } finally {
    await handle.close();
  }
}

/** Like {@link readFileText}, without blocking the thread. */
export async function loadFileText(path: string, mostBytes?: number): Promise<string> {
  return toText(await loadFileBytes(path, mostBytes));
}

/** Opens a file or a pipe of the shell to read it in pieces. @returns the file descriptor @throws Error for a device or a named pipe */
export function openFile(path: string): number {
  refuseDevice(path);
  refuseNamedPipe(path);
  opened?.add(resolve(path));
  return fileSystem().openSync(locate(path), "r");
}

/** Like {@link openFile}, without blocking the thread. */
export async function openHandle(path: string): Promise<FileHandle> {
  refuseDevice(path);
  opened?.add(resolve(path));
  return fileSystem().promises.open(locate(path), "r");
}

/**
 * Rejects a device before it is opened, because opening it may have effects. @throws Error @param path a path that cannot be
 * examined is accepted
 */
export function refuseDevice(path: string): void {
  const found = findFile(path);
  if (found?.isCharacterDevice() || found?.isBlockDevice()) throw new Error("it is a device, not a file");
}

/** Paths of pipes that this process has already opened: `/dev/stdin`, `/dev/fd/63` of a shell's `<(…)`. */
const OPEN_PIPES = /^\/(?:dev\/(?:stdin$|fd\/)|proc\/)/;

/**
 * Rejects a named pipe before it is opened, because opening it blocks the thread until the pipe has a writer, possibly
 * forever. @throws Error
 */
function refuseNamedPipe(path: string): void {
  if (findFile(path)?.isFIFO() && !OPEN_PIPES.test(path))
    throw new Error("it is a named pipe, not a file; standard input is /dev/stdin");
}

export function isFile(path: string): boolean {
  return findFile(path)?.isFile() === true;
}

/** Reports whether a path is a folder. */
export function isDirectory(path: string): boolean {
  return findFile(path)?.isDirectory() === true;
}

/** Examines a file. Returns undefined if that is not possible; opening the file reports the reason. */
export function findFile(path: string): Stats | undefined {
  try {
    return fileSystem().statSync(locate(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The refusal of a file above a limit in bytes, which is a whole number of MiB. Its code is `EFBIG`. */
export function tooLarge(mostBytes: number): Error {
  const mebibytes = mostBytes / (1024 * 1024);
  const message = `it is larger than the maximum of ${mebibytes < 1024 ? `${mebibytes} MiB` : `${mebibytes / 1024} GiB`}`;
  return Object.assign(new Error(message), { code: "EFBIG" });
}

/** Collects the content of a file: in one buffer if the size of a regular file is known, otherwise in pieces. */
class Content {
  private readonly mostBytes: number;
  private readonly pieces: Buffer[] = [];
  private byteCount = 0;
  private piece: Buffer;
  private used = 0;

  constructor(fd: number, mostBytes: number) {
    const found = fileSystem().fstatSync(fd);
    const size = found.isFile() ? found.size : 0;
    this.mostBytes = found.isFile() ? mostBytes : Math.min(mostBytes, MOST_FILE_BYTES);
    if (size > this.mostBytes) throw tooLarge(mostBytes);
    // One more byte, so that the read at the end has space. Files of /proc have no size.
    this.piece = Buffer.allocUnsafeSlow(size === 0 ? CHUNK_BYTES : size + 1);
  }

  /** Space for the next read. */
  space(): Buffer {
    if (this.used === this.piece.length) {
      this.pieces.push(this.piece);
      this.piece = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      this.used = 0;
    }
    return this.piece.subarray(this.used);
  }

  /** Adds the bytes that a read put into the space. Returns false at the end. @throws Error if there are too many */
  add(count: number): boolean {
    this.used += count;
    this.byteCount += count;
    if (this.byteCount > this.mostBytes) throw tooLarge(this.mostBytes);
    return count > 0;
  }

  finish(): Buffer {
    const last = this.piece.subarray(0, this.used);
    return this.pieces.length === 0 ? last : Buffer.concat([...this.pieces, last]);
  }
}

const decoder = new TextDecoder();

function toText(bytes: Buffer): string {
  return decoder.decode(bytes);
}
