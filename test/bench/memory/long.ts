import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { formatCount } from "../../../src/plan/units.ts";
import { describeMachine } from "../../../src/runtime/machine.ts";
import { type LlmStubOptions, startLlmStub } from "../../servers/llm-stub.ts";
import { benchFolder } from "../clients.ts";
import { type Goal, judgeGoal, renderTable } from "../goals.ts";
import { writeLargeTokenizer } from "./large-tokenizer.ts";
import { leastOf, slopeMbPerHour, type Watched, watchMemory } from "./watch.ts";

/** Memory over hours: runs at a high rate with everything recorded, and the line through their memory. */

const LIMIT_MB = 250;
/** 100 MB a day. */
const LIMIT_MB_PER_HOUR = 4;
const EVERY_SEC = 10;
/** Memory grows until garbage is collected, which it is within this time. */
const LEAST_OF_SEC = 60;
/** Until then code is compiled and heaps get their size: 5 of 30 minutes. */
const SETTLED_PART = 1 / 6;
/** Time for the reports after the load. */
const REPORT_SEC = 300;
/** Users of responses that take 5 ms: up to 5,000 requests a second. */
const HTTP_USERS = 25;
/** Users of streams that take 250 ms: 250 streams a second, of 5,000 chunks. */
const STREAM_USERS = 64;
const STREAMS = { ttftMs: 50, itlMs: 10, tokens: 20 };

/** A closed loop: on a busy machine it sends less, and has no more in flight. */
interface LongCase {
  readonly title: string;
  readonly server: LlmStubOptions;
  args(place: RunPlace, sec: number): readonly string[];
}

interface RunPlace {
  readonly port: number;
  /** Of its reports. */
  readonly folder: string;
  readonly tokenizer: string;
}

const CASES: readonly LongCase[] = [
  {
    title: "HTTP",
    server: { ttftMs: 5, tokens: STREAMS.tokens },
    args: ({ port, folder }, sec) => {
      const data = JSON.stringify({ model: "tiny", messages: [{ role: "user", content: "the quick brown fox" }] });
      const load = ["-d", data, "-c", String(HTTP_USERS)];
      return ["http", `http://127.0.0.1:${port}/v1/chat/completions`, ...load, ...everything(sec, folder)];
    },
  },
  {
    title: "token streams",
    server: STREAMS,
    args: ({ port, folder, tokenizer }, sec) => {
      const model = ["-m", "tiny", "--tokenizer", tokenizer, "--isl", "50"];
      return ["llm", `127.0.0.1:${port}`, ...model, "-c", String(STREAM_USERS), ...everything(sec, folder)];
    },
  },
  {
    title: "token streams, genai-perf mode",
    server: STREAMS,
    args: ({ port, folder, tokenizer }, sec) => {
      const model = ["-m", "tiny", "--tokenizer", tokenizer, "--endpoint-type", "chat", "--streaming"];
      const load = ["--isl", "50", "--concurrency", String(STREAM_USERS), "--benchmark-duration", String(sec)];
      return ["genai-perf", "profile", ...model, "-u", `127.0.0.1:${port}`, ...load, "--artifact-dir", folder];
    },
  },
];

/** The time of a run, and every file that it can write. */
function everything(sec: number, folder: string): readonly string[] {
  const files = ["json", "html", "csv", "markdown", "junit", "records", "profile-export-file"];
  return ["--for", `${sec}s`, "-q", ...files.flatMap((name) => [`--${name}`, join(folder, name)])];
}

/** Memory of a long run. */
export interface LongMemory {
  readonly title: string;
  readonly requests: number;
  /** Of the line through the least memory of each minute from {@link SETTLED_PART} of the time on. */
  readonly slope: number;
  /** Twice the standard error of the slope. */
  readonly slopeError: number;
  readonly meanMb: number;
  /** With the reports. */
  readonly peakMb: number;
}

/**
 * Runs the executable at a high rate with everything recorded, and looks at its memory every 10 s. All cases run at once, as the memory of one
 * does not depend on the others.
 */
export async function measureLongMemory(executable: string, minutes: number): Promise<readonly LongMemory[]> {
  const tokenizer = writeLargeTokenizer();
  return Promise.all(CASES.map((one, index) => measureCase(executable, one, { sec: minutes * 60, index, tokenizer })));
}

async function measureCase(
  executable: string,
  { title, server, args }: LongCase,
  { sec, index, tokenizer }: { readonly sec: number; readonly index: number; readonly tokenizer: string },
): Promise<LongMemory> {
  const folder = join(benchFolder, "runs", `memory-${index}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const stub = await startLlmStub(server);
  try {
    const command = [executable, ...args({ port: stub.port, folder, tokenizer }, sec)];
    const watched = await watchMemory(command, { everySec: EVERY_SEC, limitSec: sec + REPORT_SEC });
    return describe(title, (await stub.counter()).requests, watched, sec);
  } finally {
    await stub.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function describe(title: string, requests: number, { samples, peakMb, exitCode }: Watched, sec: number): LongMemory {
  console.log(
    `memory, ${title}, ${sec / 60} min, ${formatCount(requests)} requests: ${samples.map(([, mb]) => mb.toFixed(0)).join(" ")}`,
  );
  if (exitCode !== 0) throw new Error(`${title}: the run ended with ${exitCode ?? "nothing in its time"}`);
  const settled = samples.filter(([atSec]) => atSec >= sec * SETTLED_PART && atSec < sec);
  const { slope, error: slopeError } = slopeMbPerHour(leastOf(settled, LEAST_OF_SEC));
  const meanMb = settled.reduce((sum, [, mb]) => sum + mb, 0) / settled.length;
  return { title, requests, slope, slopeError, meanMb, peakMb };
}

/** The goals of a long run. */
export function goalsOf({ title, slope, slopeError, peakMb }: LongMemory): readonly Goal[] {
  const what = `${title}, everything recorded`;
  return [
    judgeGoal(`${what}: peak MB`, peakMb, LIMIT_MB),
    judgeGoal(`${what}: slope, MB an hour`, slope, undefined, `± ${slopeError.toFixed(1)}`),
    judgeGoal(`${what}: growth for certain, MB an hour`, Math.max(0, slope - slopeError), LIMIT_MB_PER_HOUR),
  ];
}

/** The figures of long runs as Markdown. */
export function renderLongMemory(cases: readonly LongMemory[], minutes: number): string {
  const { cpu, cores, os } = describeMachine();
  const date = new Date().toISOString().slice(0, 10);
  const head = `Measured ${date} on ${cpu}, ${cores} cores, ${os}; ${minutes} minutes, all at once.`;
  const rows = cases.map((one) => [
    one.title,
    formatCount(one.requests),
    one.meanMb.toFixed(0),
    one.slope.toFixed(1),
    one.slopeError.toFixed(1),
    one.peakMb.toFixed(0),
  ]);
  const columns = [
    "everything recorded",
    "requests",
    "mean MB",
    "slope, MB an hour",
    "± (two standard errors)",
    "peak MB",
  ];
  return `${head}\n\n${renderTable(columns, rows)}`;
}
