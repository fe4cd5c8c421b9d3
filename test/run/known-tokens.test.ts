import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { estimateMetric } from "../../src/measure/metrics/read-metric.ts";
import type { TokenMetric } from "../../src/measure/tokens/metrics.ts";
import type { TokenMeasurement } from "../../src/measure/tokens/token-measurement.ts";
import { tokenWarnings } from "../../src/measure/tokens/token-warnings.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import type { LevelResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { goodput } from "../../src/scenario/assertions.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { hold } from "../../src/scenario/loads/concurrency.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { openai } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { closing, listen } from "../servers/listen.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";

/** Tokens of servers that log what they send: their counts, and their times, which a busy machine makes later and never earlier. */

const REQUESTS = 6;
const GAP_MS = 20;
const INPUT_TOKENS = 7;

/** What the server knows of a response, in milliseconds after its request came. */
interface Sent {
  firstMs: number;
  lastMs: number;
}

/** Answers one request. */
class Answer {
  readonly sent: Sent = { firstMs: Number.NaN, lastMs: Number.NaN };
  private readonly response: ServerResponse;
  private readonly startMs = performance.now();

  constructor(response: ServerResponse) {
    this.response = response;
  }

  /** Writes an event with a choice for each delta. */
  event(...deltas: readonly object[]): void {
    if (!this.response.headersSent) this.response.writeHead(200, { "Content-Type": "text/event-stream" });
    const choices = deltas.map((delta, index) => ({ index, delta, finish_reason: null }));
    this.response.write(`data: ${JSON.stringify({ object: "chat.completion.chunk", choices })}\n\n`);
  }

