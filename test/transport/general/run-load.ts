import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../../../src/runtime/runtime.ts";

const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));

/** What a run printed, and how it ended. */
export interface LoadResult {
  readonly exitCode: number | null;
  readonly output: string;
}

/** Runs the executable's source under this very runtime. */
export function runLoad(args: readonly string[]): Promise<LoadResult> {
  const before = runtimeName === "deno" ? ["run", "-A", "--no-check", main] : [main];
  const child = spawn(process.execPath, [...before, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), 150_000);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => {
      output += piece.toString();
    });
  return new Promise((resolve) => {
    child.on("close", (exitCode) => {
      clearTimeout(timer);
      resolve({ exitCode, output });
    });
  });
}
