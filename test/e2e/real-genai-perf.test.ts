// Runs only on: executable: other programs start it.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { before, beforeEach, test } from "node:test";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import type { MockPlan } from "../../src/plan/mock.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { closing, listen } from "../servers/listen.ts";
import { type Llama, startLlama, untilNoneWasClosed } from "../servers/llama.ts";
import { installPythonClients, type PythonClients } from "../servers/python-clients.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart } from "./command.ts";
import { linkPerfAnalyzer, runClient, writeByteTokenizer } from "./real-clients.ts";

/** The real genai-perf with Rampart as its perf_analyzer against servers as fast as they can be, and with files that Rampart wrote. */

const NO_TIME = { kind: "constant", ms: 0 } as const;
const GOLDENS = join(import.meta.dirname, "..", "report", "genai-perf", "goldens");
const CONFIG = join(import.meta.dirname, "..", "cli", "genai-perf", "golden", "input-config-chat.txt");

let clients: PythonClients;
let folder: string;
let bin: string;
before(async () => {
  clients = await installPythonClients();
});
beforeEach(() => {
  folder = makeFolder();
  bin = linkPerfAnalyzer(folder);
});

interface Report {
  readonly request_count: { readonly avg: number };
  readonly inter_token_latency: { readonly min: number };
  readonly output_token_throughput_per_user: { readonly max: number };
  readonly output_sequence_length: { readonly min: number; readonly max: number };
}

interface Export {
  readonly experiments: readonly {
    readonly requests: readonly { readonly timestamp: bigint; readonly response_timestamps: readonly bigint[] }[];
  }[];
}

