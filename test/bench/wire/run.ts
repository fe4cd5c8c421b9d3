// npm run bench:wire [-- --executable FILE --server llama|stub --busy N --concurrency N --requests N --rounds N]
//
// Holds the times that `rampart genai-perf` reports against what tcpdump saw pass, while busy processes (2) want the same cores. Needs Linux, tcpdump
// (Debian: apt-get install tcpdump) and the right to capture: root, or CAP_NET_RAW. Exits with 1 when the mean time to first token is more than 2 ms
// wrong in a round. A request's time begins where its connection is opened for it.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { startLlama } from "../../servers/llama.ts";
import { startLlmStub } from "../../servers/llm-stub.ts";
import { tinyTokenizer } from "../../servers/tiny-llama.ts";
import { benchFolder, root } from "../clients.ts";
import { readExportedStreams } from "../generative/read-streams.ts";
import { judgeGoal } from "../goals.ts";
import { writeFigures } from "../write-figures.ts";
import { readExchanges, readSegments } from "./capture.ts";
import { compareWithWire, type WireComparison } from "./compare.ts";

const TOKENS = 20;
const MOST_WRONG_MS = 2;
const RUN_LIMIT_MS = 120_000;
/** The kernel hands over what passed a little later. */
const SETTLE_MS = 1500;
const WARNING = "may include that";

const ARGUMENTS_WITHOUT_OPTIONS = 2;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      executable: { type: "string", default: join(root, "dist", "rampart") },
      server: { type: "string", default: "llama" },
      busy: { type: "string", default: "2" },
      concurrency: { type: "string", default: "4" },
      requests: { type: "string", default: "100" },
      rounds: { type: "string", default: "3" },
    },
  });
  const executable = resolve(values.executable);
  if (!existsSync(executable)) {
    console.error(`bench: ${executable} is missing: run npm run compile first, or name one with --executable FILE`);
    return 1;
  }
  mkdirSync(benchFolder, { recursive: true });
  const server = await (values.server === "stub"
    ? startLlmStub({ ttftMs: 20, itlMs: 2, tokens: TOKENS })
    : startLlama());
  const busy = Array.from({ length: Number(values.busy) }, () => spawn(process.execPath, ["-e", "for(;;);"]));
  const load = ["--concurrency", values.concurrency, "--request-count", values.requests];
  const wrongMs: number[] = [];
  try {
    for (let round = 0; round < Number(values.rounds); round++) {
      const { comparison, warnings } = await measure(executable, server.port, load);
      const errorMs = comparison.ttftMs - comparison.wireTtftMs;
      wrongMs.push(Math.abs(errorMs));
      const figures = Object.entries(comparison).map(([name, value]) => `${name} ${Number(value.toFixed(2))}`);
      console.log(
        `${Math.abs(errorMs) <= MOST_WRONG_MS ? "PASS" : "MISS"}  TTFT wrong by ${errorMs.toFixed(2)} ms; ${figures.join(", ")}`,
      );
      for (const warning of warnings) console.log(`      ${warning}`);
    }
  } finally {
    for (const one of busy) one.kill("SIGKILL");
    await server.stop();
  }
  const goal = judgeGoal("TTFT error by tcpdump, with two busy processes, ms", Math.max(...wrongMs), MOST_WRONG_MS);
  if (process.argv.length === ARGUMENTS_WITHOUT_OPTIONS) writeFigures("bench:wire", { goals: [goal] });
  return goal.passed ? 0 : 1;
}

/** One run, and what it said of its own lateness. */
async function measure(
  executable: string,
  port: number,
  load: readonly string[],
): Promise<{ comparison: WireComparison; warnings: string[] }> {
  const folder = mkdtempSync(join(benchFolder, "wire-"));
  try {
    const capture = join(folder, "capture.pcap");
    const stopCapture = await startCapture(capture, port);
    const flags = ["-m", "tiny", "--tokenizer", tinyTokenizer, "--endpoint-type", "chat", "--streaming", "--isl", "50"];
    const place = ["-u", `http://127.0.0.1:${port}`, "--artifact-dir", join(folder, "artifacts")];
    const fixed = ["--extra-inputs", `max_tokens:${TOKENS}`];
    const args = ["genai-perf", "profile", ...flags, ...place, ...load, ...fixed];
    const limits = { timeout: RUN_LIMIT_MS, killSignal: "SIGKILL" } as const;
    const { stderr } = await promisify(execFile)(executable, args, limits).finally(async () => {
      await setTimeout(SETTLE_MS);
      await stopCapture();
    });
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const exported = files.find((path) => path.endsWith("profile_export.json"));
    if (exported === undefined) throw new Error("the run left no profile_export.json");
    const exchanges = readExchanges(readSegments(readFileSync(capture)), port);
    return {
      comparison: compareWithWire(readExportedStreams(join(folder, exported)), exchanges, TOKENS),
      warnings: stderr.split("\n").filter((line) => line.includes(WARNING)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts to capture; the result ends it. @throws when that is not allowed, and at the end when packets are missing */
async function startCapture(file: string, port: number): Promise<() => Promise<void>> {
  const flags = ["-i", "lo", "-w", file, "-U", "-s", "0", "-B", "65536", "--immediate-mode"];
  const child = spawn("tcpdump", [...flags, "--time-stamp-precision=nano", `ip and tcp port ${port}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stderr });
  const ready = new Promise<void>((settle) => {
    reader.on("line", (line) => {
      lines.push(line);
      if (line.includes("listening on")) settle();
    });
  });
  const ended = once(child, "close");
  await Promise.race([ready, ended]);
  if (child.exitCode !== null)
    throw new Error(`tcpdump cannot capture, for which it needs root or CAP_NET_RAW: ${lines.join(" ")}`);
  return async () => {
    child.kill("SIGINT");
    await ended;
    const dropped = lines.find((line) => line.includes("dropped by kernel"));
    if (dropped !== undefined && !dropped.startsWith("0 ")) throw new Error(`the capture is not whole: ${dropped}`);
  };
}
