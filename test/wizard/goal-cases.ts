import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answers } from "../../src/wizard/answers.ts";
import { TINY } from "../tokenize/tiny.ts";

/** Short answers for each goal and each target of the wizard. */

const short: Answers = { load: "users", users: "2", for: "250 ms", "p99-limit": "1 h", "ttft-limit": "none" };

/** The answers for each goal, as far as it needs them. */
export const GOAL_ANSWERS: Readonly<Record<string, Answers>> = {
  number: short,
  curve: { ...short, users: "1:2" },
  // A search needs two levels or more.
  limit: { ...short, users: "2:3", for: "250 ms", "error-limit": "1 %" },
  replay: { recording: "gaps", file: "gaps.txt", for: "250 ms", "p99-limit": "1 h", "ttft-limit": "none" },
  comparison: { ...short, against: "server" },
  soak: { load: "users", users: "2", for: "750 ms", "p99-limit": "1 h" },
  spike: { load: "users", users: "2", peak: "4", for: "250 ms", around: "250 ms" },
};

/** More answers for some goals. */
export const MORE_ANSWERS: Readonly<Record<string, readonly Answers[]>> = {
  number: [
    { load: "rate", rate: "50", for: "250 ms", "p99-limit": "1 h", "ttft-limit": "1 h" },
    { ...short, for: "stable" },
  ],
  curve: [
    { ...short, users: "1,3" },
    { load: "rate", rate: "60:100:20", for: "250 ms", "p99-limit": "none", "ttft-limit": "none" },
  ],
  limit: [
    { load: "rate", rate: "20:40", for: "250 ms", "p99-limit": "1 h", "ttft-limit": "1 h", "error-limit": "none" },
  ],
  replay: [
    { recording: "requests", "p99-limit": "1 h", "ttft-limit": "1 h" },
    { recording: "conversations", users: "2", "p99-limit": "none", "ttft-limit": "none" },
  ],
  comparison: [
    { ...short, against: "model" },
    { ...short, against: "protocol" },
  ],
  soak: [{ load: "rate", rate: "50", for: "750 ms", "p99-limit": "none" }],
  spike: [{ load: "rate", rate: "20", peak: "40", for: "250 ms", around: "250 ms" }],
};

/** What a target needs besides its address and its model. */
export const TARGET_ANSWERS: Readonly<Record<string, Answers>> = {
  embedded: { protocol: "grpc" },
  triton: { protocol: "http", model: "simple" },
  tfserving: { model: "simple", shapes: "INPUT0:1,16 INPUT1:1,16" },
  tritonInProcess: { directory: "/opt/tritonserver", "model-repository": "/models", model: "simple" },
  openai: { model: "mock-llm", tokenizer: TINY, isl: "10", osl: "2" },
  torchserve: { model: "simple", files: "*.txt" },
  http: { path: "/v2/health/ready" },
  grpc: { model: "demo.v1.Text/Echo" },
};

const CHAT = { model: "mock-llm", messages: [{ role: "user", content: "Hi" }], max_tokens: 2, stream: true };
const line = (fields: object): string => `${JSON.stringify({ ...fields, payload: [CHAT] })}\n`;
const tensors = { INPUT0: Array(16).fill(1) as number[], INPUT1: Array(16).fill(2) as number[] };

/** Writes the files that the answers name. @returns what to replay, by the target's kind of recording */
export function writeRecordings(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const data = [0, 40, 80].map((timestamp) => ({ ...tensors, timestamp }));
  writeFileSync(join(folder, "tensors.json"), JSON.stringify({ data }));
  writeFileSync(join(folder, "times.jsonl"), line({ timestamp: 0 }) + line({ timestamp: 80 }));
  const turns = ["a", "b", "a"].map((id) => line({ session_id: id }));
  writeFileSync(join(folder, "turns.jsonl"), turns.join(""));
  writeFileSync(join(folder, "gaps.txt"), "20000\n10000\n");
  writeFileSync(join(folder, "cat.txt"), "meow");
}
