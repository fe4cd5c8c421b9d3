/**
 * The file system for synchronous use, fetched at the first call: importing it would add most of a millisecond to every start on Bun, and
 * the common start needs no file.
 */
export function fileSystem(): typeof import("node:fs") {
  return process.getBuiltinModule("node:fs");
}

/** How many files and sockets this process may have open; undefined where the system does not say. */
export function openFileLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(fileSystem().readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** Whether this process can open no more files just now. */
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
