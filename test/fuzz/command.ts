import assert from "node:assert/strict";
import { runCommandLine } from "../../src/cli/commands.ts";
import { captureIo } from "../cli/captured-io.ts";

/** Command lines within the test's process, and what none of them may ever end with. */

/** What a command line did; `thrown` is what would be an internal error. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly thrown: string | undefined;
}

// A name made up for a tokenizer shall not be looked for in the network.
process.env["HF_HUB_OFFLINE"] = "1";

/** Exit codes that the commands document, apart from internal errors and interruptions. */
export const CODES = { perfAnalyzer: [0, 2, 99], genaiPerf: [0, 1, 2], own: [0, 64, 65, 66, 69] } as const;

/** Far beyond what any of these inputs needs on a busy machine. */
const LIMIT_MS = 120_000;

/** Runs `rampart ARGS`, which must end. */
export async function runDoor(args: readonly string[]): Promise<Ended> {
  const captured = captureIo();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`does not end: ${args.join(" ")}`)), LIMIT_MS);
  });
  try {
    const code = await Promise.race([runCommandLine("rampart", args, captured.io), late]);
    return { code, out: captured.out, err: captured.err, thrown: undefined };
  } catch (error) {
    const thrown = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { code: -1, out: captured.out, err: captured.err, thrown };
  } finally {
    clearTimeout(timer);
  }
}

/** What only a program's own mistakes print. */
const INTERNAL =
  /internal error|^\s+at \S+ \(|TypeError|RangeError|ReferenceError|\[object Object\]|is not a function|undefined is not|Cannot read propert|Maximum call stack/m;
/** An error that quotes a whole file helps nobody. */
const MAX_ERROR_CHARACTERS = 20_000;

/** Fails unless the command ended as its documentation says: a known exit code, and a clear error where it is not 0. */
export function assertEndsWell({ code, out, err, thrown }: Ended, codes: readonly number[], input: string): void {
  const shown = `${input.slice(0, 500)}\n${(thrown ?? err).slice(0, 2000)}`;
  assert.equal(thrown, undefined, shown);
  assert.ok(codes.includes(code), `exit code ${code}: ${shown}`);
  assert.doesNotMatch(err + out, INTERNAL, shown);
  assert.ok(err.length < MAX_ERROR_CHARACTERS, `${err.length} characters of errors: ${shown}`);
  if (code !== 0) assert.ok(err.trim().length > 8, `an exit code of ${code} without a word: ${shown}`);
}
