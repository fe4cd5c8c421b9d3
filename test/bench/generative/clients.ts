import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tinyTokenizer } from "../../servers/tiny-llama.ts";
import { baselineName, benchFolder, bytesOfRequest, copyName, measureProgram } from "../clients.ts";
import { freshCopy } from "../fresh.ts";
import { installPerfAnalyzer, type Peer } from "../peers/install.ts";
import { installPythonTool, OFFLINE_TOKENIZER, offlineEnvironment } from "./peers.ts";
import { type MeasuredStream, readAiperfStreams, readExportedStreams } from "./read-streams.ts";

/** The tools that are compared, as their users start them: everything they record by default is recorded. */

const INPUT_TOKENS = "50";
const PROMPTS = 100;
const GENAI_PERF_VERSION = "0.0.16";
const AIPERF_VERSION = "0.13.0";

/** Rampart's mode for perf_analyzer's command: the same flags and the same file. */
export const MODE_NAME = "rampart perf_analyzer";

/** What is asked of a tool. */
export interface Load {
  readonly isStreaming: boolean;
  readonly concurrency: number;
  readonly requests: number;
  /** A folder; left out: the small one. Looked at for Rampart only. */
  readonly tokenizer?: string;
}

export interface Tool {
  readonly name: string;
  readonly version: string;
  readonly env: Record<string, string>;
  command(load: Load, port: number): string[];
  /** What the last run recorded, in the order in which requests were sent. */
  readStreams(): MeasuredStream[];
}

/** Rampart's executable, an earlier one where it is named, and the others, installed where missing. One that cannot be is left out, with the reason on stderr. */
export async function openTools(
  executable: string,
  baseline: string | undefined,
  peers: readonly (() => Promise<Tool>)[] = [openPerfAnalyzer, openGenaiPerf, openAiperf],
): Promise<Tool[]> {
  const fresh = join(benchFolder, "fresh");
  const own = freshCopy(executable, fresh);
  const tools = [
    rampartTool("rampart", own),
    perfAnalyzerTool(MODE_NAME, { command: [own, "perf_analyzer"], version: "" }),
    copyTool,
  ];
  if (baseline !== undefined) tools.push(rampartTool(baselineName, freshCopy(baseline, join(fresh, baselineName))));
  for (const open of peers) {
    try {
      tools.push(await open());
    } catch (error) {
      console.error(`bench: left out: ${error instanceof Error ? error.message : error}`);
    }
  }
  return tools;
}

/** The executable with several threads that send. */
export function threadsTool(executable: string, count: number): Tool {
  return rampartTool(`rampart, threads: ${count}`, executable, ["--workers", String(count)]);
}

/** @param options more than the others have */
function rampartTool(name: string, program: string, options: readonly string[] = []): Tool {
  return {
    name,
    version: "",
    env: {},
    command: (load, port) => {
      const flags = genaiFlags(name, load, port, load.tokenizer ?? tinyTokenizer);
      // The same bodies as the others send.
      return [program, "genai-perf", ...flags, "--no-server-usage", ...options];
    },
    readStreams: () => readExportedStreams(findFile(name, "profile_export.json")),
  };
}

export async function openPerfAnalyzer(): Promise<Tool> {
  return perfAnalyzerTool("perf_analyzer", await installPerfAnalyzer((folder) => folder));
}

/** perf_analyzer, or what takes its command. */
function perfAnalyzerTool(name: string, peer: Peer): Tool {
  return {
    name,
    version: peer.version,
    env: peer.env ?? {},
    command: (load, port) => [...peer.command, ...perfAnalyzerFlags(name, load, port)],
    readStreams: () => readExportedStreams(findFile(name, "profile_export.json")),
  };
}

