import { createFolder, type ProcessResult, runRampart } from "./rampart-process.ts";

/** The same two chat requests through each front door, to a server that a test makes fail. */

const PAYLOADS = '{"data":[{"payload":[{"model":"m","messages":[{"role":"user","content":"x"}]}]}]}';

/** perf_analyzer mode. @param more flags */
export async function runPerfAnalyzer(url: string, more: readonly string[] = []): Promise<ProcessResult> {
  const kind = ["--service-kind", "openai", "--async", "--endpoint", "v1/chat/completions"];
  const args = ["-m", "m", ...kind, "--input-data", "in.json", "--request-count", "2", "-u", url, ...more];
  using folder = createFolder({ "in.json": PAYLOADS });
  return await runRampart(["perf_analyzer", ...args], { cwd: folder.path });
}

/** genai-perf mode. @param more flags */
export async function runGenaiPerf(url: string, more: readonly string[] = []): Promise<ProcessResult> {
  const args = ["-m", "m", "--endpoint-type", "chat", "--request-count", "2", "--num-dataset-entries", "1"];
  const input = ["--tokenizer", "none", "--input-file", "in.jsonl"];
  using folder = createFolder({ "in.jsonl": '{"text":"x"}' });
  return await runRampart(["genai-perf", "profile", ...args, ...input, "--url", url, ...more], { cwd: folder.path });
}

/** A scenario. @param options more options of its target @param fields more fields of the scenario */
export async function runScenario(url: string, options = "", fields = ""): Promise<ProcessResult> {
  const text = `import { defineScenario, hold, openai, input } from "rampart";
export default defineScenario({ name: "x", target: openai("${url}", { model: "m", tokenizer: "none"${options} }),
  inputs: input.payloads("in.json"), load: hold(1, { requests: 2 })${fields} });`;
  using folder = createFolder({ "x.ts": text, "in.json": PAYLOADS });
  return await runRampart(["run", "x.ts"], { cwd: folder.path, env: { HINT_KEY: "k" } });
}
