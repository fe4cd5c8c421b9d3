// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { casesHere } from "../few-cases.ts";
import { makeFolder } from "../make-folder.ts";
import { startLlama, untilNoneWasClosed } from "../servers/llama.ts";
import { tinyTokenizer } from "../servers/tiny-llama.ts";
import { recordNumbers, runRampart } from "./command.ts";

/** `genai-perf profile` against the real llama.cpp server: every token that is reported is one that the server made. */

const REQUESTS = 20;
const INPUT_TOKENS = 40;
const OUTPUT_TOKENS = 12;

let url: string;
let stop: (() => Promise<void>) | undefined;
const folder = makeFolder();

before(async () => {
  const given = process.env["RAMPART_TEST_LLAMA"];
  if (given !== undefined) {
    url = given;
    return;
  }
  const llama = await startLlama();
  url = `127.0.0.1:${llama.port}`;
  stop = llama.stop;
});
after(() => stop?.());

interface Case {
  readonly name: string;
  readonly type: string;
  readonly isStreaming: boolean;
  readonly flags: readonly string[];
}

const CASES: readonly Case[] = [
  { name: "chat, streamed", type: "chat", isStreaming: true, flags: ["--concurrency", "4"] },
  { name: "chat, whole responses", type: "chat", isStreaming: false, flags: ["--concurrency", "4"] },
  { name: "completions, streamed", type: "completions", isStreaming: true, flags: ["--concurrency", "2"] },
  { name: "completions at a rate", type: "completions", isStreaming: false, flags: ["--request-rate", "20"] },
];

describe("a real language model", () => {
  for (const { name, type, isStreaming, flags } of casesHere(CASES, ["chat, streamed"])) {
    test(name, async () => {
      const { json, stderr, made } = await untilNoneWasClosed(() =>
        profileCounted(name, [
          ...["--endpoint-type", type, "--request-count", String(REQUESTS), ...flags],
          ...(isStreaming ? ["--streaming"] : []),
        ]),
      );
      assert.equal(json.request_count.avg, REQUESTS, stderr);
      // Counted again, what random weights say may be a few tokens more or less: those that were made are told by the server.
      const { min, max } = json.output_sequence_length;
      assert.ok(min > 0.5 * OUTPUT_TOKENS && max < 1.5 * OUTPUT_TOKENS, `${min} to ${max} tokens`);
      assert.deepEqual([json.input_sequence_length.min, json.input_sequence_length.max], [INPUT_TOKENS, INPUT_TOKENS]);
      assert.equal(made, REQUESTS * OUTPUT_TOKENS);
      assert.equal("inter_token_latency" in json, isStreaming);
      if (isStreaming) {
        const { time_to_first_token: first, request_latency: whole, inter_token_latency: between } = json;
        assert.ok((first?.avg ?? 0) > 0 && (first?.avg ?? 0) < whole.avg);
        // By their definition: what is not the first token is the others' intervals.
        const sum = (first?.avg ?? 0) + (between?.avg ?? 0) * (json.output_sequence_length.avg - 1);
        assert.ok(Math.abs(sum - whole.avg) < 0.1 * whole.avg, `${sum} ms are not ${whole.avg} ms`);
      }
      recordNumbers(`generative: ${name}`, {
        count: json.request_count.avg,
        inputTokens: json.input_sequence_length.avg,
        madeTokens: made,
      });
    });
  }

  test("without a tokenizer only the server's own counts are reported", async () => {
    const inputs = join(import.meta.dirname, "inputs", "prompts.jsonl");
    const flags = ["--endpoint-type", "chat", "--streaming", "--request-count", "6", "--tokenizer", "none"];
    const { json } = await untilNoneWasClosed(() =>
      profile("server counts", [
        ...[...flags, "--input-file", inputs],
        ...["--extra-inputs", '{"stream_options":{"include_usage":true}}'],
      ]),
    );
    assert.equal(json.request_count.avg, 6);
  });

  test("a model's refusals are counted and reported, also by the exit code", async () => {
    const outcome = await runRampart([
      ...["genai-perf", "profile", "-m", "tiny", "--endpoint-type", "chat", "-u", url, "--tokenizer", tinyTokenizer],
      ...["--request-count", "4", "--extra-inputs", '{"messages":"none"}', "--artifact-dir", join(folder, "refused")],
    ]);
    assert.equal(outcome.code, 1, outcome.stderr);
    assert.match(outcome.stderr, /4 of 4 requests failed/);
  });
});

interface Statistics {
  readonly avg: number;
  readonly min: number;
  readonly max: number;
}

interface Json {
  readonly request_count: Statistics;
  readonly request_latency: Statistics;
  readonly input_sequence_length: Statistics;
  readonly output_sequence_length: Statistics;
  readonly time_to_first_token?: Statistics;
  readonly inter_token_latency?: Statistics;
}

/** Profiles, and returns the tokens that the server made meanwhile. */
async function profileCounted(
  name: string,
  flags: readonly string[],
): Promise<{ json: Json; stderr: string; made: number }> {
  const before = await readMadeTokens();
  const outcome = await profile(name, flags);
  return { ...outcome, made: (await readMadeTokens()) - before };
}

async function profile(name: string, flags: readonly string[]): Promise<{ json: Json; stderr: string }> {
  const artifacts = join(folder, name.replaceAll(/\W+/g, "-"));
  const outcome = await runRampart([
    ...["genai-perf", "profile", "-m", "tiny", "-u", url, "--artifact-dir", artifacts],
    ...(flags.includes("--tokenizer") ? [] : ["--tokenizer", tinyTokenizer]),
    ...["--isl", String(INPUT_TOKENS), "--osl", String(OUTPUT_TOKENS), ...flags],
  ]);
  assert.equal(outcome.code, 0, outcome.stderr);
  const file = readdirSync(artifacts, { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith("profile_export_genai_perf.json"),
  );
  assert.ok(file, `no report in ${readdirSync(artifacts, { recursive: true }).join(", ")}`);
  return { json: JSON.parse(readFileSync(join(artifacts, file), "utf8")) as Json, stderr: outcome.stderr };
}

/** All tokens that the server has made. */
async function readMadeTokens(): Promise<number> {
  const text = await (await fetch(`http://${url}/metrics`)).text();
  return Number(/^llamacpp:tokens_predicted_total (\S+)$/m.exec(text)?.[1]);
}
