import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { rampartCommand } from "../cli/rampart-process.ts";

/** `rampart ARGS` as a process that is killed when it takes too much memory or time. */

/** What a process did. */
export interface BoundedResult {
  /** Null when it was killed. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Peak of its memory; 0 where the system does not say. */
  readonly peakMiB: number;
}

/** Bounds of a process. */
export interface Bounds {
  /** Default: 700. A process that only starts takes 100 to 200. */
  readonly mostMiB?: number;
  /** Default: 60,000. Far above what any of these inputs needs on a busy machine. */
  readonly limitMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Path of what it reads from standard input; default: nothing. */
  readonly stdin?: string;
}

/** Peak memory of a living process from the system, in MiB; 0 without /proc. */
function peakMiB(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Runs a command line to its end, or to its bounds. */
export function runBounded(args: readonly string[], bounds: Bounds = {}): Promise<BoundedResult> {
  const { mostMiB = 700, limitMs = 60_000, env, stdin } = bounds;
  const command = [...rampartCommand(), ...args];
  const [program = "", ...rest] =
    stdin === undefined ? command : ["sh", "-c", `exec "$0" "$@" < "$SOURCE"`, ...command];
  const child = spawn(program, rest, {
    env: { ...process.env, NO_COLOR: "1", ...env, ...(stdin === undefined ? {} : { SOURCE: stdin }) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let peak = 0;
  const texts = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    texts.out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    texts.err += chunk.toString();
  });
  const startMs = Date.now();
  const timer = setInterval(() => {
    peak = Math.max(peak, peakMiB(child.pid));
    if (peak > mostMiB || Date.now() - startMs > limitMs) child.kill("SIGKILL");
  }, 10);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      clearInterval(timer);
      resolve({ code, ...texts, peakMiB: peak });
    });
  });
}
