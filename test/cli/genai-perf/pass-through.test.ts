import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fingerprintOf } from "../../../src/cli/genai-perf/checkpoint/open-checkpoint.ts";
import { toPassedPlan } from "../../../src/cli/genai-perf/plan/passed-plan.ts";
import { PASSED_HINTS, PASSED_REFUSALS } from "../../../src/cli/genai-perf/plan/passed-refusals.ts";
import { OPTIONS } from "../../../src/cli/perf-analyzer/options/table.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { closing } from "../../servers/listen.ts";
import { makeCertificates } from "../../servers/tls.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { answerChat, type ChatRun, type ChatRunOptions, runChat } from "./chat-server.ts";
import { readGood } from "./read.ts";
import { runCaptured } from "./run-captured.ts";

/** What flags of perf_analyzer after `--` do to a profile. */

/** A response at once. */
function answerNow(response: ServerResponse): void {
  const event = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.end(`${event("the")}${event(" the")}data: [DONE]\n\n`);
}

function profile(args: string, options: ChatRunOptions = {}): Promise<ChatRun> {
  return runChat((folder) => args.split(" ").map((arg) => arg.replace("DIR", folder)), {
    answer: answerNow,
    ...options,
  });
}

/** When requests were sent, in milliseconds after the command was started. */
function sentMs({ files, startedMs }: ChatRun, folder: string): number[] {
  const text = files.get(join("artifacts", folder, "profile_export.json"));
  assert.ok(text !== undefined, [...files.keys()].join(" "));
  const { experiments } = JSON.parse(text) as { experiments: { requests: { timestamp: number }[] }[] };
  const sent = (experiments[0]?.requests ?? []).map(({ timestamp }) => timestamp / 1e6).sort((a, b) => a - b);
  return sent.map((ms) => ms - startedMs);
}

/** No request is sent before it is due, however busy the machine is. @param dueMs after the start of the load */
function checkDue(times: readonly number[], dueMs: readonly number[]): void {
  assert.equal(times.length, dueMs.length);
  for (const [index, due] of dueMs.entries())
    assert.ok((times[index] as number) >= due - 2, `sent at ${times.join(", ")} ms, due at ${dueMs.join(", ")}`);
}

const CONCURRENCY_1 = "tiny-openai-chat-concurrency1";

test("-H after -- is sent beside the headers before it", LIMIT, async () => {
  const seen: unknown[] = [];
  const answer = (response: ServerResponse): void => {
    seen.push([response.req.headers["x-one"], response.req.headers["x-two"]]);
    answerNow(response);
  };
  const { code, err } = await profile("-H X-One:1 --request-count 2 -- -H X-Two:2", { answer });
  assert.equal(code, 0, err);
  assert.deepEqual(seen, [
    ["1", "2"],
    ["1", "2"],
  ]);
});

test("--request-count and --warmup-request-count after -- win over those before it", LIMIT, async () => {
  const ran = await profile("--request-count 9 --warmup-request-count 7 -- --request-count 3 --warmup-request-count 2");
  assert.equal(ran.code, 0, ran.err);
  assert.equal(ran.requestCount, 5);
  assert.equal(sentMs(ran, CONCURRENCY_1).length, 3);
});

test("--concurrency-range after -- is the load, and the folder's name", LIMIT, async () => {
  let outstanding = 0;
  let most = 0;
  const answer = (response: ServerResponse): void => {
    most = Math.max(most, ++outstanding);
    response.on("finish", () => outstanding--);
    answerChat(response);
  };
  const ran = await profile("--concurrency 1 --request-count 6 -- --concurrency-range 3 stray", { answer });
  assert.equal(ran.code, 0, ran.err);
  assert.equal(most, 3);
  assert.equal(sentMs(ran, "tiny-openai-chat-concurrency3").length, 6);
});

test("--request-rate-range after -- sends at that rate", LIMIT, async () => {
  const ran = await profile("--request-count 20 -- --request-rate-range 20");
  assert.equal(ran.code, 0, ran.err);
  const dueMs = Array.from({ length: 20 }, (_, index) => 50 * (index + 1));
  checkDue(sentMs(ran, "tiny-openai-chat-request_rate20.0"), dueMs);
});

test("--request-distribution poisson after -- draws the gaps", LIMIT, async () => {
  const { out } = await profile("--request-rate 50 --request-count 50 --dry-run -- --request-distribution poisson");
  const { load } = JSON.parse(out) as Plan;
  assert.deepEqual(["distribution" in load && load.distribution, "seed" in load], ["poisson", true]);
});

