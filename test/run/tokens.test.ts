import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { CHAT_ENDPOINTS } from "../../src/cli/chat/command.ts";
import { sketchOf } from "../../src/measure/tokens/token-measurement.ts";
import type { TotalledTokens } from "../../src/measure/tokens/token-totals.ts";
import { tokenWarnings } from "../../src/measure/tokens/token-warnings.ts";
import { judge } from "../../src/measure/verdicts.ts";
import { word } from "../../src/plan/messages.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { UserError } from "../../src/plan/problem.ts";
import type { TokensPlan } from "../../src/plan/tokens.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { toTokensJson } from "../../src/report/json/level.ts";
import { toMetricsJson } from "../../src/report/json/metrics.ts";
import type { RunObserver, RunProgress } from "../../src/result/observer.ts";
import type { LevelResult, RunResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { errorRate, goodput, mean, outputTokensPerSec, p50, p99 } from "../../src/scenario/assertions.ts";
import { defineScenario, type ScenarioDefinition } from "../../src/scenario/define.ts";
import { hold, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../src/scenario/loads/find-max.ts";
import { sessions } from "../../src/scenario/loads/sessions.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { type EmbeddedLlmOptions, embeddedLlm, openai } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { loadTinyTokenizer } from "../inputs/tiny-tokenizer.ts";
import { valuesOf } from "../measure/tokens/make-columns.ts";
import { closing, listen } from "../servers/listen.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";

/** Runs of language models whose tokens are measured while they run. */

/** Responses of twenty tokens. */
const LONG = prompts({ isl: 12, osl: 20, count: 4 });

function planOf(llm: EmbeddedLlmOptions, change: Partial<ScenarioDefinition> = {}): Plan {
  const target = embeddedLlm({ tokenizer: TINY, ...llm });
  const inputs = prompts({ isl: 12, osl: 5, count: 4 });
  return toPlan(defineScenario({ name: "x", target, load: hold(2, { requests: 10 }), inputs, ...change }), "/");
}

async function run(plan: Plan, observer: RunObserver = {}): Promise<RunResult> {
  const result = await startPlan(plan, { openObserver: async () => observer, check: async () => checkPlan(plan) })
    .result;
  assert.equal(result.error, undefined, result.error?.message);
  return result;
}

function tokensOf(level: LevelResult | undefined) {
  const tokens = level?.window.tokens;
  assert.ok(tokens !== undefined, "no tokens were measured");
  return tokens;
}

describe("a run of a language model", () => {
  test("measures the tokens of each level's requests", LIMIT, async () => {
    const llm = { streaming: true, timeToFirstToken: "20 ms", interTokenLatency: "4 ms" } as const;
    const { levels } = await run(planOf(llm, { load: steps([1, 2], { requests: 6 }) }));
    assert.equal(levels.length, 2);
    for (const level of levels) {
      const { count, metrics, failedCount, emptyCount } = tokensOf(level);
      assert.deepEqual([count, failedCount, emptyCount], [6, 0, 0]);
      assert.deepEqual(valuesOf(metrics.outputTokens), [5, 5, 5, 5, 5, 5]);
      assert.deepEqual(valuesOf(metrics.inputTokens), [12, 12, 12, 12, 12, 12]);
      const first = valuesOf(metrics.timeToFirstTokenNs);
      const gaps = valuesOf(metrics.interTokenLatencyNs);
      const latencies = valuesOf(metrics.requestLatencyNs);
      // A busy machine makes tokens late, never early.
      assert.ok(first.length === 6 && first.every((ns) => ns >= 20e6), first.join(", "));
      assert.ok(latencies.length === 6 && latencies.every((ns) => ns >= 36e6), latencies.join(", "));
      assert.ok(Math.max(...latencies) <= level.window.latency.max + 1000);
      const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
      assert.ok(Math.abs(sumOf(first) + 4 * sumOf(gaps) - sumOf(latencies)) <= 4 * gaps.length);
    }
  });

  for (const workers of [1, 2])
    test(`says while it lasts what the tokens add up to, with ${workers} senders`, LIMIT, async () => {
      const plan = planOf({ streaming: true }, { load: steps([2, 4], { requests: 6 }), workers });
      let progress: RunProgress | undefined;
      const asked: Promise<TotalledTokens | undefined>[] = [];
      const ask = (): void => {
        const totals = progress?.tokenTotals?.();
        if (totals !== undefined) asked.push(totals);
      };
      const observer = {
        onProgress: (given: RunProgress) => {
          progress = given;
        },
        onLevelStart: ask,
        onWindow: ask,
      };
      const { levels } = await run(plan, observer);
      const totals = await Promise.all(asked);
      const counts = totals.map((one) => [
        one?.sums.outputTokens.sum,
        one?.times.timeToFirstToken.count,
        one?.times.interTokenLatency.count,
      ]);
      // Nothing at the start of the first level, and then the requests of one and of two levels.
      assert.deepEqual(counts, [[0, 0, 0], ...[30, 30].map((tokens) => [tokens, 6, 6]), [60, 12, 12]]);
      const sum = levels.reduce(
        (total, level) => total + (tokensOf(level).metrics.timeToFirstTokenNs?.mean ?? 0) * 6,
        0,
      );
      const last = totals.at(-1)?.times.timeToFirstToken.sumNs ?? 0;
      assert.ok(Math.abs(last / sum - 1) < 1e-9, `${last} of ${sum}`);
    });

  test("measures whole responses, and the server's own counts", LIMIT, async () => {
    const { levels } = await run(planOf({ reasoningTokens: 2 }));
    const { metrics } = tokensOf(levels[0]);
    assert.deepEqual([...new Set(valuesOf(metrics.outputTokens))], [3]);
    assert.deepEqual([...new Set(valuesOf(metrics.reasoningTokens))], [2]);
    assert.deepEqual([...new Set(valuesOf(metrics.serverOutputTokens))], [5]);
    assert.equal(metrics.interTokenLatencyNs?.count ?? 0, 0);
  });

  for (const endpoint of CHAT_ENDPOINTS.slice(1)) {
    test(`reads streams of ${endpoint}`, LIMIT, async () => {
      const { levels } = await run(planOf({ endpoint, streaming: true }));
      assert.deepEqual([...new Set(valuesOf(tokensOf(levels[0]).metrics.outputTokens))], [5]);
    });
  }

  for (const endpoint of CHAT_ENDPOINTS)
    for (const streaming of [true, false])
      test(`counts like the embedded model: ${endpoint}${streaming ? ", streamed" : ""}`, LIMIT, async () => {
        const plan = planOf({ endpoint, streaming, tokensPerEvent: 3, reasoningTokens: 2 });
        const tokens = tokensOf((await run(plan)).levels[0]);
        const [own, server, thought, input, serverInput] = (
          ["outputTokens", "serverOutputTokens", "reasoningTokens", "inputTokens", "serverInputTokens"] as const
        ).map((metric) => valuesOf(tokens.metrics[metric]));
        assert.deepEqual(server, new Array(10).fill(5));
        assert.deepEqual(
          own?.map((count, row) => count + (thought?.[row] ?? 0)),
          server,
        );
        assert.deepEqual(input, new Array(10).fill(12));
        assert.deepEqual(serverInput, input);
        assert.doesNotMatch(tokenWarnings(tokens).join("\n"), /the server counts/);
      });

  test("without a tokenizer uses the server's counts", LIMIT, async () => {
    const inputs = prompts({ isl: 12, osl: 5, count: 4 });
    const plan = planOf({ streaming: true }, { inputs });
    const { levels } = await run({
      ...plan,
      measurement: {
        ...plan.measurement,
        tokens: { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" },
      },
    });
    const { metrics } = tokensOf(levels[0]);
    assert.deepEqual(metrics.outputTokens, metrics.serverOutputTokens);
    assert.deepEqual([...new Set(valuesOf(metrics.serverOutputTokens))], [5]);
  });

  test("counts failed and truncated responses, and measures the rest", LIMIT, async () => {
    const load = hold(2, { requests: 40 });
    const { levels, failedCount } = await run(
      planOf({ streaming: true, errorRate: "20 %", cutRate: "20 %" }, { load }),
    );
    const { count, failedCount: failedAnswers } = tokensOf(levels[0]);
    assert.ok(failedCount > 2 && failedCount < 38, `${failedCount} failed`);
    assert.deepEqual([count + failedAnswers, failedAnswers], [40, failedCount]);
  });

  test("leaves a warm-up out, and a level measured over time too knows no other requests", LIMIT, async () => {
    const plan = planOf({ streaming: true }, { load: ramp(1, 2, { for: "200 ms" }), warmupRequests: 5 });
    const { levels, completedCount } = await run(plan);
    const measured = levels.map((level) => tokensOf(level).count);
    assert.deepEqual(
      measured,
      levels.map(({ window }) => window.requestCount),
    );
    assert.ok(measured.reduce((sum, count) => sum + count, 0) <= completedCount - 10);
  });

  test("measures the windows of a stable level", LIMIT, async () => {
    const stability = { window: "50 ms", within: "1000000 %" } as const;
    const { levels } = await run(planOf({ streaming: true }, { load: hold(1), stability }));
    assert.equal(levels[0]?.outcome, "measured");
    assert.equal(tokensOf(levels[0]).count, levels[0]?.window.requestCount);
  });

  test("measures all windows of a search that is interrupted", LIMIT, async () => {
    const where = [p99("timeToFirstToken").atMost("10 s")];
    const load = findMax({ range: steps([1, 2]), where, settle: "50 ms", window: "50 ms", forAtMost: "10 min" });
    const plan = planOf({ streaming: true, interTokenLatency: "4 ms" }, { load });
    const later = Promise.withResolvers<void>();
    const onWindow = (trial: number): void => {
      if (trial === 8) later.resolve();
    };
    const running = startPlan(plan, { openObserver: async () => ({ onWindow }), check: async () => checkPlan(plan) });
    await later.promise;
    running.interrupt();
    const [level] = (await running.result).levels;
    assert.equal(level?.outcome, "partial");
    assert.equal(tokensOf(level).count, level?.window.requestCount);
  });

  test("counts previous turns as input when requests are turns", LIMIT, async () => {
    const inputs = prompts({ isl: 12, osl: 5, sessions: { count: 3, turns: 2 } });
    const { levels } = await run(planOf({ streaming: true }, { load: sessions(2), inputs }));
    const { count, metrics } = tokensOf(levels[0]);
    assert.equal(count, 6);
    const inputTokens = valuesOf(metrics.inputTokens).sort((a, b) => a - b);
    assert.deepEqual(inputTokens.slice(0, 3), [12, 12, 12]);
    // The turn before, its response of five tokens, and the new one, joined by spaces.
    assert.ok(
      inputTokens.slice(3).every((tokens) => tokens >= 29 && tokens <= 31),
      inputTokens.join(", "),
    );
  });

  test("the input of a turn has the tokens of the messages that the server received", LIMIT, async () => {
    const tokenizer = loadTinyTokenizer();
    const received: number[] = [];
    using server = closing(
      createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: string }[] };
          received.push(messages.reduce((sum, { content }) => sum + tokenizer.count(content), 0));
          // Models begin an answer with a space where their tokens have one.
          response.writeHead(200, { "Content-Type": "text/event-stream" });
          const text = JSON.stringify({ choices: [{ delta: { content: " the cat" } }] });
          response.end(`data: ${text}\n\ndata: [DONE]\n\n`);
        });
      }),
    );
    const url = `127.0.0.1:${await listen(server)}`;
    const target = openai(url, { model: "m", tokenizer: TINY, streaming: true });
    const inputs = prompts({ isl: 12, osl: 5, sessions: { count: 3, turns: 4 } });
    const { levels } = await run(planOf({}, { target, load: sessions(1), inputs }));
    const counted = valuesOf(tokensOf(levels[0]).metrics.inputTokens).sort((a, b) => a - b);
    assert.deepEqual(
      counted,
      received.sort((a, b) => a - b),
    );
    assert.deepEqual([counted.length, counted.slice(0, 3)], [12, [12, 12, 12]]);
  });

  test("assertions are judged by the measurements", LIMIT, async () => {
    const plan = planOf(
      { streaming: true, timeToFirstToken: "20 ms" },
      {
        load: hold(1, { requests: 10 }),
        assert: [
          p50("timeToFirstToken").below("1 ms"),
          p50("timeToFirstToken").above("19 ms"),
          outputTokensPerSec().above(1),
          goodput({ timeToFirstToken: "1 ms" }).atLeast(0.1),
          goodput({ timeToFirstToken: "2 s", latency: "2 s" }).atLeast(0.1),
          errorRate().is(0),
        ],
      },
    );
    const { levels } = await run(plan);
    const verdicts = plan.assertions.map((assertion) => judge(assertion, levels, 1));
    assert.deepEqual(
      verdicts.map(({ state }) => state),
      ["fail", "pass", "pass", "fail", "pass", "pass"],
    );
    assert.equal(verdicts[0]?.text, "p50 time to first token < 1 ms");
    assert.equal(verdicts[3]?.measured, 0);
  });

  test("has no rate per user where tokens share a read, and says why", LIMIT, async () => {
    const rate = mean("outputTokensPerSecPerUser").above(1);
    const load = hold(1, { requests: 4 });
    const bunched = planOf(
      { streaming: true, tokensPerEvent: 5, interTokenLatency: "2 ms" },
      { load, assert: [rate], inputs: LONG },
    );
    const { levels } = await run(bunched);
    const tokens = tokensOf(levels[0]);
    assert.equal(sketchOf(tokens, "outputTokensPerSecPerUser"), undefined);
    assert.equal(tokens.metrics.interTokenLatencyNs?.count ?? 0, 4);
    const [note = ""] = tokenWarnings(tokens);
    assert.match(note, /^\d+ % of the tokens came together [^:]*: use the latency per output token, /);
    const [verdict] = bunched.assertions.map((assertion) => judge(assertion, levels, 1));
    assert.equal(verdict?.measured, undefined);
    assert.match(verdict?.reason ?? "", /^\d+ % of the tokens came together/);
    // GenAI-Perf has a formula for such responses too.
    const kept = {
      ...bunched.measurement,
      tokens: { ...(bunched.measurement.tokens as TokensPlan), keepsBunchedRates: true as const },
    };
    const { levels: same } = await run({ ...bunched, measurement: kept });
    assert.equal(tokensOf(same[0]).metrics.outputTokensPerSecPerUser?.count ?? 0, 4);
  });

  test("has no tokens where responses are vectors", LIMIT, async () => {
    const { levels } = await run(planOf({ endpoint: "embeddings" }, { inputs: prompts({ isl: 4, batch: 3 }) }));
    assert.equal(levels[0]?.window.tokens, undefined);
    assert.equal(levels[0]?.window.requestCount, 10);
  });

  test("ends before anything is sent when the tokenizer does not exist", LIMIT, async () => {
    const plan = planOf({ streaming: true, tokenizer: "/nowhere/tokenizer" }, { inputs: prompts({ file: "/x" }) });
    await assert.rejects(
      startPlan(plan, { openObserver: async () => ({}), check: async () => checkPlan(plan) }).result,
      (error: unknown) => error instanceof UserError && /tokenizer/.test(word(error.problems[0]?.path ?? "")),
    );
  });
});

