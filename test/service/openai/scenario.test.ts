import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import type { Problem } from "../../../src/plan/problem.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { shownUnitOf } from "../../../src/registry/mix.ts";
import { goodput, mean, outputTokensPerSec, p99, percentile } from "../../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../../src/scenario/define.ts";
import { DURATION_RULE } from "../../../src/scenario/fields.ts";
import { json, random } from "../../../src/scenario/inputs.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { sessions } from "../../../src/scenario/loads/sessions.ts";
import { type PromptOptions, payloads, prompts } from "../../../src/scenario/prompts.ts";
import { embeddedLlm, openai } from "../../../src/scenario/targets/llm.ts";
import { triton } from "../../../src/scenario/targets/triton.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { LLM_ENDPOINTS, type LlmEndpointName } from "../../../src/service/openai/endpoints.ts";
import { problemsIn } from "../../plan/refused.ts";
import { untyped } from "../../scenario/untyped.ts";

/** Scenarios of generative models: their plans, and what untyped callers are told. */

const streamed = openai("host:1", { model: "m", streaming: true, tokenizer: "./tok" });
const least: Record<string, unknown> = { name: "x", target: streamed, load: hold(1), inputs: prompts() };

function planOf(change: Record<string, unknown> = {}): Plan {
  return toPlan(untyped(defineScenario)({ ...least, ...change }) as Scenario, "/folder");
}

const problemsOf = (change: Record<string, unknown>): readonly Problem[] => problemsIn(() => planOf(change));

