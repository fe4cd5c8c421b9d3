import { runCommandLine } from "../../src/cli/commands.ts";

/** What a command line ended with. */
export interface ResultHere {
  readonly code: number;
  /** Standard output and standard error, in the order in which they were written. */
  readonly text: string;
}

/** Runs a command line of rampart in this process, with `folder` as its working directory. */
export async function runInFolder(folder: string, args: readonly string[]): Promise<ResultHere> {
  let text = "";
  const add = (more: string): void => {
    text += more;
  };
  const io = { out: add, err: add, onInterrupt: () => () => {}, loadApi: () => import("../../src/index.ts") };
  const before = process.cwd();
  process.chdir(folder);
  try {
    return { code: await runCommandLine("rampart", args, io), text };
  } finally {
    process.chdir(before);
  }
}