test("an API key is read from the environment, sent, and not part of a plan", LIMIT, async () => {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    request.resume().on("end", () => response.end('{"choices":[{"message":{"content":"hi"}}]}'));
  });
  process.env["RAMPART_TEST_KEY"] = "sk-secret";
  try {
    const url = `127.0.0.1:${await listen(server)}`;
    const target = openai(url, { model: "m", tokenizer: TINY, apiKeyEnv: "RAMPART_TEST_KEY" });
    const plan = planOf({}, { target, load: hold(1, { requests: 2 }) });
    assert.ok(!JSON.stringify(plan).includes("sk-secret"));
    await run(plan);
    assert.deepEqual(keys, ["Bearer sk-secret", "Bearer sk-secret"]);
    process.env["RAMPART_TEST_KEY"] = "";
    await assert.rejects(run(plan), /no variable RAMPART_TEST_KEY/);
  } finally {
    delete process.env["RAMPART_TEST_KEY"];
    server.closeAllConnections();
    server.close();
  }
});

const SIX = { load: hold(1, { requests: 6 }) };
const TURNS = { load: sessions(1), inputs: prompts({ isl: 12, osl: 5, sessions: { count: 3, turns: 2 } }) };
for (const [name, change] of [
  ["1 sender", SIX],
  ["2 senders", { ...SIX, workers: 2 }],
  ["turns of sessions", TURNS],
] as const)
  test(
    `streams without their end mark are failed requests where others have it, also before these: ${name}`,
    LIMIT,
    async () => {
      let index = 0;
      using server = closing(
        createServer((request, response) => {
          const mark = index++ % 3 === 0 ? "" : "data: [DONE]\n\n";
          const text = 'data: {"choices":[{"delta":{"content":"the"}}]}\n\n';
          response.setHeader("Content-Type", "text/event-stream");
          request.resume().on("end", () => response.end(text + mark));
        }),
      );
      const url = `127.0.0.1:${await listen(server)}`;
      const target = openai(url, { model: "m", tokenizer: TINY, streaming: true });
      let failedCount = 0;
      // With several senders one meter measures for all, as someone follows single requests.
      const observer = { onTokens: () => {}, onFailed: () => void failedCount++ };
      const { levels, failures } = await run(planOf({}, { target, ...change }), observer);
      const tokens = tokensOf(levels[0]);
      assert.deepEqual([tokens.count, tokens.failedCount], [4, 2]);
      assert.deepEqual([levels[0]?.window.requestCount, levels[0]?.window.failedCount, failedCount], [4, 2, 2]);
      assert.match(failures[0]?.example ?? "", /^the stream ended after one event without its end mark/);
      const told = tokenWarnings(tokens).join("\n");
      assert.match(told, /^2 of 6 streams ended without their end mark \(\[DONE\] or a finish_reason\): /m);
      assert.equal(toTokensJson(tokens).withoutEndMark, 2);
    },
  );

