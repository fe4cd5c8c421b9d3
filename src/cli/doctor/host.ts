import { availableParallelism, freemem, release, totalmem } from "node:os";
import type { Clock } from "../../runtime/clock.ts";
import { systemClock } from "../../runtime/clock.ts";
import { fileSystem } from "../../runtime/files.ts";

/** The machine as checks read it. Tests pass another one. */
export interface Host {
  /** Returns the text of a file; undefined if it cannot be read. */
  read(path: string): string | undefined;
  /** Returns the names in a folder; empty if it cannot be read. */
  list(folder: string): readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly kernel: string;
  readonly coreCount: number;
  readonly totalMemoryBytes: number;
  readonly freeMemoryBytes: number;
  readonly clock: Clock;
  /** Returns wall-clock milliseconds since the Unix epoch. */
  wallMs(): number;
}

/** Returns this machine. */
export function thisHost(): Host {
  const { readFileSync, readdirSync } = fileSystem();
  return {
    read: (path) => orUndefined(() => readFileSync(path, "utf8")),
    list: (folder) => orUndefined(() => readdirSync(folder)) ?? [],
    env: process.env,
    platform: process.platform,
    kernel: release(),
    coreCount: availableParallelism(),
    totalMemoryBytes: totalmem(),
    freeMemoryBytes: freemem(),
    clock: systemClock,
    wallMs: () => Date.now(),
  };
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Reads a file that contains one number. */
export function readNumber(host: Host, path: string): number | undefined {
  const text = host.read(path)?.trim();
  return text === undefined || text === "" || !Number.isFinite(Number(text)) ? undefined : Number(text);
}