test("--request-intervals after -- sends at the file's gaps", LIMIT, async () => {
  const folder = makeFolder();
  const file = writeIn(folder, "gaps.txt", "20000\n90000\n");
  const ran = await profile(`--request-count 6 -- --request-intervals ${file}`);
  assert.equal(ran.code, 0, ran.err);
  checkDue(sentMs(ran, "tiny-openai-chat-request_intervals"), [20, 110, 130, 220, 240, 330]);
  const both = await profile(`--concurrency 2 -- --request-intervals ${file}`);
  assert.deepEqual([both.code, both.requestCount], [1, 0]);
  assert.match(both.err, /Cannot use both Concurrency and CustomIntervals inference load modes\./);
});

test("--fixed-schedule after -- sends a payload file at its times", LIMIT, async () => {
  const folder = makeFolder();
  const file = join(folder, "times.jsonl");
  const lines = [0, 150, 250].map((timestamp) => JSON.stringify({ text_input: "a b", timestamp, output_length: 2 }));
  await writeFile(file, lines.join("\n"));
  const ran = await profile(`--input-file payload:${file} -- --fixed-schedule`);
  assert.equal(ran.code, 0, ran.err);
  checkDue(sentMs(ran, "tiny-openai-chat-fixed_schedule"), [0, 150, 250]);
});

test("--session-concurrency after -- holds synthetic conversations", LIMIT, async () => {
  const talk = (response: ServerResponse): void => {
    response.writeHead(200).end('{"choices":[{"message":{"role":"assistant","content":"the"}}]}');
  };
  const ran = await profile("--num-sessions 3 --session-turns-mean 2 -- --session-concurrency 2", { answer: talk });
  assert.deepEqual([ran.code, ran.requestCount], [0, 6], ran.err);
  assert.ok([...ran.files.keys()].includes(join("artifacts", "tiny-openai-chat-session_concurrency2")));
});

test("-p and -s after -- set windows, -v shows them, -f writes perf_analyzer's table", LIMIT, async () => {
  const ran = await profile("--measurement-interval 60000 -- -p 60 -s 1000000 -v -f DIR/table.csv");
  assert.equal(ran.code, 0, ran.err);
  assert.match(ran.out, /^ {2}Pass \[3\] throughput: .* infer\/sec\. Avg latency: /m);
  assert.match(ran.out, /GenAI-Perf \| LLM Metrics/);
  const [head = "", row = ""] = (ran.files.get("table.csv") ?? "").split("\n");
  assert.match(head, /^Concurrency,Inferences\/Second,/);
  assert.match(row, /^1,\d/);
  assert.doesNotMatch(ran.err, /no effect/);
});

test("without -v after -- nothing of perf_analyzer is printed", LIMIT, async () => {
  const { code, out, err } = await profile("--request-count 2");
  assert.equal(code, 0, err);
  assert.doesNotMatch(out, /Measurement Settings|Inferences\/Second/);
});

test("--ssl-https-ca-certificates-file after -- sets the trusted authorities", LIMIT, async () => {
  const certificates = await makeCertificates();
  const [cert, key] = [readFileSync(certificates.certFile), readFileSync(certificates.keyFile)];
  const server = createTlsServer({ cert, key }, (request, response) => {
    request.resume().on("end", () => answerNow(response));
  });
  await listen(server as unknown as Server);
  try {
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const trust = `--ssl-https-ca-certificates-file ${certificates.caFile}`;
    const trusted = await profile(`--url ${url} --request-count 2 -- ${trust}`);
    assert.equal(trusted.code, 0, trusted.err);
    assert.equal(sentMs(trusted, CONCURRENCY_1).length, 2);
    assert.equal((await profile(`--url ${url} --request-count 2`)).code, 1);
  } finally {
    server.closeAllConnections();
    server.close();
    await certificates.remove();
  }
});

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, "localhost", resolve));
}

test("--max-threads after -- limits the lanes, and gRPC's flags reach a Triton's plan", LIMIT, async () => {
  const plan = async (args: string): Promise<Record<string, Record<string, unknown>>> => {
    const { code, out, err } = await profile(`--dry-run${args}`);
    assert.equal(code, 0, err);
    return JSON.parse(out) as Record<string, Record<string, unknown>>;
  };
  assert.equal((await plan(""))["client"]?.["maxLanes"], null);
  // 16 is perf_analyzer's default, and no limit is the profile's.
  assert.equal((await plan(" -- --max-threads 16"))["client"]?.["maxLanes"], 16);
  const flags = "--grpc-compression-algorithm gzip --request-parameter p:5:int -x 3 --shape x:3";
  const { target } = await plan(` --endpoint-type kserve --backend vllm -- ${flags}`);
  const { compression, parameters, modelVersion, shapes } = target ?? {};
  assert.deepEqual(
    { compression, parameters, modelVersion, shapes },
    {
      compression: "gzip",
      parameters: { p: { type: "int", value: "5" } },
      modelVersion: "3",
      shapes: { text_input: [1], x: [3] },
    },
  );
});