/** It starts the perf_analyzer that it finds first. */
async function openGenaiPerf(): Promise<Tool> {
  const name = "genai-perf";
  const { program, version } = await installPythonTool(name, GENAI_PERF_VERSION);
  const peer = await installPerfAnalyzer((folder) => folder);
  const bin = join(benchFolder, "bin");
  mkdirSync(bin, { recursive: true });
  const quoted = peer.command.map((word) => `'${word}'`).join(" ");
  const variables = Object.entries(peer.env ?? {}).map(([key, value]) => `${key}='${value}' `);
  writeFileSync(join(bin, "perf_analyzer"), `#!/bin/sh\n${variables.join("")}exec ${quoted} "$@"\n`, { mode: 0o755 });
  return {
    name,
    version,
    env: { ...offlineEnvironment(), PATH: `${bin}:${dirname(program)}:${process.env["PATH"] ?? ""}` },
    command: (load, port) => [program, ...genaiFlags(name, load, port, OFFLINE_TOKENIZER)],
    readStreams: () => readExportedStreams(findFile(name, "profile_export.json")),
  };
}

async function openAiperf(): Promise<Tool> {
  const name = "aiperf";
  const { program, version } = await installPythonTool(name, AIPERF_VERSION);
  return {
    name,
    version,
    env: { ...offlineEnvironment(), PATH: `${dirname(program)}:${process.env["PATH"] ?? ""}` },
    command: (load, port) => [
      ...[program, "profile", "-m", "tiny", "--tokenizer", OFFLINE_TOKENIZER, "--endpoint-type", "chat"],
      ...["--url", `http://127.0.0.1:${port}`, "--isl", INPUT_TOKENS, "--ui", "none", ...loadFlags(load)],
      ...["--artifact-dir", emptyFolder(name)],
    ],
    readStreams: () => readAiperfStreams(findFile(name, "profile_export.jsonl")),
  };
}

/** The same words for Rampart and for genai-perf. */
function genaiFlags(name: string, load: Load, port: number, tokenizer: string): string[] {
  return [
    ...["profile", "-m", "tiny", "--tokenizer", tokenizer, "--endpoint-type", "chat", "-u", `http://127.0.0.1:${port}`],
    ...["--isl", INPUT_TOKENS, ...loadFlags(load), "--artifact-dir", emptyFolder(name)],
  ];
}

function loadFlags({ isStreaming, concurrency, requests }: Load): string[] {
  const amount = ["--concurrency", String(concurrency), "--request-count", String(requests)];
  return isStreaming ? ["--streaming", ...amount] : amount;
}

/** A program that copies the bytes of the same requests, and reads streams only for their ends. */
const copyTool: Tool = {
  name: copyName,
  version: "",
  env: {},
  command: ({ concurrency, requests }, port) => {
    const file = join(emptyFolder(copyName), "stream.request");
    const body = Buffer.from(JSON.stringify(chatBody(true)));
    writeFileSync(file, bytesOfRequest("/v1/chat/completions", { "Content-Type": "application/json" }, body));
    const amount = ["-connections", String(concurrency), "-streams", String(requests)];
    return [measureProgram, "-copy", `127.0.0.1:${port}`, "-request", file, ...amount];
  },
  readStreams: () => [],
};

/** As genai-perf starts it. */
function perfAnalyzerFlags(name: string, { isStreaming, concurrency, requests }: Load, port: number): string[] {
  const folder = emptyFolder(name);
  const inputs = join(folder, "inputs.json");
  const payload = chatBody(isStreaming);
  writeFileSync(inputs, JSON.stringify({ data: Array.from({ length: PROMPTS }, () => ({ payload: [payload] })) }));
  return [
    ...["-m", "tiny", "--async", "--input-data", inputs, "-i", "http", "--service-kind", "openai"],
    ...["--endpoint", "v1/chat/completions", "-u", `http://127.0.0.1:${port}`],
    ...["--concurrency-range", String(concurrency), "--request-count", String(requests)],
    ...["--stability-percentage", "999", "--profile-export-file", join(folder, "profile_export.json")],
  ];
}

/** A chat request with a prompt of 50 tokens. */
function chatBody(isStreaming: boolean): object {
  const content = "the quick brown fox jumps over the lazy dog ".repeat(5).trim();
  return { model: "tiny", messages: [{ role: "user", content }], ...(isStreaming ? { stream: true } : {}) };
}

function folderOf(name: string): string {
  return join(benchFolder, "runs", name);
}

function emptyFolder(name: string): string {
  const folder = folderOf(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

function findFile(name: string, file: string): string {
  const folder = folderOf(name);
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) => path.endsWith(file));
  if (found === undefined) throw new Error(`${name} left no ${file}`);
  return join(folder, found);
}
