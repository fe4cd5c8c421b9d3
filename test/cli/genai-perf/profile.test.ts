import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { backendOf } from "../../../src/cli/genai-perf/profile/backend-hint.ts";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../../src/plan/mock.ts";
import { loadTokenizer } from "../../../src/tokenize/load-tokenizer.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { type Answer, endLater, startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { createFolder, runRampart } from "../rampart-process.ts";
import { readAll, runCaptured } from "./run-captured.ts";

/** `genai-perf profile` against a small server: what is sent, printed, written, and said of failures. */

const EVENTS = { "Content-Type": "text/event-stream" };
const REQUESTS = 8;

interface Received {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly stream?: boolean;
    readonly max_tokens?: number;
    readonly messages?: readonly { readonly content: string }[];
    readonly input?: readonly string[];
  };
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly received: readonly Received[];
  /** Files below the artifact folder by their paths in it. */
  readonly files: ReadonlyMap<string, string>;
}

const answerChat: Answer = (response) => {
  response.writeHead(200, EVENTS);
  const event = (delta: object): string => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;
  response.write(event({ role: "assistant", content: "" }));
  response.write(event({ content: "the" }));
  endLater(response, `${event({ content: " the" })}data: [DONE]\n\n`);
};
const answerOnce: Answer = (response) =>
  response
    .writeHead(200)
    .end('{"object":"list","data":[{"embedding":[0.5]}],"choices":[{"message":{"content":"the"}}]}');

/** @param makeArgs what follows `genai-perf`, given the server's URL and a folder for files */
async function run(
  answer: Answer,
  makeArgs: (url: string, folder: string) => string[] | Promise<string[]>,
): Promise<Ran> {
  const folder = makeFolder();
  using server = await startAnsweringServer(answer);
  const args = await makeArgs(server.url, folder);
  const captured = await runCaptured(args);
  const received = server.received.map(
    ({ path, headers, text }): Received => ({ path, authorization: headers.authorization, body: JSON.parse(text) }),
  );
  return { ...captured, received, files: await readAll(join(folder, "artifacts")) };
}

function plotsOf({ files }: Ran): string[] {
  const folder = join(FOLDER, "plots", "/");
  return [...files.keys()].flatMap((path) => (path.startsWith(folder) ? [path.slice(folder.length)] : [])).sort();
}

function profile(...more: readonly string[]): (url: string, folder: string) => string[] {
  return (url, folder) => [
    ..."profile -m tiny --synthetic-input-tokens-mean 30 --num-dataset-entries 4 --random-seed 7".split(" "),
    ...["--request-count", String(REQUESTS), "--tokenizer", TINY, "--url", url],
    ...["--artifact-dir", join(folder, "artifacts"), ...more],
  ];
}

/** @param input keys of a file's `input` */
function configured(input: string): (url: string, folder: string) => string[] {
  return (url, folder) => [
    ...["config", "-f", writeIn(folder, "run.yaml", `input: {num_dataset_entries: 4, random_seed: 7, ${input}}`)],
    ..."--override-config -m tiny --endpoint-type chat --streaming".split(" "),
    ...["--request-count", String(REQUESTS), "--tokenizer", TINY, "--url", url],
    ...["--artifact-dir", join(folder, "artifacts")],
  ];
}

const CHAT = ["--endpoint-type", "chat", "--streaming"] as const;
const FOLDER = "tiny-openai-chat-concurrency1";

