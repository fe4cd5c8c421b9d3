import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Stub } from "../servers/stub.ts";
import { userFlags, type Way } from "./clients.ts";

const GROWTH_LIMIT_MB = 30;
const SETTLE_MS = 10_000;
const SAMPLE_MS = 500;

/**
 * Runs the executable at full speed without an export, first over HTTP and then over gRPC, and compares its memory after the first 10 s
 * with the highest later. Gives the exit code: 1 when it grew by 30 MB or more.
 */
export async function measureMemory(executable: string, stub: Stub, durationS: number): Promise<number> {
  let exitCode = 0;
  for (const way of ["http", "grpc"] as const) {
    await stub.reset();
    const memory = await sampleMemory(executable, way, stub, durationS);
    const counter = await stub.counter();
    const growthMb = memory.highestMb - memory.settledMb;
    const passed = growthMb < GROWTH_LIMIT_MB && memory.samples > 1;
    if (!passed) exitCode = 1;
    const course = `${memory.settledMb.toFixed(1)} MB after 10 s, at most ${memory.highestMb.toFixed(1)} MB later, ${memory.lastMb.toFixed(1)} MB at the end`;
    const verdict = `growth ${growthMb.toFixed(1)} MB of ${GROWTH_LIMIT_MB} allowed: ${passed ? "PASS" : "FAIL"}`;
    console.log(`memory, ${way}, ${durationS} s, ${counter[way].toLocaleString("en")} requests: ${course}; ${verdict}`);
  }
  return exitCode;
}

type Course = { settledMb: number; highestMb: number; lastMb: number; samples: number };

async function sampleMemory(executable: string, way: Way, stub: Stub, durationS: number): Promise<Course> {
  // Windows of 6 s that never count as stable, more of them than the time allows.
  const flags = [
    ...userFlags({ way, concurrency: 16 }, stub, { windowMs: 5000, durationS }),
    "-s",
    "0.0001",
    "-r",
    "1000",
  ];
  const child = spawn(executable, ["perf_analyzer", ...flags], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  const course: Course = { settledMb: Number.NaN, highestMb: 0, lastMb: 0, samples: 0 };
  const startMs = performance.now();
  while (performance.now() - startMs < durationS * 1000 && child.exitCode === null) {
    await wait(SAMPLE_MS);
    const rssMb = readTreeMb(child.pid ?? 0);
    if (performance.now() - startMs < SETTLE_MS || rssMb === 0) continue;
    if (Number.isNaN(course.settledMb)) course.settledMb = rssMb;
    course.highestMb = Math.max(course.highestMb, rssMb);
    course.lastMb = rssMb;
    course.samples++;
  }
  child.kill("SIGKILL");
  await ended;
  return course;
}

/** Resident memory of a process and its descendants, MB; 0 once it is gone. */
function readTreeMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const ownMb = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    return children.reduce((sumMb, child) => sumMb + readTreeMb(Number(child)), ownMb);
  } catch {
    return 0;
  }
}
