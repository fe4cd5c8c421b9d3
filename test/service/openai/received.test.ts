import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { metricValue } from "../../../src/measure/metrics/read-metric.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { trace } from "../../../src/scenario/loads/schedules.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { openai } from "../../../src/scenario/targets/llm.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { loadTinyTokenizer } from "../../inputs/tiny-tokenizer.ts";
import { makeFolder } from "../../make-folder.ts";
import { valuesOf } from "../../measure/tokens/make-columns.ts";
import { RECORDS, writeReports } from "../../report/html/make-report.ts";
import { closing } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";

/** What a server receives: a trace in Mooncake's format, and images and sounds. */

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
  using server = closing(
    createServer((request, response) => {
      const atMs = performance.now();
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { messages, ...body } = JSON.parse(Buffer.concat(chunks).toString());
        received.push({ text: messages[0].content, maxTokens: body.max_completion_tokens ?? body.max_tokens, atMs });
        const text = JSON.stringify({ choices: [{ delta: { content: " the" } }] });
        response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`data: ${text}\n\ndata: [DONE]\n\n`);
      });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = makeFolder();
  writeFileSync(join(folder, "trace.jsonl"), TRACE.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = openai(url, { model: "m", tokenizer: TINY, streaming: true });
  const load = trace("trace.jsonl");
  const plan = toPlan(defineScenario({ name: "x", target, load }), folder);
  await use(received, startPlan(plan, { openObserver: async () => ({}), check: async () => checkPlan(plan) }));
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

const IMAGE = { count: 2, width: 24, height: 16, format: "png" } as const;
const SOUND = { count: 1, length: "500 ms", sampleRatesHz: [16_000], depthsBits: [16] } as const;

test("the server receives the images and sounds asked for, in as many bytes as the records say", LIMIT, async () => {
  const received: { readonly bytes: number; readonly parts: readonly Readonly<Record<string, unknown>>[] }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      received.push({ bytes: body.length, parts: JSON.parse(body.toString()).messages[0].content });
      response.end('{"choices":[{"message":{"content":" the"}}]}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const target = openai(`127.0.0.1:${(server.address() as AddressInfo).port}`, {
    ...{ model: "m", tokenizer: TINY, endpoint: "multimodal" },
  });
  const inputs = prompts({ isl: 9, osl: 1, count: 3, images: IMAGE, audio: SOUND });
  const written = await writeReports({ name: "media", target, inputs, load: hold(1, { requests: 6 }) }, RECORDS);
  try {
    const lines = written.read("records").trimEnd().split("\n");
    const sizes = lines.map((line) => JSON.parse(line).metrics.request_content_size.value);
    assert.deepEqual(
      sizes,
      received.map(({ bytes }) => bytes),
    );
    assert.equal(received.length, 6);
    for (const { parts } of received) {
      const ofType = (type: string) => parts.filter((part) => part["type"] === type);
      const images = ofType("image_url").map((part) => (part["image_url"] as { url: string }).url);
      assert.equal(images.length, IMAGE.count);
      for (const url of images) {
        const bytes = Buffer.from(url.split(",")[1] ?? "", "base64");
        assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [IMAGE.width, IMAGE.height]);
      }
      const [sound, ...others] = ofType("input_audio").map((part) => part["input_audio"] as Record<string, string>);
      assert.deepEqual([others.length, sound?.["format"]], [0, "wav"]);
      // 44 bytes of head, and two for each of 8,000 samples.
      assert.equal(Buffer.from(sound?.["data"] ?? "", "base64").length, 44 + 2 * 8000);
      assert.equal(ofType("text").length, 1);
    }
    const [level] = written.runs[0]?.levels ?? [];
    assert.deepEqual([...new Set(valuesOf(level?.window.tokens?.metrics.inputTokens))], [9]);
  } finally {
    written.remove();
    server.closeAllConnections();
    server.close();
  }
});