test("parts of the plan without a perf_analyzer option are unchanged", LIMIT, async () => {
  const plan = async (args: string): Promise<Record<string, Record<string, unknown>>> => {
    const { code, out, err } = await profile(`--dry-run ${args}`);
    assert.equal(code, 0, err);
    return JSON.parse(out) as Record<string, Record<string, unknown>>;
  };
  const own =
    "--request-rate 5 --request-rate-distribution gamma --request-rate-smoothness 2 --concurrency-limit 7 --request-rate-ramp-duration 3 --request-cancellation-rate 9 --more-urls b:1 -H X-One:1 --request-count 30";
  const before = await plan(own);
  const after = await plan(`${own} -- -H X-Two:2 --max-threads 3 --request-count 40`);
  assert.deepEqual(after["load"], before["load"]);
  assert.equal(after["load"]?.["distribution"], "gamma");
  assert.deepEqual(after["target"], {
    ...before["target"],
    // Each run has a server of its own.
    url: after["target"]?.["url"],
    headers: [
      ["X-One", "1"],
      ["X-Two", "2"],
    ],
  });
  assert.deepEqual(after["client"], { ...before["client"], maxLanes: 3 });
  assert.deepEqual(after["measurement"]?.["mode"], { kind: "requests", count: 40 });
  for (const part of ["cancellation", "sequences", "telemetry"]) assert.deepEqual(after[part], before[part]);
});

test("--periodic-concurrency-range after -- is the load, and sets the number of requests", LIMIT, async () => {
  const flags = "--endpoint-type kserve --dry-run -- --periodic-concurrency-range 2:6:2 --request-period 3";
  const { code, out, err } = await profile(flags);
  assert.equal(code, 0, err);
  const { load, measurement } = JSON.parse(out) as Plan;
  assert.deepEqual(load, { kind: "periodic-concurrency", start: 2, end: 6, step: 2, periodResponses: 3 });
  assert.deepEqual(measurement.mode, { kind: "requests", count: 6 });
  assert.match(err, /files in: .*tiny-triton-tensorrtllm-periodic_concurrency$/m);
});

test("options without effect are reported", LIMIT, async () => {
  const args =
    "--async --percentile 90 --max-trials 3 -p 300 --ssl-https-verify-peer 0 --verbose-csv stray --string-length 4 --trace-rate 3 --model-repository /m";
  const { code, err } = await profile(`--request-count 2 -- ${args}`);
  assert.equal(code, 0, err);
  for (const flag of ["--async", "--percentile 90", "--max-trials 3", "-p 300", "--verbose-csv"])
    assert.ok(err.includes(`rampart: ${flag} after -- has no effect here.\n`), `${flag}: ${err}`);
  for (const flag of ["--string-length", "--trace-rate", "--model-repository"])
    assert.ok(err.includes(`rampart: ${flag} has no effect with --service-kind openai.\n`), `${flag}: ${err}`);
  assert.match(err, /the --ssl-https flags have no effect without an https:\/\/ URL/);
  assert.match(err, /'stray' is ignored/);
});

const KSERVE = "--endpoint-type kserve";

