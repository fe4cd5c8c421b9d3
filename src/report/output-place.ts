import type { Stats } from "node:fs";
import type { SettingPath, Text } from "../plan/messages.ts";
import type { OutputFilesPlan } from "../plan/output-files-plan.ts";
import type { Plan } from "../plan/plan.ts";
import { describeWriteError } from "../plan/problem.ts";
import { fileSystem } from "../runtime/files.ts";

/** Resolves output paths, and checks whether an existing file can be replaced. Loads its modules on first use. */

/** Maximum number of links to follow, to detect cycles. */
const MOST_LINKS = 40;

/** The place to which text is finally written. */
export type OutputPlace =
  /** Renamed into place; `mode` is that of the replaced file. */
  | { readonly kind: "file"; readonly path: string; readonly mode: number | undefined }
  /** Written directly: a pipe, a terminal, a device, or a file in a folder that does not allow renaming. */
  | { readonly kind: "stream"; readonly path: string; readonly isRegular: boolean };

/** Returns the files that a plan writes, each with its setting name for messages. */
export function outputFilesOf({ outputs }: Plan): (readonly [name: Text, path: string])[] {
  const files = Object.entries(outputs.files) as [keyof OutputFilesPlan, string][];
  return files.map(([key, path]) => [{ setting: `outputs.files.${key}` as SettingPath }, path] as const);
}

/** Explains why a path cannot be written; undefined when it can. Leaves everything as it is. */
export function whyNotWritable(path: string): string | undefined {
  try {
    const place = findPlace(path);
    if (place.kind === "file" && place.mode === undefined) tryFolderOf(place.path);
    else fileSystem().accessSync(place.path, fileSystem().constants.W_OK);
    return undefined;
  } catch (error) {
    return describeWriteError(error);
  }
}

/** Creates and removes a file beside a new one: permissions do not say that a file system such as /proc takes none, or is full. */
function tryFolderOf(path: string): void {
  const { accessSync, closeSync, constants, openSync, rmSync, statSync } = fileSystem();
  const folder = process.getBuiltinModule("node:path").dirname(path);
  accessSync(folder, constants.W_OK);
  if (!statSync(folder).isDirectory()) throw systemError("ENOTDIR", "is not a folder", folder);
  const part = nameOfPart(path);
  try {
    closeSync(openSync(part, "wx"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw systemError("EPERM", "takes no files", folder);
  }
  rmSync(part);
}

/** Returns an unused name for a file that is written beside its place. */
export function nameOfPart(path: string): string {
  return `${path}.${process.pid}.${process.getBuiltinModule("node:crypto").randomBytes(4).toString("hex")}.part`;
}

/** Reports whether two paths are, or would become, the same file. */
export function isSameFile(a: string, b: string): boolean {
  const one = statOf(a);
  const other = statOf(b);
  if (one !== undefined && other !== undefined) return one.ino === other.ino && one.dev === other.dev;
  if (one !== undefined || other !== undefined) return false;
  return followLinks(a) === followLinks(b);
}

/** @throws for paths that can never be written: a folder, a disk, a missing folder, a cycle of links */
export function findPlace(path: string): OutputPlace {
  const stats = statOf(path);
  const isOpenFile = /^\/(?:proc|dev\/fd)\/|^\/dev\/std(?:in|out|err)$/.test(path);
  // A descriptor inherited from another process, which may be a socket.
  if (isOpenFile && stats !== undefined) return { kind: "stream", path, isRegular: false };
  if (stats?.isDirectory() === true) throw systemError("EISDIR", "is a folder", path);
  if (stats?.isBlockDevice() === true) throw systemError("EINVAL", "is a disk", path);
  if (stats?.isSocket() === true) throw systemError("EINVAL", "is a socket", path);
  if (stats !== undefined && !stats.isFile()) return { kind: "stream", path, isRegular: false };
  const real = followLinks(path);
  if (stats === undefined) return { kind: "file", path: real, mode: undefined };
  // Do not replace a file that is not writable.
  fileSystem().accessSync(real, fileSystem().constants.W_OK);
  return { kind: "file", path: real, mode: stats.mode & 0o7777 };
}

/** Returns the place for direct writing. */
export function toStream({ path }: OutputPlace): OutputPlace {
  return { kind: "stream", path, isRegular: statOf(path)?.isFile() === true };
}

/** Returns the file status; undefined if the path does not exist. */
export function statOf(path: string): Stats | undefined {
  try {
    return fileSystem().statSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Resolves a path whether or not it exists. A link is kept, and its target is written. */
function followLinks(path: string): string {
  const { basename, dirname, join, resolve } = process.getBuiltinModule("node:path");
  let at = resolve(path);
  for (let count = 0; count < MOST_LINKS; count++) {
    const folder = realOr(dirname(at));
    at = join(folder, basename(at));
    const link = linkOf(at);
    if (link === undefined) return at;
    at = resolve(folder, link);
  }
  throw systemError("ELOOP", "is a circular link", path);
}

function realOr(folder: string): string {
  try {
    return fileSystem().realpathSync(folder);
  } catch {
    return folder;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return fileSystem().readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Creates an error in the form of a system error. */
export function systemError(code: string, message: string, path: string): Error {
  return Object.assign(new Error(`'${path}' ${message}`), { code });
}
