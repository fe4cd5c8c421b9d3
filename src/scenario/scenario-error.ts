import { basename, dirname, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf, type Problem, problem, UserError } from "../plan/problem.ts";

/** Errors that a scenario's own code throws, with the place in the user's files. */

/** Where Rampart's own code lies when it runs from its sources. */
const OWN_FOLDER = dirname(dirname(fileURLToPath(import.meta.url))) + sep;
const HINT = "Correct the file.";

/** What a scenario that does not load gives the user. @param file as the user named it @param path the same as an absolute path */
export function toLoadError(error: unknown, file: string, path: string): UserError {
  // Bun gives several errors of one file at once, each with its place.
  const parts = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  return new UserError(parts.map((part) => toProblem(part, "does not load", file, path)));
}

/** What an error gives the user that the scenario's code throws later; undefined when none of its frames is in the scenario's folder. */
export function toLaterError(error: unknown, file: string, path: string): UserError | undefined {
  if (placeOf(error, path) === undefined) return undefined;
  return new UserError([toProblem(error, "throws while it runs", file, path)]);
}

function toProblem(error: unknown, what: string, file: string, path: string): Problem {
  const place = placeOf(error, path);
  const message = `${what}: ${messageOf(error)
    .replace(PLACE_IN_MESSAGE, "")
    .replace(/^SyntaxError: |\.+$/g, "")}`;
  if (place === undefined) return problem("exception", file, message, HINT);
  const shown = place.path === path ? file : basename(place.path);
  const column = place.column === undefined ? "" : `:${place.column}`;
  return problem("exception", `${shown}:${place.line}${column}`, message, HINT);
}

interface Place {
  readonly path: string;
  readonly line: number;
  /** From 1; undefined where the runtime does not say. */
  readonly column?: number | undefined;
}

interface WithPlace {
  readonly stack?: unknown;
  readonly position?: { readonly file?: string; readonly line?: number; readonly column?: number } | null;
}

/** A place in a stack's frame, or above the stack as Node draws those of syntax. */
const FRAME = /(?:^|[\s(])((?:file:\/\/)?\/[^\s()]+?):(\d+)(?::(\d+))?(?=[)\s]|$)/g;

/** Where only the message of a syntax error is known. */
const PLACE_IN_MESSAGE = / \(\/[^()]+:\d+\)$/;

/** The innermost place of an error in the folder of a scenario. */
function placeOf(error: unknown, path: string): Place | undefined {
  let stack: unknown;
  try {
    const { position, stack: text } = (error ?? {}) as WithPlace;
    if (position?.file !== undefined && position.line !== undefined)
      return { path: position.file, line: position.line, column: position.column };
    stack = typeof text === "string" ? `${messageOf(error)}\n${text}` : undefined;
  } catch {
    return undefined;
  }
  if (typeof stack !== "string") return undefined;
  const folder = dirname(path) + sep;
  for (const [, url = "", line, column] of stack.matchAll(FRAME)) {
    const found = url.startsWith("file://") ? toPath(url) : url;
    if (!found.startsWith(folder) || found.includes("node_modules") || found.startsWith(OWN_FOLDER)) continue;
    return { path: found, line: Number(line), column: column === undefined ? undefined : Number(column) };
  }
  return undefined;
}

function toPath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}