  /** Writes tokens of output, one after the other. */
  async say(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await sleep(GAP_MS);
      this.note();
      this.event({ content: " the" });
    }
  }

  /** Writes tokens two at a time, in one piece. */
  async sayInPairs(pairCount: number): Promise<void> {
    for (let index = 0; index < pairCount; index++) {
      await sleep(GAP_MS);
      this.note();
      this.response.cork();
      this.event({ content: " the" });
      this.event({ content: " the" });
      this.response.uncork();
    }
  }

  /** Writes tokens one after the other, each event in two pieces: a token has come with the second. */
  async sayInHalves(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      if (!this.response.headersSent) this.response.writeHead(200, { "Content-Type": "text/event-stream" });
      const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: " the" } }] })}\n\n`;
      this.response.write(event.slice(0, 25));
      await sleep(GAP_MS);
      this.note();
      this.response.write(event.slice(25));
    }
  }

  /** Writes as many other events, at the same distance. */
  async other(count: number, delta: object): Promise<void> {
    for (let index = 0; index < count; index++) {
      await sleep(GAP_MS);
      this.event(delta);
    }
  }

  comment(): void {
    this.response.writeHead(200, { "Content-Type": "text/event-stream" });
    this.response.write(": keep-alive\n\n");
  }

  end(usage: object, reason = "stop"): void {
    const finish = { choices: [{ index: 0, delta: {}, finish_reason: reason }] };
    const events = [finish, { choices: [], usage }].map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
    this.response.end(`${events}data: [DONE]\n\n`);
  }

  whole(texts: readonly string[], usage: object): void {
    this.note();
    const choices = texts.map((content, index) => ({ index, message: { content }, finish_reason: "stop" }));
    this.response.setHeader("Content-Type", "application/json");
    this.response.end(JSON.stringify({ object: "chat.completion", choices, usage }));
  }

  private note(): void {
    const nowMs = performance.now() - this.startMs;
    if (Number.isNaN(this.sent.firstMs)) this.sent.firstMs = nowMs;
    this.sent.lastMs = nowMs;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function usageOf(completion: number, reasoning?: number): object {
  return {
    prompt_tokens: INPUT_TOKENS,
    completion_tokens: completion,
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

interface Case {
  readonly answer: (answer: Answer) => Promise<void> | void;
  readonly isWhole?: true;
  /** The tokens of each response; undefined when neither side can count them. */
  readonly output: number | undefined;
  readonly reasoning?: number;
  /** Without it, the server's counts are the only ones. */
  readonly tokenizer?: string;
}

const THINKING = { reasoning_content: " the" };
const CALLING = { tool_calls: [{ index: 0, function: { arguments: "{" } }] };

const CASES: Readonly<Record<string, Case>> = {
  "comments and a role before the first token": {
    answer: async (answer) => {
      answer.comment();
      await answer.other(3, { role: "assistant", content: "" });
      await answer.say(4);
      answer.end(usageOf(4));
    },
    output: 4,
  },
  "reasoning that the server counts apart": {
    answer: async (answer) => {
      await answer.other(8, THINKING);
      await answer.say(4);
      answer.end(usageOf(12, 8));
    },
    output: 4,
    reasoning: 8,
  },
  "reasoning that the server does not count apart": {
    answer: async (answer) => {
      await answer.other(8, THINKING);
      await answer.say(4);
      answer.end(usageOf(12));
    },
    output: undefined,
  },
  "reasoning that the server says it did not count": {
    answer: async (answer) => {
      await answer.other(8, THINKING);
      await answer.say(4);
      answer.end(usageOf(12, 0));
    },
    output: undefined,
  },
  "reasoning that only a tokenizer counts apart": {
    answer: async (answer) => {
      await answer.other(8, THINKING);
      await answer.say(4);
      answer.end(usageOf(12));
    },
    output: 4,
    reasoning: 8,
    tokenizer: TINY,
  },
  "reasoning that is not sent": {
    answer: async (answer) => {
      await sleep(8 * GAP_MS);
      await answer.say(4);
      answer.end(usageOf(12, 8));
    },
    output: 4,
    reasoning: 8,
  },
  "calls of tools after the text": {
    answer: async (answer) => {
      await answer.say(4);
      await answer.other(8, CALLING);
      answer.end(usageOf(12), "tool_calls");
    },
    output: 12,
  },
  "events that come two at a time": {
    answer: async (answer) => {
      await answer.sayInPairs(3);
      answer.end(usageOf(6));
    },
    output: 6,
  },
  "events that come in two pieces": {
    answer: async (answer) => {
      await answer.sayInHalves(4);
      answer.end(usageOf(4));
    },
    output: 4,
  },
  "events without text between the tokens, and after them": {
    answer: async (answer) => {
      await answer.say(2);
      await answer.other(2, { content: "" });
      await answer.say(2);
      await answer.other(2, {});
      answer.end(usageOf(4));
    },
    output: 4,
  },
  "two choices of a whole response": {
    answer: (answer) => answer.whole([" the the", " the the the"], usageOf(5)),
    isWhole: true,
    output: 5,
    tokenizer: TINY,
  },
  "two choices in each event": {
    answer: async (answer) => {
      for (let index = 0; index < 4; index++) {
        await sleep(GAP_MS);
        answer.event({ content: " the" }, { content: " the" });
      }
      answer.end(usageOf(8));
    },
    output: 8,
    tokenizer: TINY,
  },
};

async function measure({ answer, isWhole, tokenizer = "none" }: Case): Promise<{ level: LevelResult; log: Sent[] }> {
  const log: Sent[] = [];
  using server = closing(
    createServer((request, response) => {
      const one = new Answer(response);
      log.push(one.sent);
      request.resume().on("end", () => void answer(one));
    }),
  );
  const url = `127.0.0.1:${await listen(server)}`;
  const target = openai(url, { model: "m", tokenizer, streaming: isWhole !== true });
  const inputs = prompts({ isl: INPUT_TOKENS, count: 2 });
  const load = hold(2, { requests: REQUESTS });
  const plan = toPlan(defineScenario({ name: "x", target, load, inputs, assert: isWhole === true ? [] : [GOOD] }), "/");
  const { result } = startPlan(plan, { openObserver: async () => ({}), check: async () => checkPlan(plan) });
  const { levels, error } = await result;
  assert.equal(error, undefined, error?.message);
  assert.equal(levels.length, 1);
  // A rehearsal comes before.
  return { level: levels[0] as LevelResult, log: log.slice(-REQUESTS) };
}

/** Every response keeps it, where that is known. */
const GOOD = goodput({ interTokenLatency: "1 min" }).atLeast(0.001);
const GOOD_METRIC = { key: "goodput", limits: { interTokenLatency: 60e9 } };

function meanOf(tokens: TokenMeasurement, metric: TokenMetric): number | undefined {
  const sketch = tokens.metrics[metric];
  if (sketch !== undefined) assert.equal(sketch.count, REQUESTS, metric);
  return sketch?.mean;
}

/** @param atLeast in milliseconds */
function checkTime(measuredNs: number | undefined, atLeast: readonly number[], what: string): void {
  const meanMs = atLeast.reduce((sum, ms) => sum + ms, 0) / atLeast.length;
  assert.ok(
    (measuredNs ?? 0) / 1e6 >= meanMs - 1,
    `${what}: ${(measuredNs ?? 0) / 1e6} ms, the server took ${meanMs} ms`,
  );
}

describe("the tokens of a server that knows them", () => {
  for (const [name, one] of Object.entries(CASES))
    test(name, LIMIT, async () => {
      const { level, log } = await measure(one);
      const tokens = level.window.tokens as TokenMeasurement;
      assert.equal(tokens.count, REQUESTS);
      assert.equal(meanOf(tokens, "outputTokens"), one.output);
      if (one.reasoning !== undefined) assert.equal(meanOf(tokens, "reasoningTokens"), one.reasoning);
      const rate = estimateMetric({ key: "outputTokensPerSec" }, { window: level.window }, 1)?.value;
      const perSec = one.output && (one.output * REQUESTS * 1e9) / level.window.durationNs;
      assert.ok(rate === perSec || Math.abs((rate ?? 0) / (perSec ?? 0) - 1) < 1e-6, `${rate}, ${perSec} tokens/s`);
      const good = estimateMetric(GOOD_METRIC, { window: level.window }, 1)?.value;
      assert.equal(good === undefined, one.output === undefined || one.isWhole === true, `${good} good requests/s`);
      assert.doesNotMatch(tokenWarnings(tokens).join("\n"), /the server counts/);
      const gapNs = meanOf(tokens, "interTokenLatencyNs");
      if (one.output === undefined || one.isWhole === true) {
        assert.equal(gapNs, undefined);
        return;
      }
      if (Number.isNaN(log[0]?.firstMs)) return;
      const firstNs = meanOf(tokens, "timeToFirstTokenNs") ?? 0;
      checkTime(
        firstNs,
        log.map(({ firstMs }) => firstMs),
        "first token",
      );
      checkTime(
        firstNs + (gapNs ?? 0) * (one.output - 1),
        log.map(({ lastMs }) => lastMs),
        "last token",
      );
    });
});