describe("the plan of a generative model", () => {
  test("makes prompts with the built-in tokenizer where the target has none, and says so", () => {
    const made = planOf({ target: plain });
    const { tokenizer, revision, isApproximate } = made.inputs as Record<string, unknown>;
    assert.deepEqual([tokenizer, revision, isApproximate], ["o200k_base", "main", true]);
    assert.equal(made.measurement.tokens?.tokenizer, "none");
    const fromFile = planOf({ target: plain, inputs: prompts({ file: "p.jsonl" }) }).inputs as Record<string, unknown>;
    assert.deepEqual([fromFile["tokenizer"], fromFile["isApproximate"]], ["none", undefined]);
    assert.equal("isApproximate" in planOf().inputs, false);
  });

  test("says what to use if no tokenizer is named and the one of the model cannot be loaded", () => {
    const made = planOf({ target: openai("h", { model: "m" }) });
    const other = { tokenizer: "o200k_base", revision: "main", isApproximate: true };
    assert.deepEqual((made.inputs as { ifNotLoaded?: object }).ifNotLoaded, other);
    assert.deepEqual(made.measurement.tokens?.ifNotLoaded, { tokenizer: "none" });
    for (const named of [{ tokenizer: "m" }, { tokenizerRevision: "v2" }]) {
      const { inputs, measurement } = planOf({ target: openai("h", { model: "m", ...named }) });
      assert.equal("ifNotLoaded" in inputs, false);
      assert.equal("ifNotLoaded" in (measurement.tokens ?? {}), false);
    }
  });

  test("counts requests per second, with tokens and without", () => {
    for (const endpoint of ["chat", "embeddings", "rankings"] as const)
      assert.equal(shownUnitOf(planOf({ target: openai("h", { model: "m", endpoint }) })), "req/s", endpoint);
  });

  test("has the documented defaults", () => {
    const { target, inputs, measurement, client } = planOf();
    assert.equal(target.kind, "openai");
    assert.deepEqual(
      { ...target, tls: undefined },
      {
        kind: "openai",
        url: "host:1",
        protocol: "http",
        endpoint: "v1/chat/completions",
        model: "m",
        batchSize: 1,
        isStreaming: true,
        headers: [],
        tls: undefined,
      },
    );
    assert.deepEqual(inputs, {
      kind: "prompts",
      format: "chat",
      model: "m",
      isStreaming: true,
      tokenizer: "/folder/tok",
      revision: "main",
      file: "",
      seed: 0,
      count: 100,
      isl: { mean: 550, stddev: 0 },
      osl: null,
      mix: [],
      prefix: null,
      sessions: null,
      systemTokens: 0,
      textsPerRequest: 1,
      images: null,
      extra: {},
    });
    const tokens = { responses: "chat", isStreamed: true, tokenizer: "/folder/tok", revision: "main" };
    assert.deepEqual(measurement.tokens, tokens);
    assert.equal(client.callMode, "async");
  });

  test("carries every option", () => {
    const target = openai("https://host/v", {
      model: "org/m",
      endpoint: "generate",
      streaming: true,
      tokenizerRevision: "v2",
      headers: { "x-a": "b" },
      apiKeyEnv: "KEY",
    });
    const inputs = prompts({
      isl: { mean: 20, stddev: 3 },
      osl: 7,
      count: 3,
      seed: 4,
      prefix: { count: 2, tokens: 9 },
      systemTokens: 10,
      extra: { temperature: 0 },
    });
    const plan = planOf({ target, inputs });
    assert.ok(plan.target.kind === "openai");
    assert.equal(plan.target.endpoint, "v2/models/org/m/generate_stream");
    assert.deepEqual(plan.target.headers, [["x-a", "b"]]);
    assert.equal(plan.target.apiKeyEnv, "KEY");
    assert.deepEqual(plan.inputs, {
      kind: "prompts",
      format: "generate",
      model: "org/m",
      isStreaming: true,
      tokenizer: "org/m",
      revision: "v2",
      file: "",
      seed: 4,
      count: 3,
      isl: { mean: 20, stddev: 3 },
      osl: { mean: 7, stddev: 0 },
      mix: [],
      prefix: { count: 2, tokens: 9 },
      sessions: null,
      systemTokens: 10,
      textsPerRequest: 1,
      images: null,
      extra: { temperature: 0 },
    });
  });

  test("has lengths, batches, images and files as requested", () => {
    const inputsOf = (endpoint: LlmEndpointName, options: PromptOptions): object =>
      planOf({ target: openai("h", { model: "m", endpoint }), inputs: prompts(options) }).inputs;
    const parts = [
      { isl: 5, osl: 6, share: "25 %" },
      { isl: 7, osl: { mean: 8, stddev: 1 }, share: "75 %" },
    ] as const;
    const images = { count: 2, width: 64, height: { mean: 32, stddev: 4 } };
    for (const [inputs, expected] of [
      [
        inputsOf("chat", { lengths: parts }),
        {
          mix: [
            { input: { mean: 5, stddev: 0 }, output: { mean: 6, stddev: 0 }, sharePct: 25 },
            { input: { mean: 7, stddev: 0 }, output: { mean: 8, stddev: 1 }, sharePct: 75 },
          ],
        },
      ],
      [inputsOf("embeddings", { batch: 2 }), { textsPerRequest: 2 }],
      [
        inputsOf("multimodal", { images }),
        { images: { count: 2, widthPx: { mean: 64, stddev: 0 }, heightPx: { mean: 32, stddev: 4 } } },
      ],
      [
        inputsOf("multimodal", { images: { ...images, format: "png" }, audio: { length: "3 s" } }),
        {
          images: { count: 2, widthPx: { mean: 64, stddev: 0 }, heightPx: { mean: 32, stddev: 4 }, format: "png" },
          audio: {
            count: 1,
            lengthS: { mean: 3, stddev: 0 },
            format: "wav",
            depthsBits: [16],
            sampleRatesHz: [16_000],
            channelCount: 1,
          },
        },
      ],
      [inputsOf("chat", { file: "p.jsonl" }), { file: "/folder/p.jsonl" }],
    ] as const)
      assert.deepEqual({ ...inputs, ...expected }, inputs);
  });

  for (const endpoint of Object.keys(LLM_ENDPOINTS) as LlmEndpointName[]) {
    test(`${endpoint} is a target`, () => {
      const plan = planOf({
        target: openai("h", { model: "m", endpoint, tokenizer: "none" }),
        inputs: payloads("a.json"),
      });
      assert.deepEqual(plan.inputs, { kind: "payloads", file: "/folder/a.json", readsTags: true });
      assert.ok(plan.target.kind === "openai" && plan.target.endpoint !== "");
      const isText = !["embeddings", "nvclip", "rankings", "cohereRankings", "teiRankings", "imageRetrieval"].includes(
        endpoint,
      );
      assert.equal(plan.measurement.tokens !== undefined, isText);
      checkPlan(plan);
    });
  }

  test("the embedded model responds as configured", () => {
    const target = embeddedLlm({
      endpoint: "messages",
      streaming: true,
      timeToFirstToken: "uniform:1ms:9ms",
      interTokenLatency: "2 ms",
      osl: 3,
      tokensPerEvent: 2,
      reasoningTokens: 1,
      errorRate: "10 %",
      cutRate: "20 %",
      tokenizer: "./tiny",
    });
    const plan = planOf({ target, inputs: payloads("a.json") });
    assert.deepEqual(plan.target, {
      kind: "embedded",
      protocol: "http",
      isStreaming: true,
      batchSize: 1,
      llmPath: "v1/messages",
      mock: {
        latency: { kind: "uniform", minMs: 1, maxMs: 9 },
        errorRatio: 0.1,
        responseBytes: 0,
        llm: {
          firstToken: { kind: "uniform", minMs: 1, maxMs: 9 },
          tokenGapMs: 2,
          osl: 3,
          tokensPerEvent: 2,
          reasoningTokens: 1,
          cutRatio: 0.2,
          tokenizer: "/folder/tiny",
        },
      },
    });
    assert.equal(plan.measurement.tokens?.tokenizer, "/folder/tiny");
    checkPlan(plan);
  });

  test("may be on several servers", () => {
    const { target } = planOf({ target: openai(["a:1", "b:2"], { model: "m", streaming: true }) });
    assert.ok(target.kind === "openai");
    assert.deepEqual([target.url, target.moreUrls], ["a:1", ["b:2"]]);
  });

  const addresses: readonly (readonly [given: string, endpoint: "chat" | "completions" | "embeddings", url: string])[] =
    [
      ["localhost:1/v1", "chat", "localhost:1"],
      ["http://h:1/v1/", "completions", "http://h:1"],
      ["http://h:1/v1/chat/completions", "chat", "http://h:1"],
      ["https://h/gateway/v1", "embeddings", "https://h/gateway"],
      ["https://h/v1/chat", "chat", "https://h/v1/chat"],
      ["https://h/v2", "chat", "https://h/v2"],
    ];
  for (const [given, endpoint, url] of addresses)
    test(`has the base of an address as OpenAI's clients take it: ${given}`, () => {
      const made = openai([given, "b:2/v1"], { model: "m", endpoint, tokenizer: "none" });
      assert.deepEqual([made.url, made.moreUrls], [url, ["b:2"]]);
      assert.equal(openai(given, { model: "m", endpoint, path: "x" }).url, given);
    });

  test("has the conversations of sessions", () => {
    const inputs = prompts({ sessions: { count: 5, turns: { mean: 3, stddev: 1 }, delay: "1.5 s" } });
    const plan = planOf({ inputs, load: sessions(2) });
    assert.ok(plan.inputs.kind === "prompts");
    assert.deepEqual(plan.inputs.sessions, { count: 5, turns: { mean: 3, stddev: 1 }, delayMs: 1500 });
    checkPlan(plan);
  });

  test("has the conversations of a file", () => {
    for (const fileFormat of ["mooncake", "conversations"] as const) {
      const inputs = prompts({ file: "talk.jsonl", fileFormat, delayFactor: 0.5 });
      const plan = planOf({ inputs, load: sessions(2) });
      assert.ok(plan.inputs.kind === "prompts");
      assert.deepEqual([plan.inputs.fileFormat, plan.inputs.delayRatio], [fileFormat, 0.5]);
      checkPlan(plan);
    }
  });

  test("has its assertions in nanoseconds, counts and rates", () => {
    const { assertions } = planOf({
      assert: [
        p99("timeToFirstToken").below("200 ms"),
        mean("interTokenLatency").atMost("20 ms"),
        percentile(5, "outputTokensPerSecPerUser").atLeast(30),
        outputTokensPerSec().above(100),
        goodput({ timeToFirstToken: "100 ms", outputTokensPerSecPerUser: 25 }).atLeast(3),
      ],
    });
    assert.deepEqual(assertions, [
      { metric: { key: "timeToFirstToken", statistic: 99 }, comparison: "below", limit: 2e8 },
      { metric: { key: "interTokenLatency", statistic: "mean" }, comparison: "at-most", limit: 2e7 },
      {
        metric: { key: "outputTokensPerSecPerUser", statistic: 5 },
        comparison: "at-least",
        limit: 30,
      },
      { metric: { key: "outputTokensPerSec" }, comparison: "above", limit: 100 },
      {
        metric: { key: "goodput", limits: { timeToFirstToken: 1e8, outputTokensPerSecPerUser: 25 } },
        comparison: "at-least",
        limit: 3,
      },
    ]);
  });
});

