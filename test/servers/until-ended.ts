import { readFileSync } from "node:fs";

/** Resolves when a process has ended: it is gone, or a zombie that its parent has not looked at. */
export async function untilEnded(pid: number): Promise<void> {
  const isAlive = (): boolean => {
    try {
      process.kill(pid, 0);
      return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return false;
    }
  };
  while (isAlive()) await new Promise((resolve) => setTimeout(resolve, 5));
}
