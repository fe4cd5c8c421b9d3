import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Reads the line of JSON in which a server prints its ports when it is ready. @throws when it ends before, or is killed as too late */
export async function readPorts<T>(child: ChildProcess, name: string, timeoutMs: number): Promise<T> {
  if (!child.stdout) throw new Error(`${name} has no standard output`);
  const lines = createInterface({ input: child.stdout });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  try {
    const [line] = await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(([code, signal]) => {
        throw new Error(`${name} ended before it was ready (${code ?? signal})`);
      }),
    ]);
    return JSON.parse(String(line)) as T;
  } finally {
    clearTimeout(timer);
  }
}
