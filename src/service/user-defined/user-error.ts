import { messageOf } from "../../plan/problem.ts";

/** Where in a file: of the first frame of a stack that has one. */
const FRAME = /(?:\(|@|at |\/)(?:async )?(?:file:\/\/)?([^\s()]+\.[cm]?[jt]sx?)(?:\?[^\s():]*)?:(\d+)(?::\d+)?\)?$/m;

/** Describes an error of a scenario's function: its message and the place in the file, if the runtime reports it. */
export function describeUserError(error: unknown): string {
  const [, file = "", line = ""] = FRAME.exec(stackOf(error)) ?? [];
  const place = file === "" ? "" : ` (${file.slice(file.lastIndexOf("/") + 1)}:${line})`;
  return `${messageOf(error)}${place}`;
}

/** A user's error object can have anything as its stack, also a getter that throws. */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.stack) : "";
  } catch {
    return "";
  }
}