describe("genai-perf profile", () => {
  test("streamed chat: exact prompts are sent, and table, JSON, CSV and inputs written", LIMIT, async () => {
    const { code, out, err, received, files } = await run(answerChat, profile(...CHAT, "--output-tokens-mean", "2"));
    assert.equal(code, 0, err);
    const tokenizer = await loadTokenizer(TINY);
    assert.equal(received.length, REQUESTS);
    for (const { path, body } of received) {
      assert.equal(path, "/v1/chat/completions");
      assert.deepEqual([body.model, body.stream, body.max_tokens], ["tiny", true, 2]);
      assert.equal(tokenizer.count(body.messages?.[0]?.content ?? ""), 30);
    }
    assert.match(out, /NVIDIA GenAI-Perf \| LLM Metrics/);
    assert.match(out, /│ +Request Count \(count\) │ +8\.00 │ +N\/A │/);
    assert.deepEqual([...files.keys()].sort(), [
      FOLDER,
      ...["inputs.json", "profile_export.json", "profile_export_genai_perf.csv", "profile_export_genai_perf.json"].map(
        (name) => join(FOLDER, name),
      ),
      join(FOLDER, "profile_export_genai_perf_rampart.json"),
    ]);
    const report = JSON.parse(files.get(join(FOLDER, "profile_export_genai_perf.json")) ?? "{}");
    assert.deepEqual([report.request_count.avg, report.input_sequence_length.max], [REQUESTS, 30]);
    assert.equal(report.output_sequence_length.avg, tokenizer.count("the the"));
    assert.ok(report.time_to_first_token.avg > 0 && report.time_to_second_token.avg > 0);
    assert.equal(report.input_config.endpoint.type, "chat");
    const inputs = JSON.parse(files.get(join(FOLDER, "inputs.json")) ?? "{}");
    assert.deepEqual(inputs.data[0].payload[0], received[0]?.body);
    assert.match(files.get(join(FOLDER, "profile_export_genai_perf.csv")) ?? "", /^Request Count \(count\),8\.00$/m);
  });

  test(
    "lengths of 0 in a file: an empty prompt and a response of one token, as the original asks for, and both are reported",
    LIMIT,
    async () => {
      const empty = await run(answerChat, configured("synthetic_tokens: {mean: 0}, output_tokens: {mean: 0}"));
      assert.equal(empty.code, 0, empty.err);
      for (const { body } of empty.received) assert.deepEqual([body.messages?.[0]?.content, body.max_tokens], ["", 1]);
      assert.match(
        empty.err,
        /^rampart: \S+run\.yaml:1:\d+ 0: synthetic prompts have no text of their own, .* refuse/m,
      );
      assert.match(empty.err, /^rampart: \S+run\.yaml:1:\d+ 0: requests ask for one token/m);
      const report = JSON.parse(empty.files.get(join(FOLDER, "profile_export_genai_perf.json")) ?? "{}");
      assert.equal(report.input_sequence_length.max, 0);
      const spread = await run(answerChat, configured("synthetic_tokens: {mean: 0, stddev: 5}"));
      const tokenizer = await loadTokenizer(TINY);
      assert.ok(spread.received.every(({ body }) => tokenizer.count(body.messages?.[0]?.content ?? "") >= 1));
      assert.match(spread.err, /run\.yaml:1:\d+ 0: lengths that are drawn below one token count as one/);
      const prefix = "prefix_prompt: {num: 1, length: 9}";
      const prefixed = await run(answerChat, configured(`synthetic_tokens: {mean: 0}, ${prefix}`));
      for (const { body } of prefixed.received) assert.equal(tokenizer.count(body.messages?.[0]?.content ?? ""), 9);
    },
  );

  test("embeddings have latencies and no tokens", LIMIT, async () => {
    const args = ["--endpoint-type", "embeddings", "-b", "2", "--request-rate", "1000", "--request-count", "1000"];
    const { code, out, err, received } = await run(answerOnce, profile(...args));
    assert.equal(code, 0, err);
    assert.deepEqual([received[0]?.path, received[0]?.body.input?.length], ["/v1/embeddings", 2]);
    assert.match(out, /Embeddings Metrics/);
    assert.doesNotMatch(out, /Token/);
  });

  test("plots are one page, or a picture each, and those of an earlier run do not stay", LIMIT, async () => {
    const page = await run(answerChat, profile(...CHAT, "--generate-plots"));
    assert.equal(page.code, 0, page.err);
    assert.match(page.err, /rampart: plots: .*plots\.html\n/);
    assert.match(page.err, /not drawn: Request Throughput Over Time: the run was shorter than/);
    assert.deepEqual(plotsOf(page), ["plots.html"]);
    const html = page.files.get(join(FOLDER, "plots", "plots.html")) ?? "";
    assert.match(html, /<h1>tiny-openai-chat-concurrency1<\/h1>[\s\S]*<span>Requests 8<\/span>/);
    const options = JSON.parse(/id="data">(.*?)<\/script>/.exec(html)?.[1] ?? "").options;
    assert.equal(options[0].series[1].data.length, REQUESTS, "a point for each request");
    // Each response has two pieces: one gap, at position 1.
    assert.deepEqual(
      options[4].series[0].data.map(([position]: number[]) => position),
      new Array(REQUESTS).fill(1),
    );

    const failing: Answer = (response, index) => {
      if (index === 0) response.writeHead(500).end();
      else answerChat(response, index);
    };
    const pictures = await run(failing, async (url, folder) => {
      const old = join(folder, "artifacts", FOLDER, "plots");
      await mkdir(old, { recursive: true });
      for (const name of ["plots.html", "old.svg", "own.txt"]) await writeFile(join(old, name), "");
      return profile(...CHAT, "--generate-plots", "--plot-formats", "svg")(url, folder);
    });
    const names = plotsOf(pictures);
    assert.ok(names.includes("time_to_first_token.svg") && names.includes("request_latency.svg"), names.join());
    assert.ok(names.includes("token-to-token_latency_vs_output_token_position.svg"), names.join());
    assert.deepEqual(
      names.filter((name) => !name.endsWith(".svg") || name === "old.svg"),
      ["own.txt"],
    );
  });

  test("failed requests are counted and explained; the rest is reported, and the exit code tells", LIMIT, async () => {
    const answer: Answer = (response, index) => {
      if (index % 4 === 1) response.writeHead(500).end('{"error":{"message":"boom"}}');
      else answerChat(response, index);
    };
    const strict = await run(answer, profile(...CHAT));
    assert.equal(strict.code, 1);
    assert.match(strict.err, /2 of 8 requests failed[\s\S]*2 x http: HTTP status 500: boom/);
    assert.match(strict.out, /Request Count \(count\) │ +6\.00/);
    const lenient = await run(answer, profile(...CHAT, "--max-error-rate", "50%"));
    assert.equal(lenient.code, 0, lenient.err);
    assert.equal((await run(answer, profile(...CHAT, "--max-error-rate", "100%"))).code, 0);
    const nothing = await run((response) => response.writeHead(503).end(), profile(...CHAT));
    assert.equal(nothing.code, 1);
    assert.match(nothing.err, /8 x http: HTTP status 503/);
    assert.deepEqual([nothing.out, [...nothing.files.keys()].sort()], ["", [FOLDER, join(FOLDER, "inputs.json")]]);
  });

  test("an API key is sent and stands in no file", LIMIT, async () => {
    process.env["RAMPART_TEST_KEY"] = "sk-secret-1";
    try {
      const keyed = [...CHAT, "--api-key-env", "RAMPART_TEST_KEY"];
      const { code, out, err, received, files } = await run(answerChat, profile(...keyed));
      assert.equal(code, 0, err);
      assert.ok(received.every(({ authorization }) => authorization === "Bearer sk-secret-1"));
      assert.doesNotMatch([out, err, ...files.values()].join("\n"), /sk-secret-1/);
      const missing = await run(answerChat, profile(...CHAT, "--api-key-env", "RAMPART_TEST_NO_KEY"));
      assert.equal(missing.code, 1);
      assert.match(missing.err, /no variable RAMPART_TEST_NO_KEY/);
    } finally {
      delete process.env["RAMPART_TEST_KEY"];
    }
  });

  test("a YAML file is run", LIMIT, async () => {
    const { code, err, received } = await run(answerChat, async (url, folder) => {
      const file = join(folder, "run.yaml");
      const lines = [
        "model_name: tiny",
        `endpoint: { type: chat, streaming: True, url: "${url}" }`,
        "perf_analyzer: { stimulus: { concurrency: 2 }, measurement: { mode: request_count, num: 6 } }",
        "input: { num_dataset_entries: 2, synthetic_tokens: { mean: 12 } }",
        `output: { artifact_directory: "${join(folder, "artifacts")}" }`,
        `tokenizer: { name: "${TINY}" }`,
      ];
      await writeFile(file, `${lines.join("\n")}\n`);
      return ["config", "-f", file];
    });
    assert.equal(code, 0, err);
    assert.equal(received.length, 6);
  });

  const refused: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
    [["--bogus"], 2, /unrecognized arguments: --bogus/],
    [[...CHAT, "--grpc-method", "a.b/C"], 1, /--grpc-method cannot be used with the endpoint type chat/],
    [
      [...CHAT, "--tokenizer", "nowhere/none-such", "--tokenizer-trust-remote-code"],
      1,
      /--tokenizer-trust-remote-code: .* not run/,
    ],
    [[...CHAT, "--plot-formats", "svg"], 1, /--plot-formats needs --generate-plots/],
    [[...CHAT, "--generate-plots", "--plot-formats", "png"], 2, /--plot-formats[\s\S]*png[\s\S]*html[\s\S]*svg/],
    [[...CHAT, "--header", "nocolon"], 1, /--header: a header needs a colon/],
    [[...CHAT, "--input-file", "payload:nowhere.jsonl"], 1, /nowhere\.jsonl/],
  ];
  for (const [args, code, message] of refused) {
    test(`refused before anything is sent or written: ${args.join(" ")}`, LIMIT, async () => {
      const ran = await run(answerChat, profile(...args));
      assert.equal(ran.code, code, ran.err);
      assert.match(ran.err, message);
      assert.deepEqual([ran.received.length, ran.files.size, ran.out], [0, 0, ""]);
    });
  }

  test("other subcommands, help and version", LIMIT, async () => {
    const none = await run(answerChat, () => []);
    assert.deepEqual([none.code, none.out], [2, ""]);
    const help = await run(answerChat, () => ["profile", "--help"]);
    assert.equal(help.code, 0);
    assert.match(help.out, /--synthetic-input-tokens-mean/);
    let text = "";
    const template = await run(answerChat, async (_url, folder) => {
      text = join(folder, "artifacts");
      return ["create-template", "-f", text];
    });
    assert.equal(template.code, 0, template.err);
    assert.match(template.out, /Template created/);
  });
});

