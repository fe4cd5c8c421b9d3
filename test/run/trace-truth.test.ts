// Runs on: bun.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { metricValue } from "../../src/measure/metrics/read-metric.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { trace } from "../../src/scenario/loads/schedules.ts";
import { openai } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { makeFolder } from "../e2e/command.ts";
import { loadTinyTokenizer } from "../inputs/tiny-tokenizer.ts";
import { valuesOf } from "../measure/tokens/make-columns.ts";
import { LIMIT } from "../time-limit.ts";

/** A trace in Mooncake's format, and what a server receives of it. */

const TINY = fileURLToPath(new URL("../tokenize/fixtures/tiny", import.meta.url));
/** Tokens of a block. */
const BLOCK = 512;
const TRACE = [
  { timestamp: 1000, input_length: 700, output_length: 3, hash_ids: [1, 2] },
  { timestamp: 1400, input_length: 40, output_length: 9, hash_ids: [7] },
  { timestamp: 1800, input_length: 1024, output_length: 5, hash_ids: [1, 3] },
  { timestamp: 2200, input_length: 1100, output_length: 7, hash_ids: [1, 3, 4] },
] as const;

interface Received {
  readonly text: string;
  readonly maxTokens: number;
  readonly atMs: number;
}

async function replay(use: (received: readonly Received[], run: ReturnType<typeof startPlan>) => Promise<void>) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const atMs = performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { messages, ...body } = JSON.parse(Buffer.concat(chunks).toString());
      received.push({ text: messages[0].content, maxTokens: body.max_completion_tokens ?? body.max_tokens, atMs });
      const text = JSON.stringify({ choices: [{ delta: { content: " the" } }] });
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`data: ${text}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = makeFolder();
  try {
    writeFileSync(join(folder, "trace.jsonl"), TRACE.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const target = openai(url, { model: "m", tokenizer: TINY, streaming: true });
    const load = trace("trace.jsonl");
    const plan = toPlan(defineScenario({ name: "x", target, load }), folder);
    await use(received, startPlan(plan, { openObserver: async () => ({}), check: async () => checkPlan(plan) }));
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

test(
  "the server receives the requests of a trace at their times, with their lengths and common beginnings",
  LIMIT,
  async () => {
    const tokenizer = loadTinyTokenizer();
    await replay(async (received, { result }) => {
      const { levels } = await result;
      const lengths = TRACE.map(({ input_length }) => input_length);
      assert.deepEqual(
        received.map(({ text }) => tokenizer.count(text)),
        lengths,
      );
      assert.deepEqual(
        received.map(({ maxTokens }) => maxTokens),
        TRACE.map(({ output_length }) => output_length),
      );
      const [level] = levels;
      assert.ok(level !== undefined);
      assert.deepEqual(
        valuesOf(level.window.tokens?.metrics.inputTokens).sort((a, b) => a - b),
        lengths.toSorted((a, b) => a - b),
      );
      const blocks = received.map(({ text }) => tokenizer.encode(text).slice(0, BLOCK).join());
      assert.equal(blocks[0], blocks[2]);
      assert.equal(blocks[2], blocks[3]);
      assert.ok(received[3]?.text.startsWith(received[2]?.text ?? "?"), "two whole blocks in common");
      assert.ok(!received[2]?.text.startsWith(received[0]?.text ?? ""), "another second block");
      assert.ok(!received[0]?.text.startsWith(received[1]?.text ?? ""));
      // A busy machine sends late, and never early.
      const [first, last] = [received[0]?.atMs ?? 0, received.at(-1)?.atMs ?? 0];
      assert.ok(last - first > 900 && last - first < 6000, `${last - first} ms`);
      const perSec = metricValue({ key: "sentPerSec" }, level, 1) ?? 0;
      assert.ok(perSec <= 2.6 && perSec > 0.5, `${perSec}`);
    });
  },
);