test("calls of tools are output: their first part is the first token, and they can be good", LIMIT, async () => {
  const BEFORE_MS = 300;
  const GAP_MS = 100;
  const part = (delta: object, reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  const calling = (of: object): string => part({ tool_calls: [{ index: 0, function: of }] });
  const parts = [calling({ name: "the" }), calling({ arguments: " cat" }), calling({ arguments: " the" })];
  using server = closing(
    createServer(async (request, response) => {
      await new Promise((resolve) => request.resume().on("end", resolve));
      response
        .writeHead(200, { "Content-Type": "text/event-stream" })
        .write(part({ role: "assistant", content: null }));
      for (const [at, text] of parts.entries()) {
        await new Promise((resolve) => setTimeout(resolve, at === 0 ? BEFORE_MS : GAP_MS));
        response.write(text);
      }
      response.end(`${part({}, "tool_calls")}data: [DONE]\n\n`);
    }),
  );
  const target = openai(`127.0.0.1:${await listen(server)}`, {
    model: "m",
    tokenizer: TINY,
    streaming: true,
  });
  const assertions = [
    goodput({ timeToFirstToken: "1 min", interTokenLatency: "1 min" }).above(0),
    goodput({ timeToFirstToken: "290 ms" }).above(0),
    goodput({ interTokenLatency: "10 ms" }).above(0),
  ];
  const plan = planOf({}, { target, load: hold(1, { requests: 3 }), assert: assertions });
  const { levels } = await run(plan);
  const { count, emptyCount, toolCallCount, metrics } = tokensOf(levels[0]);
  assert.deepEqual([count, emptyCount, toolCallCount], [3, 0, 0]);
  // A timer of Node.js may fire a millisecond early.
  assert.ok((metrics.timeToFirstTokenNs?.min ?? 0) >= (BEFORE_MS - 2) * 1e6, `${metrics.timeToFirstTokenNs?.min}`);
  const tokens = metrics.outputTokens?.mean ?? 0;
  assert.ok(tokens >= 3, `${tokens}`);
  const intervalNs = ((parts.length - 1) * (GAP_MS - 2) * 1e6) / (tokens - 1);
  // A busy client reads a first part late, but not that of every request.
  assert.ok((metrics.interTokenLatencyNs?.max ?? 0) >= intervalNs, `${metrics.interTokenLatencyNs?.max}`);
  assert.deepEqual(
    plan.assertions.map((assertion) => judge(assertion, levels, 1).state),
    ["pass", "fail", "fail"],
  );
});

test("responses that were not streamed have no first token, and an assertion on it says why", LIMIT, async () => {
  const whole = '{"choices":[{"message":{"content":"the cat"}}]}';
  const events =
    'data: {"choices":[{"delta":{"content":"the"}}]}\n\ndata: {"choices":[{"delta":{"content":" cat"}}]}\n\n';
  // A server that ignores the wish for a stream, one whose events come as one body, and one that streams to every other request.
  const responsesOf: readonly (readonly [string, (index: number) => readonly [type: string, text: string], number])[] =
    [
      ["JSON", () => ["application/json", whole], 6],
      ["events as one body", () => ["application/json", events], 6],
      ["both", (index) => (index % 2 === 0 ? ["text/event-stream", events] : ["application/json", whole]), 3],
    ];
  for (const [name, answer, unstreamedCount] of responsesOf) {
    let index = 0;
    using server = closing(
      createServer((request, response) => {
        const [type, text] = answer(index++);
        request.resume().on("end", () => response.writeHead(200, { "Content-Type": type }).end(text));
      }),
    );
    const url = `127.0.0.1:${await listen(server)}`;
    const target = openai(url, { model: "m", tokenizer: TINY, streaming: true });
    const assertions = [
      mean("timeToFirstToken").below("1 min"),
      goodput({ timeToFirstToken: "1 min" }).above(0),
      mean("latency").below("1 min"),
    ];
    const plan = planOf({}, { target, load: hold(1, { requests: 6 }), assert: assertions });
    const { levels, failedCount } = await run(plan);
    const tokens = tokensOf(levels[0]);
    const { window } = levels[0] as (typeof levels)[number];
    assert.deepEqual([failedCount, tokens.count, tokens.unstreamedCount], [0, 6, unstreamedCount], name);
    const reason = unstreamedCount === 6 ? /^no response was streamed/m : /^3 of 6 responses were not streamed/m;
    const told = tokenWarnings(tokens).join("\n");
    assert.match(told, reason);
    assert.match(toTokensJson(tokens).warnings.join(), reason);
    const metrics = toMetricsJson({ window }, 1);
    assert.equal(metrics["timeToFirstTokenUs"]?.count ?? 0, 6 - unstreamedCount);
    const verdicts = plan.assertions.map((assertion) => judge(assertion, levels, 1));
    const isMet = unstreamedCount < 6;
    assert.deepEqual(
      verdicts.map(({ state }) => state),
      [isMet ? "pass" : "unresolved", isMet ? "pass" : "unresolved", "pass"],
    );
    for (const verdict of verdicts.slice(0, 2)) {
      if (isMet) assert.equal(verdict.reason, undefined);
      else assert.match(verdict.reason ?? "", reason);
    }
  }
});

describe("an assertion on tokens that may end the run", () => {
  const early = async (assertions: ScenarioDefinition["assert"], tags?: ScenarioDefinition["tags"]) => {
    const llm = { streaming: true, timeToFirstToken: "20 ms", interTokenLatency: "2 ms" } as const;
    const change = {
      load: hold(2, { for: "1 min" }),
      assert: assertions ?? [],
      ...(tags === undefined ? {} : { tags }),
    };
    return startPlan(planOf(llm, change), { openObserver: async () => ({}), check: async () => {} }).result;
  };
  const slow = p99("timeToFirstToken").below("1 ms");
  const keeps = p99("interTokenLatency").below("10 s").abortAfter("100 ms");

  test("does so while the level is measured, and its tokens are in the report", LIMIT, async () => {
    const { error, aborted, levels } = await early([keeps, slow.abortAfter("200 ms")]);
    assert.deepEqual([error?.code, aborted?.assertionIndex], ["assertion-failed", 1]);
    assert.match(error?.message ?? "", /"p99 time to first token < 1 ms" .* 200 ms, with/);
    assert.ok((aborted?.measured ?? 0) >= 20e6);
    assert.equal(levels[0]?.outcome, "partial");
    assert.ok(tokensOf(levels[0]).count > 0);
  });

  test("looks only at the requests with its tags", LIMIT, async () => {
    const tags = ({ index }: { readonly index: number }) => ({ half: index % 2 === 0 ? "a" : "b" });
    const { aborted } = await early(
      [
        goodput({ latency: "10 s" }).where({ half: "b" }).atLeast(1).abortAfter("300 ms"),
        p99("latency").where({ half: "a" }).below("1 ms").abortAfter("200 ms"),
      ] as ScenarioDefinition["assert"],
      tags,
    );
    assert.equal(aborted?.assertionIndex, 1);
    const goodputs = await early(
      [
        goodput({ timeToFirstToken: "1 ms" }).where({ half: "b" }).atLeast(100).abortAfter("200 ms"),
      ] as ScenarioDefinition["assert"],
      tags,
    );
    assert.deepEqual([goodputs.aborted?.assertionIndex, goodputs.aborted?.measured], [0, 0]);
  });
});
