import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** The compiler. Several threads each check what they share, so that one takes half of their CPU time; tests beside each other need the cores. */
export const TSC = [join(import.meta.dirname, "..", "node_modules", ".bin", "tsc"), "--singleThreaded"] as const;

/** Compiles a project without writing anything. Returns what the compiler prints: nothing when all is right. @param project a folder or its settings */
export function typeCheck(project: string, ...options: readonly string[]): string {
  const [program, ...args] = TSC;
  const { status, stdout, stderr, error } = spawnSync(program, [...args, "-p", project, ...options], {
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  const printed = stdout + stderr;
  return status === 0 || printed !== "" ? printed : `ended with exit code ${status}`;
}
