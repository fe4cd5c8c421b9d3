import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type LlmStub, startLlmStub } from "../../servers/llm-stub.ts";
import { tinyTokenizer } from "../../servers/tiny-llama.ts";
import { benchFolder } from "../clients.ts";
import { readMemory } from "../memory/watch.ts";

const REQUESTS = 100_000;
const TOKENS = 20;
/** By then code is compiled and heaps have their size. */
const SETTLED_SHARE = 0.3;
const GROWTH_LIMIT_MB = 30;
const SAMPLE_MS = 100;

/** Memory of one run, MB. */
interface Course {
  /** While requests were sent: after the first third, and the most later. */
  readonly settledMb: number;
  readonly highestMb: number;
  /** With the report, which holds some numbers of every request. */
  readonly peakMb: number;
  readonly seconds: number;
}

/** Runs 100,000 streams, everything recorded and reported, and looks at memory while they are sent. Gives the exit code. */
export async function measureMemory(executable: string): Promise<number> {
  const stub = await startLlmStub({ tokens: TOKENS });
  try {
    const { settledMb, highestMb, peakMb, seconds } = await measureCourse(executable, stub);
    const growthMb = highestMb - settledMb;
    const isPassed = growthMb <= GROWTH_LIMIT_MB;
    const course = `${settledMb.toFixed(0)} MB after a third, at most ${highestMb.toFixed(0)} MB later, ${peakMb.toFixed(0)} MB with the report`;
    const verdict = `growth ${growthMb.toFixed(0)} MB of ${GROWTH_LIMIT_MB} allowed: ${isPassed ? "PASS" : "FAIL"}`;
    console.log(`${REQUESTS.toLocaleString("en")} streams in ${seconds.toFixed(1)} s: ${course}; ${verdict}`);
    return isPassed ? 0 : 1;
  } finally {
    await stub.stop();
  }
}

async function measureCourse(executable: string, stub: LlmStub): Promise<Course> {
  const folder = join(benchFolder, "runs", "memory");
  rmSync(folder, { recursive: true, force: true });
  await stub.reset();
  const flags = [
    "--tokenizer",
    tinyTokenizer,
    "--endpoint-type",
    "chat",
    "-u",
    `127.0.0.1:${stub.port}`,
    "--isl",
    "50",
  ];
  const load = ["--streaming", "--concurrency", "16", "--request-count", String(REQUESTS), "--artifact-dir", folder];
  const startMs = performance.now();
  const child = spawn(executable, ["genai-perf", "profile", "-m", "tiny", ...flags, ...load], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  const ended = once(child, "exit");
  let settledMb = Number.NaN;
  let highestMb = 0;
  let peakMb = 0;
  while (child.exitCode === null && child.signalCode === null) {
    await wait(SAMPLE_MS);
    const { requests } = await stub.counter();
    const nowMb = readMemory(child.pid ?? 0).mb;
    peakMb = Math.max(peakMb, nowMb);
    if (requests >= REQUESTS || requests < SETTLED_SHARE * REQUESTS) continue;
    if (Number.isNaN(settledMb)) settledMb = nowMb;
    highestMb = Math.max(highestMb, nowMb);
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the run ended with ${code}`);
  rmSync(folder, { recursive: true, force: true });
  return { settledMb, highestMb, peakMb, seconds: (performance.now() - startMs) / 1000 };
}