for (const [args, ...words] of [
  ["-- -m other --input-data f --binary-search", /-m after -- contradicts/, /--input-data after --/, /--binary-search/],
  ["-- --service-kind triton -u x:1", /--service-kind after -- contradicts/, /-u after -- contradicts/],
  ["-- --profile-export-file x", /--profile-export-file after -- contradicts/],
  ["-- --endpoint v1/x --streaming", /--endpoint after -- contradicts/, /--streaming after -- contradicts/],
  ["-- --grpc-method a.B/C", /--grpc-method after -- contradicts/],
  ["-- --bogus", /Invalid long option '--bogus'/],
  ["-- --sync --max-threads 0", /Failed to parse --max-threads\. The value must be > 0\./],
  ["-- --sync", /--sync/],
  [
    "-- --concurrency-range 1:4",
    /must be one plain number: a profile is measured under one load\n.*analyze --sweep-type/,
  ],
  ["-- --concurrency-range 0", /The start of the search range must be > 0/],
  ["-- --json x", /--json is not an option of perf_analyzer/],
  [
    "-- --periodic-concurrency-range 1:4",
    /--periodic-concurrency-range option requires bi-directional gRPC streaming\.\n {2}Give --endpoint-type kserve or/,
  ],
  [
    `${KSERVE} --request-count 4 -- --periodic-concurrency-range 1:4`,
    /Cannot specify `--request-count` when using `--periodic-concurrency-range`/,
  ],
  [
    `${KSERVE} --concurrency 4 -- --periodic-concurrency-range 1:4`,
    /Cannot use both PeriodicConcurrency and Concurrency inference load modes/,
  ],
  [
    `${KSERVE} --benchmark-duration 4 --warmup-duration 1 -- --periodic-concurrency-range 1:4`,
    /--benchmark-duration cannot be used with a load after -- that sends each of its requests once/,
    /--warmup-duration cannot be used with a load after --/,
  ],
  ["-- --fixed-schedule", /a fixed schedule needs a payload file/],
  ["-- --concurrency-range 4:1", /--concurrency-range after -- must be one plain number/],
  ["-- --session-concurrency 2x", /--session-concurrency after -- must be one plain number/],
  ["--request-rate 5 -- --concurrency-range 4", /Cannot use both Concurrency and RequestRate inference load modes/],
  ["--concurrency 2 -- --request-rate-range 5", /Cannot use both Concurrency and RequestRate inference load modes/],
  ["-- --request-rate-range 5 --concurrency-range 2", /Cannot use both Concurrency and RequestRate inference load/],
] as const) {
  test(`refused before anything is sent or written: ${args}`, LIMIT, async () => {
    const ran = await profile(args);
    assert.deepEqual([ran.code, ran.requestCount, ran.out, [...ran.files.keys()]], [1, 0, "", []], ran.err);
    for (const word of words) assert.match(ran.err, word);
  });
}

test("analyze passes the flags on with each point, but no load beside a sweep of loads", LIMIT, async () => {
  const seen: unknown[] = [];
  const answer = (response: ServerResponse): void => {
    seen.push(response.req.headers["x-two"]);
    answerNow(response);
  };
  const sweep = "--request-count 2 --sweep-type concurrency --sweep-list 1,2";
  const ran = await profile(`${sweep} -- -H X-Two:2`, { answer, subcommand: "analyze" });
  assert.equal(ran.code, 0, ran.err);
  assert.deepEqual(seen, ["2", "2", "2", "2"]);
  const refused = await profile(`${sweep} -- --concurrency-range 4`, { subcommand: "analyze" });
  assert.deepEqual([refused.code, refused.requestCount], [1, 0]);
  assert.match(refused.err, /--concurrency-range after -- and a sweep of concurrency are both a load/);
});

test("config passes the flags on; subcommands that do not measure reject them", LIMIT, async () => {
  const folder = makeFolder();
  const seen: unknown[] = [];
  using server = closing(
    createServer((request, response) => {
      seen.push(request.headers["x-two"]);
      request.resume().on("end", () => answerNow(response));
    }),
  );
  await listen(server);
  const lines = [
    "model_name: tiny",
    `endpoint: {type: chat, streaming: true, url: "localhost:${(server.address() as AddressInfo).port}"}`,
    "input: {num_dataset_entries: 2}",
    `output: {artifact_directory: ${JSON.stringify(join(folder, "artifacts"))}}`,
    `tokenizer: {name: ${JSON.stringify(TINY)}}`,
  ];
  const file = writeIn(folder, "run.yaml", lines.join("\n"));
  const args = ["--", "-H", "X-Two:2", "--request-count", "3"];
  const ran = await runCaptured(["config", "-f", file, ...args]);
  assert.equal(ran.code, 0, ran.err);
  assert.deepEqual(seen, ["2", "2", "2"]);
  for (const subcommand of ["create-template", "process-export-files"]) {
    const more = subcommand === "create-template" ? ["-f", join(folder, "new.yaml")] : ["-d", folder];
    const { code, err } = await runCaptured([subcommand, ...more, "--", "-v"]);
    assert.equal(code, 1);
    assert.match(err, new RegExp(`after -- cannot be used with ${subcommand}`));
  }
});

test("every option that is refused after -- is one of perf_analyzer's", () => {
  const names = OPTIONS.map((option) => option.names[0]);
  assert.deepEqual(
    [...Object.keys(PASSED_REFUSALS), ...Object.keys(PASSED_HINTS)].filter(
      (name) => !names.some((one) => one === name),
    ),
    [],
  );
});

test("a checkpoint distinguishes runs with other flags after --", () => {
  const [plain, one, two] = [[], ["--", "-H", "a:1"], ["--", "-H", "a:2"]].map((more) => {
    const { asked } = readGood("profile", "-m", "a", ...more);
    return fingerprintOf(toPassedPlan(asked, "", []));
  });
  assert.equal(new Set([plain, one, two]).size, 3);
});
