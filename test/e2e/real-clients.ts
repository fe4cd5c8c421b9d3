import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { PythonClients } from "../servers/python-clients.ts";
import { commandUnderTest } from "./command.ts";

/** What the real clients of perf_analyzer need: the command under its name, a tokenizer, and a process. */

const CLIENT_TIMEOUT_MS = 300_000;

/** Puts the command under test into a new folder as `perf_analyzer`: a link to the executable, or a script. Returns the folder. */
export function linkPerfAnalyzer(folder: string): string {
  const bin = join(folder, "bin");
  const path = join(bin, "perf_analyzer");
  mkdirSync(bin);
  const [program, ...first] = commandUnderTest as [string, ...string[]];
  if (first.length === 0) symlinkSync(resolve(program), path);
  else writeScript(path, [program, ...first, "perf_analyzer"], []);
  return bin;
}

/** A program for Model Analyzer: `perf_analyzer` of a folder, with a JSON report of each run in another one. Returns its path. */
export function writeReportingScript(bin: string, reportFolder: string): string {
  mkdirSync(reportFolder);
  const path = join(bin, "perf_analyzer_with_report");
  writeScript(path, [join(bin, "perf_analyzer")], ["--json", `${reportFolder}/$$.json`]);
  return path;
}

function writeScript(path: string, before: readonly string[], after: readonly string[]): void {
  const quote = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(" ");
  writeFileSync(path, `#!/bin/sh\nexec ${quote(before)} "$@" ${quote(after)}\n`, { mode: 0o755 });
}

/** Writes a Hugging Face tokenizer without a network: each byte is a token, so that a text's tokens are known. Returns its folder. */
export function writeByteTokenizer(folder: string): string {
  const path = join(folder, "tokenizer");
  mkdirSync(path);
  // GPT-2's alphabet of bytes: those that print stand for themselves, the others for the code points from 256 on.
  const printable = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
  const vocab: Record<string, number> = {};
  let others = 256;
  for (let byte = 0; byte < 256; byte++) vocab[String.fromCodePoint(printable(byte) ? byte : others++)] = byte;
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
  const model = { type: "BPE", vocab, merges: [], byte_fallback: false, fuse_unk: false };
  const tokenizer = { version: "1.0", added_tokens: [], pre_tokenizer: byteLevel, decoder: byteLevel, model };
  writeFileSync(join(path, "tokenizer.json"), JSON.stringify(tokenizer));
  writeFileSync(join(path, "tokenizer_config.json"), JSON.stringify({ tokenizer_class: "PreTrainedTokenizerFast" }));
  return path;
}

/** Runs a client in a folder, `perf_analyzer` of `bin` first in its PATH. Resolves with its exit code and all it printed. */
export async function runClient(
  clients: PythonClients,
  args: readonly string[],
  { cwd, bin }: { readonly cwd: string; readonly bin: string },
): Promise<{ readonly code: number | null; readonly output: string }> {
  // A process group of its own: what it has started must end with it.
  const child = spawn(clients.python, args, {
    cwd,
    env: { ...process.env, ...clients.env(bin) },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const { promise, resolve: end, reject } = Promise.withResolvers<number | null>();
  child.on("error", reject);
  child.on("close", end);
  const timer = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), CLIENT_TIMEOUT_MS);
  try {
    return { code: await promise, output };
  } finally {
    clearTimeout(timer);
  }
}
