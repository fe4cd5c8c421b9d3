// npm run bench:exports [-- --requests N --executable FILE]
//
// Writes a profile export of 10,000,000 requests (5 GB) into the system's folder of temporary files, has the executable read it with `compare` and
// `genai-perf process-export-files`, and prints time and peak memory of each. Exits with 1 when one needs 250 MB or more to compare, or fails.
// Needs Linux, and about 15 GB of disk, which it frees.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { formatCount } from "../../src/plan/units.ts";
import { makeFolder } from "../make-folder.ts";
import { root } from "./clients.ts";
import { judgeGoal } from "./goals.ts";
import { readMemory } from "./memory/watch.ts";
import { writeFigures } from "./write-figures.ts";

const DEFAULT_REQUESTS = 10_000_000;
const COMPARE_LIMIT_MB = 250;
const PIECE_CHARACTERS = 1 << 20;
const SAMPLE_MS = 200;

/** Settings of the report that genai-perf writes beside its export, as far as a merge needs them. */
const INPUT_CONFIG = {
  model_names: ["m"],
  endpoint: { type: "chat", streaming: true },
  perf_analyzer: { stimulus: { concurrency: 4 } },
  input: {},
  tokenizer: { name: "none" },
};

async function main(executable: string, count: number): Promise<number> {
  const folder = makeFolder();
  const host = join(folder, "hosts", "one");
  mkdirSync(host, { recursive: true });
  const path = join(host, "profile_export.json");
  writeExport(path, count);
  writeFileSync(join(host, "profile_export_genai_perf.json"), JSON.stringify({ input_config: INPUT_CONFIG }));
  const small = join(folder, "small.json");
  writeExport(small, 1000);
  const merge = ["genai-perf", "process-export-files", "-d", join(folder, "hosts"), "--artifact-dir", folder];
  const compared = await measure("compare", [executable, "compare", small, path], count);
  const merged = await measure("process-export-files", [executable, ...merge], count);
  const what = `of ${formatCount(count)} requests: peak MB`;
  const goals = [
    judgeGoal(`compare ${what}`, compared.peakMb, COMPARE_LIMIT_MB),
    judgeGoal(`process-export-files ${what}`, merged.peakMb),
  ];
  if (compared.isFailed || merged.isFailed) return 1;
  if (count === DEFAULT_REQUESTS) writeFigures("bench:exports", { goals });
  return goals.every(({ passed }) => passed) ? 0 : 1;
}

async function measure(name: string, [program = "", ...args]: readonly string[], count: number) {
  const startMs = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  let peakMb = 0;
  while (child.exitCode === null && child.signalCode === null) {
    peakMb = Math.max(peakMb, readMemory(child.pid ?? 0).highestMb);
    await Promise.race([ended, wait(SAMPLE_MS)]);
  }
  const sec = (performance.now() - startMs) / 1000;
  const isFailed = child.exitCode !== 0;
  const verdict = isFailed ? `, and it failed with ${child.exitCode ?? child.signalCode}` : "";
  console.log(`${name}: ${formatCount(count)} requests in ${sec.toFixed(1)} s, peak ${peakMb.toFixed(0)} MB${verdict}`);
  return { peakMb, isFailed };
}

/** Writes streams of two tokens, about 5,000 a second, whose times come from a generator with a fixed seed. */
function writeExport(path: string, count: number): void {
  let state = 1;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const fd = openSync(path, "w");
  let piece = '{"experiments":[{"experiment":{"mode":"concurrency","value":4},"requests":[';
  for (let at = 0, sentNs = 0; at < count; at++) {
    sentNs += Math.floor(random() * 4e5);
    const firstNs = sentNs + Math.floor(5e6 + 3e7 * random() ** 3);
    const lastNs = firstNs + Math.floor(1e6 + 9e6 * random());
    piece += `${at === 0 ? "" : ","}${formatRequest(sentNs, firstNs, lastNs)}`;
    if (piece.length < PIECE_CHARACTERS) continue;
    writeSync(fd, piece);
    piece = "";
  }
  const end = { version: "0.0.0", service_kind: "openai", endpoint: "v1/chat/completions" };
  writeSync(fd, `${piece}],"window_boundaries":[]}],${JSON.stringify(end).slice(1)}`);
  closeSync(fd);
}

const START_SEC = 1_795_846_327;
const INPUTS = JSON.stringify({
  payload: JSON.stringify({ model: "m", messages: [{ role: "user", content: "What is rain?" }], stream: true }),
});
const OUTPUTS = JSON.stringify(
  [" the", " water"].map((content) => {
    const event = { object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] };
    return { response: `data: ${JSON.stringify(event)}\n\n` };
  }),
);

function formatRequest(...timesNs: readonly [sentNs: number, firstNs: number, lastNs: number]): string {
  const [sent, ...responses] = timesNs.map(
    (ns) => `${START_SEC + Math.floor(ns / 1e9)}${String(ns % 1e9).padStart(9, "0")}`,
  );
  return `{"timestamp":${sent},"request_inputs":${INPUTS},"response_timestamps":[${responses}],"response_outputs":${OUTPUTS}}`;
}

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: String(DEFAULT_REQUESTS) },
    executable: { type: "string", default: join(root, "dist", "rampart") },
  },
});
process.exitCode = await main(values.executable, Number(values.requests));
