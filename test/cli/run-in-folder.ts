import { runCommandLine } from "../../src/cli/commands.ts";

/** What a command line ended with. */
export interface ResultHere {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Standard output and standard error, in the order in which they were written. */
  readonly text: string;
}

/** Runs a command line of rampart in this process, with `folder` as its working directory. */
export async function runInFolder(folder: string, args: readonly string[]): Promise<ResultHere> {
  const texts = { out: "", err: "", text: "" };
  const addTo =
    (name: "out" | "err") =>
    (more: string): void => {
      texts[name] += more;
      texts.text += more;
    };
  const io = {
    ...{ out: addTo("out"), err: addTo("err"), onInterrupt: () => () => {} },
    loadApi: () => import("../../src/index.ts"),
  };
  const before = process.cwd();
  process.chdir(folder);
  try {
    return { code: await runCommandLine("rampart", args, io), ...texts };
  } finally {
    process.chdir(before);
  }
}
