/**
 * Returns `node:fs`, loaded on first use: importing it would add almost a millisecond to every start on Bun, which usually needs no file.
 */
export function fileSystem(): typeof import("node:fs") {
  return process.getBuiltinModule("node:fs");
}

/** Returns the maximum number of open files and sockets of this process; undefined when the system does not report it. */
export function openFileLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(fileSystem().readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
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
