import { writeStderr } from "../stdio.ts";

/** Ways to end a process besides `process.exit`. Both skip the event `exit`. */
interface Exits {
  readonly Deno?: { exit(code?: number): never };
}

/** Whether the process ends on purpose, or a guard has reported its end. */
let isEnding = false;

/** Ends the process, despite any guards. For the program itself. */
export function endProcess(code: number): never {
  isEnding = true;
  process.exit(code);
}

/**
 * Until the returned function is called, an end of the process that the program did not request, such as `process.exit(0)` or
 * `Deno.exit(0)` in a scenario, is reported on stderr and gets another exit code. An event loop without work counts as such an end too.
 * @param describe returns the line for stderr, without a line break. @param exitCode replaces the given exit code
 */
export function guardExit(describe: (givenCode: number) => string, exitCode: number): () => void {
  const onExit = (givenCode: number): void => {
    if (isEnding) return;
    isEnding = true;
    writeStderr(`${describe(givenCode)}\n`);
    process.exitCode = exitCode;
  };
  process.on("exit", onExit);
  const restore = [redirectExit(process as { reallyExit?(code?: number): never }, "reallyExit")];
  const { Deno } = globalThis as Exits;
  if (Deno !== undefined) restore.push(redirectExit(Deno, "exit"));
  return () => {
    process.off("exit", onExit);
    for (const undo of restore) undo();
  };
}

/**
 * Makes another way to end the process emit `exit` like `process.exit`, which itself uses it. Returns a function that undoes the
 * change.
 */
function redirectExit<Name extends string>(owner: { [K in Name]?: (code?: number) => never }, name: Name): () => void {
  const exit = owner[name];
  if (exit === undefined) return () => {};
  const redirected = (code?: number): never => (isEnding ? exit.call(owner, code) : process.exit(code));
  owner[name] = redirected;
  return () => {
    if (owner[name] === redirected) owner[name] = exit;
  };
}
