import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Looks at the memory of programs. Needs Linux. */

const KIB_PER_MB = 1024;

/** A moment of a program, and its resident memory then. */
export type MemorySample = readonly [sec: number, mb: number];

/** What was seen of a program until it ended. */
export interface Watched {
  /** Of its process and its descendants. */
  readonly samples: readonly MemorySample[];
  readonly peakMb: number;
  /** Undefined: it did not end by itself in its time, and was ended. */
  readonly exitCode: number | null;
}

/**
 * Starts a program and looks at its memory until it ends.
 * @param times time between two looks, and the time after which it is ended, in seconds
 */
export async function watchMemory(
  [program = "", ...args]: readonly string[],
  { everySec, limitSec }: { readonly everySec: number; readonly limitSec: number },
): Promise<Watched> {
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  const isOver = once(child, "exit").then(() => true);
  const samples: MemorySample[] = [];
  let peakMb = 0;
  const startMs = performance.now();
  const passedSec = (): number => (performance.now() - startMs) / 1000;
  while (passedSec() < limitSec && !(await Promise.race([isOver, wait(everySec * 1000, false)]))) {
    const { mb, highestMb } = readMemory(child.pid ?? 0);
    peakMb = Math.max(peakMb, highestMb);
    if (mb > 0) samples.push([passedSec(), mb]);
  }
  const { exitCode } = child;
  child.kill("SIGKILL");
  await isOver;
  return { samples, peakMb, exitCode };
}

/** The slope of the line that fits best (least squares), in MB per hour, and twice its standard error. */
export function slopeMbPerHour(samples: readonly MemorySample[]): { readonly slope: number; readonly error: number } {
  const count = samples.length;
  const meanOf = (pick: (sample: MemorySample) => number): number =>
    samples.reduce((sum, sample) => sum + pick(sample), 0) / count;
  const [meanSec, meanMb] = [meanOf(([sec]) => sec), meanOf(([, mb]) => mb)];
  const spread = meanOf(([sec]) => (sec - meanSec) ** 2);
  const perSec = meanOf(([sec, mb]) => (sec - meanSec) * (mb - meanMb)) / spread;
  const rest = meanOf(([sec, mb]) => (mb - meanMb - perSec * (sec - meanSec)) ** 2);
  return { slope: perSec * 3600, error: 2 * Math.sqrt(rest / (count - 2) / spread) * 3600 };
}

/** The least of each span of time: what is there when garbage has just been collected. */
export function leastOf(samples: readonly MemorySample[], spanSec: number): MemorySample[] {
  const spans = Map.groupBy(samples, ([sec]) => Math.floor(sec / spanSec));
  return [...spans.values()].map((span) => span.reduce((least, one) => (one[1] < least[1] ? one : least)));
}

/** Reads the resident memory of a process and its descendants, now and the most until now; 0 once it is gone. */
export function readMemory(pid: number): { readonly mb: number; readonly highestMb: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const read = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) / KIB_PER_MB;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    const own = { mb: read("VmRSS"), highestMb: read("VmHWM") };
    return children
      .map((child) => readMemory(Number(child)))
      .reduce((sum, one) => ({ mb: sum.mb + one.mb, highestMb: sum.highestMb + one.highestMb }), own);
  } catch {
    return { mb: 0, highestMb: 0 };
  }
}