const plain = openai("h", { model: "m", tokenizer: "none" });
const vectors = openai("h", { model: "m", endpoint: "embeddings" });
const retrieval = openai("h", { model: "m", endpoint: "imageRetrieval" });
const multimodal = openai("h", { model: "m", endpoint: "multimodal" });
const held = { count: 2, turns: 3 };
const lengths = [{ isl: 1, osl: 1, share: "100 %" }] as const;
const tensors = { target: triton("h", { model: "m" }), inputs: random() };
const [anyOpenAi, anyPrompts, anyGoodput] = [untyped(openai), untyped(prompts), untyped(goodput)];
const MISTAKES: readonly (readonly [name: string, change: Record<string, unknown>, path: string, says: RegExp])[] = [
  [
    "images in a chat",
    { inputs: prompts({ images: { width: 8, height: 8 } }) },
    "inputs.images",
    /chat have no images/,
  ],
  ["audio in a chat", { inputs: prompts({ audio: { length: "1 s" } }) }, "inputs.audio", /chat have no audio/],
  [
    "audio without a length that can be heard",
    { target: multimodal, inputs: prompts({ audio: { length: "10 ms" } }) },
    "inputs.audio.lengthS",
    /is too short/,
  ],
  [
    "a sample rate that MP3 does not have",
    { target: multimodal, inputs: prompts({ audio: { length: "1 s", format: "mp3", sampleRatesHz: [17] } }) },
    "inputs.audio.sampleRatesHz",
    /is not a sample rate of MP3/,
  ],
  [
    "an audio length without its unit",
    { target: multimodal, inputs: anyPrompts({ audio: { length: 3 } }) },
    "inputs.audio.length",
    /a duration such as "3 s"/,
  ],
  [
    "images in conversations",
    {
      target: multimodal,
      load: sessions(2),
      inputs: prompts({ images: { width: 8, height: 8 }, sessions: held }),
    },
    "inputs.images",
    /conversations have no media/,
  ],
  ["several texts in a chat", { inputs: prompts({ batch: 2 }) }, "inputs.batch", /chat have one text/],
  ["lengths of vectors", { target: vectors, inputs: prompts({ osl: 5 }) }, "inputs.osl", /embeddings have no tokens/],
  ["no image to find", { target: retrieval }, "inputs.images", /imageRetrieval needs images/],
  ["conversations one by one", { inputs: prompts({ sessions: held }) }, "inputs.sessions", /needs the load sessions/],
  ["no conversations", { load: sessions(2) }, "inputs.sessions", /is required by the load/],
  [
    "conversations and a count",
    { load: sessions(2), inputs: prompts({ count: 3, sessions: held }) },
    "inputs.sessions",
    /already sets the number of requests/,
  ],
  ["a length beside several", { inputs: prompts({ isl: 1, lengths }) }, "inputs.lengths", /has its own isl and osl/],
  ["lengths beside a file", { inputs: prompts({ isl: 1, file: "p.jsonl" }) }, "inputs.file", /already has the prompts/],
  [
    "conversations of a file with prompts",
    { load: sessions(2), inputs: prompts({ file: "p.jsonl" }) },
    "inputs.sessions",
    /is required by the load/,
  ],
  ["a format of no file", { inputs: prompts({ fileFormat: "mooncake" }) }, "inputs.fileFormat", /is that of a file/],
  [
    "a factor for pauses of prompts",
    { inputs: prompts({ file: "p.jsonl", delayFactor: 2 }) },
    "inputs.delayFactor",
    /in a file of conversations/,
  ],
  ["no inputs", { inputs: undefined }, "inputs", /takes input\.prompts\(…\) or input\.payloads\(…\)/],
  [
    "tensors for a language model",
    { inputs: json("a.json") },
    "inputs",
    /takes input\.prompts\(…\) or input\.payloads\(…\)/,
  ],
  ["prompts for tensors", { ...tensors, inputs: prompts() }, "inputs", /takes tensors/],
  ["no model", { target: anyOpenAi("h", {}) }, "target.model", /is missing/],
  [
    "an unknown endpoint",
    { target: anyOpenAi("h", { model: "m", endpoint: "talk" }) },
    "target.endpoint",
    /one of chat/,
  ],
  ["an unknown option", { target: anyOpenAi("h", { model: "m", stream: true }) }, "target.stream", /not an option/],
  ["a key itself", { target: anyOpenAi("h", { model: "m", apiKeyEnv: "sk-1 2" }) }, "target.apiKeyEnv", /a variable/],
  ["no tokens", { inputs: anyPrompts({ isl: 0 }) }, "inputs.isl", /1 or more/],
  [
    "a length as text",
    { inputs: anyPrompts({ osl: "128" }) },
    "inputs.osl",
    /tokens of 1 or more, or \{ mean, stddev \}/,
  ],
  ["an unknown option of prompts", { inputs: anyPrompts({ tokens: 1 }) }, "inputs.tokens", /not an option/],
  [
    "shares of less than everything",
    { inputs: prompts({ lengths: [{ isl: 1, osl: 1, share: "40 %" }] }) },
    "inputs.lengths",
    /add up to 100/,
  ],
  ["a bare limit", { assert: [untyped(p99("timeToFirstToken").below)(200)] }, "assert.0", new RegExp(DURATION_RULE)],
  ["a count with a unit", { assert: [untyped(p99("outputTokens").below)("9 ms")] }, "assert.0", /must be a number/],
  ["a goodput of nothing", { assert: [goodput({}).atLeast(1)] }, "assert.0", /must have a limit/],
  [
    "an unknown limit",
    { assert: [(anyGoodput({ ttft: "1 ms" }) as ReturnType<typeof goodput>).atLeast(1)] },
    "assert.0.ttft",
    /not an option/,
  ],
  ["tokens of tensors", { ...tensors, assert: [outputTokensPerSec().above(1)] }, "assert.0", /are tensors, not tokens/],
  ["tokens of vectors", { target: vectors, assert: [p99("outputTokens").below(1)] }, "assert.0", /have no tokens/],
  [
    "a first token of what comes at once",
    { target: plain, inputs: payloads("a.json"), assert: [p99("timeToFirstToken").below("1 s")] },
    "assert.0",
    /only streamed responses/,
  ],
  [
    "goodput by the first token of what comes at once",
    {
      target: plain,
      inputs: payloads("a.json"),
      assert: [goodput({ latency: "1 s", timeToFirstToken: "1 s" }).above(1)],
    },
    "assert.0",
    /only streamed responses/,
  ],
  ["undici for streams", { client: "undici" }, "client.kind", /does not report when each event/],
];

describe("a mistake in a generative model's scenario is named by its path", () => {
  for (const [name, change, path, says] of MISTAKES) {
    test(`${name} (${path})`, () => {
      const problems = problemsOf(change);
      assert.deepEqual(
        problems.map((problem) => word(problem.path)),
        [path],
      );
      assert.match(word(problems[0]?.message ?? ""), says);
      assert.ok(
        problems[0]?.hint !== "" || /\bmust\b/.test(String(problems[0]?.message)),
        "nothing says what to write",
      );
    });
  }
});
