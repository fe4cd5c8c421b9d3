/**
 * The file system for synchronous use, fetched at the first call: importing it would add most of a millisecond to every start on Bun, and
 * the common start needs no file.
 */
export function fileSystem(): typeof import("node:fs") {
  return process.getBuiltinModule("node:fs");
}
