import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startLlmStub } from "../../servers/llm-stub.ts";
import { tinyTokenizer } from "../../servers/tiny-llama.ts";
import { benchFolder } from "../clients.ts";

const REQUESTS = 100_000;
const TOKENS = 20;
/** Of a run of 100,000 streams against one of 20,000: what every request leaves for the report is counted too. */
const FEW_REQUESTS = 20_000;
const GROWTH_LIMIT_MB = 60;
const SAMPLE_MS = 100;

/** Runs few and many streams, everything recorded and reported, and compares the peaks of memory. Gives the exit code. */
export async function measureMemory(executable: string): Promise<number> {
  const stub = await startLlmStub({ tokens: TOKENS });
  try {
    const few = await measurePeak(executable, stub.port, FEW_REQUESTS);
    const many = await measurePeak(executable, stub.port, REQUESTS);
    const growthMb = many.peakMb - few.peakMb;
    const isPassed = growthMb <= GROWTH_LIMIT_MB;
    const runs = [few, many].map(
      ({ requests, peakMb, seconds }) =>
        `${requests.toLocaleString("en")} streams: peak ${peakMb.toFixed(0)} MB, ${seconds.toFixed(1)} s`,
    );
    console.log(
      `${runs.join("; ")}; growth ${growthMb.toFixed(0)} MB of ${GROWTH_LIMIT_MB} allowed: ${isPassed ? "PASS" : "FAIL"}`,
    );
    return isPassed ? 0 : 1;
  } finally {
    await stub.stop();
  }
}

async function measurePeak(
  executable: string,
  port: number,
  requests: number,
): Promise<{ requests: number; peakMb: number; seconds: number }> {
  const folder = join(benchFolder, "runs", "memory");
  rmSync(folder, { recursive: true, force: true });
  const flags = ["--tokenizer", tinyTokenizer, "--endpoint-type", "chat", "-u", `127.0.0.1:${port}`, "--isl", "50"];
  const load = ["--streaming", "--concurrency", "16", "--request-count", String(requests), "--artifact-dir", folder];
  const startMs = performance.now();
  const child = spawn(executable, ["genai-perf", "profile", "-m", "tiny", ...flags, ...load], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  let peakMb = 0;
  while (child.exitCode === null && child.signalCode === null) {
    peakMb = Math.max(peakMb, readMb(child.pid ?? 0));
    await wait(SAMPLE_MS);
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the run ended with ${code}`);
  rmSync(folder, { recursive: true, force: true });
  return { requests, peakMb, seconds: (performance.now() - startMs) / 1000 };
}

function readMb(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