/** Runs `genai-perf profile` on a chat model and checks its export: times ascend in every request. */
async function profileChat(host: string, count: number, tokens: number): Promise<Report> {
  const load = ["--concurrency", "4", "--request-count", String(count), "--output-tokens-mean", String(tokens)];
  const target = ["-m", "tiny", "--endpoint-type", "chat", "--streaming", "-u", host];
  const prompts = ["--tokenizer", writeByteTokenizer(folder), "--synthetic-input-tokens-mean", "20"];
  const args = [clients.genaiPerf, "profile", ...target, ...prompts, ...load, "--random-seed", "42"];
  const { code, output } = await runClient(clients, args, { cwd: folder, bin });
  assert.equal(code, 0, output);
  const [artifacts] = readdirSync(join(folder, "artifacts"));
  const read = (name: string): string => readFileSync(join(folder, "artifacts", artifacts as string, name), "utf8");
  // Time stamps have more digits than numbers keep.
  const exported = JSON.parse(
    read("profile_export.json").replace(/(?<=[[,:])\d{17,}/g, '"n$&"'),
    (_, value: unknown) => (typeof value === "string" && /^n\d+$/.test(value) ? BigInt(value.slice(1)) : value),
  ) as Export;
  for (const { timestamp, response_timestamps: times } of exported.experiments[0]?.requests ?? [])
    for (const [index, time] of times.entries())
      assert.ok(time > (times[index - 1] ?? timestamp), `${index}: ${times}`);
  return JSON.parse(read("profile_export_genai_perf.json")) as Report;
}

/** Tokens of each event, response by response; all events of a response are one write. */
const ANSWERS = [Array<number>(40).fill(1), [5, 5, 5, 5, 5, 5, 5, 5], [39, 1], [1, 39], [40]];

test("genai-perf measures a server with whole responses", LIMIT, async () => {
  let index = 0;
  using server = closing(
    createServer((request, response) => {
      request.resume().on("end", () => {
        const event = (content: string): string =>
          `data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ delta: { content } }] })}\n\n`;
        const events = (ANSWERS[index++ % ANSWERS.length] as number[]).map((tokens) => event("a".repeat(tokens)));
        response.writeHead(200, { "Content-Type": "text/event-stream" }).write(`${events.join("")}data: [DONE]\n\n`);
        response.end();
      });
    }),
  );
  const { request_count, output_sequence_length, ...times } = await profileChat(
    `127.0.0.1:${await listen(server)}`,
    40,
    40,
  );
  assert.deepEqual([request_count.avg, output_sequence_length.min, output_sequence_length.max], [40, 40, 40]);
  assert.ok(times.inter_token_latency.min > 0);
  assert.ok(Number.isFinite(times.output_token_throughput_per_user.max));
});

test("genai-perf measures llama.cpp with a model that takes it no time", LIMIT, async () => {
  const running = process.env["RAMPART_TEST_LLAMA"];
  const llama: Llama | undefined = running === undefined ? await startLlama() : undefined;
  try {
    const host = running ?? `127.0.0.1:${llama?.port}`;
    const { request_count, inter_token_latency } = await untilNoneWasClosed(() => {
      rmSync(join(folder, "artifacts"), { recursive: true, force: true });
      return profileChat(host, 20, 16);
    });
    assert.equal(request_count.avg, 20);
    assert.ok(inter_token_latency.min > 0);
  } finally {
    await llama?.stop();
  }
});

test("genai-perf merges results that Rampart wrote, whatever else Rampart wrote beside them", LIMIT, async () => {
  const hosts = join(folder, "hosts");
  const recorded = join(folder, "recorded", "a");
  mkdirSync(recorded, { recursive: true });
  mkdirSync(hosts);
  cpSync(join(GOLDENS, "kserve", "profile_export.json"), join(recorded, "profile_export.json"));
  // The original refuses any endpoint but kserve, and levels of another value than that of the first export.
  const report = JSON.parse(readFileSync(CONFIG, "utf8")) as { input_config: Record<string, Record<string, unknown>> };
  const { endpoint, perf_analyzer: load, input, tokenizer } = report.input_config;
  Object.assign(endpoint ?? {}, { type: "kserve", backend: "vllm", service_kind: "triton", output_format: "vllm" });
  Object.assign(load ?? {}, { stimulus: { concurrency: 1 } });
  Object.assign(input ?? {}, { goodput: "" });
  Object.assign(tokenizer ?? {}, { name: writeByteTokenizer(folder) });
  writeFileSync(join(recorded, "profile_export_genai_perf.json"), JSON.stringify(report));
  const args = ["genai-perf", "process-export-files", "-d", join(folder, "recorded"), "--artifact-dir", "merged"];
  const own = await runRampart(args, { cwd: folder });
  assert.equal(own.code, 0, own.stderr);
  const [artifacts] = readdirSync(join(folder, "merged"));
  const files = readdirSync(join(folder, "merged", artifacts as string));
  assert.ok(files.length > 3, `Rampart's own files are there: ${files}`);
  for (const host of ["a", "b"]) {
    cpSync(join(folder, "merged", artifacts as string), join(hosts, host), { recursive: true });
    writeFileSync(join(hosts, host, "server_metrics_export_genai_perf_rampart.json"), "{}");
  }
  const merge = [clients.genaiPerf, "process-export-files", "--input-directory", hosts];
  const { code, output } = await runClient(clients, merge, { cwd: folder, bin });
  assert.equal(code, 0, output);
});

/** Reads an export as genai-perf does, and prints the number of requests and the mean output length. */
const READ_EXPORT = `
import sys
from genai_perf.profile_data_parser.llm_profile_data_parser import LLMProfileDataParser
from genai_perf.tokenizer import Tokenizer
tokenizer = Tokenizer()
tokenizer.set_tokenizer(sys.argv[2], False, "main")
parser = LLMProfileDataParser(sys.argv[1], tokenizer)
metrics = parser.get_statistics("concurrency", "2").metrics
print("read", len(metrics.request_latencies), sum(metrics.output_sequence_lengths))
`;

for (const endpoint of ["chat", "completions"])
  for (const streaming of [[], ["--streaming"]])
    test(
      `genai-perf's own parser reads Rampart's default export of ${endpoint}${streaming.join()}`,
      LIMIT,
      async () => {
        const llm = {
          firstToken: NO_TIME,
          tokenGapMs: 0,
          osl: 6,
          tokensPerEvent: 1,
          reasoningTokens: 0,
          cutRatio: 0,
        };
        const plan: MockPlan = { latency: NO_TIME, errorRatio: 0, responseBytes: 0, llm };
        await using mock = await startMock(plan, LOOPBACK);
        const tokenizer = writeByteTokenizer(folder);
        const url = ["-u", `127.0.0.1:${mock.httpPort}`, "--tokenizer", tokenizer, "--artifact-dir", "out"];
        const load = ["--concurrency", "2", "--request-count", "6", "--synthetic-input-tokens-mean", "20"];
        const args = [
          "genai-perf",
          "profile",
          "-m",
          "tiny",
          "--endpoint-type",
          endpoint,
          ...streaming,
          ...url,
          ...load,
        ];
        const own = await runRampart(args, { cwd: folder });
        assert.equal(own.code, 0, own.stderr);
        const script = writeIn(folder, "read.py", READ_EXPORT);
        const [path] = readdirSync(join(folder, "out"), { recursive: true, encoding: "utf8" }).filter((name) =>
          name.endsWith("profile_export.json"),
        );
        const { code, output } = await runClient(clients, [script, join(folder, "out", path as string), tokenizer], {
          cwd: folder,
          bin,
        });
        assert.equal(code, 0, output);
        assert.match(output, /^read 6 [1-9]/m);
      },
    );