/** A wrong `--backend` is one problem, not one for each tensor of each entry. */

test("a model's inputs say its backend", () => {
  const cases = [
    [["max_tokens", "stop_words", "text_input"], "tensorrtllm"],
    [["exclude_input_in_output", "sampling_parameters", "stream", "text_input"], "vllm"],
    [["text_input"], undefined],
    [["INPUT0", "INPUT1"], undefined],
  ] as const;
  for (const [inputs, backend] of cases) assert.equal(backendOf(inputs), backend);
});

test("a model with other inputs is named with them", async () => {
  await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
  const args = ["-m", "simple", "--endpoint-type", "kserve", "--backend", "vllm", "--request-count", "2"];
  const input = ["--tokenizer", "none", "--input-file", "in.jsonl", "-u", `127.0.0.1:${mock.grpcPort}`];
  using folder = createFolder({ "in.jsonl": '{"text":"x"}\n{"text":"y"}\n' });
  const { code, err } = await runRampart(["genai-perf", "profile", ...args, ...input], { cwd: folder.path });
  assert.match(err, /^Error: .*the model simple takes INPUT0, INPUT1, which is not what --backend vllm sends$/m);
  assert.match(err, /^ {2}Its backend is neither tensorrtllm nor vllm: measure it with rampart perf_analyzer\.$/m);
  assert.equal(err.match(/^Error: /gm)?.length, 1);
  assert.equal(code, 1);
});
