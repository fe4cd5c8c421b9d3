import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makePromptDataset } from "../../../src/inputs/prompts/prompt-dataset.ts";
import { UserError } from "../../../src/plan/problem.ts";
import type { PromptsPlan } from "../../../src/plan/prompts.ts";
import { LLM_ENDPOINTS } from "../../../src/service/openai/endpoints.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { makePromptsPlan } from "../../plan/make-prompts-plan.ts";
import { loadTinyTokenizer } from "../tiny-tokenizer.ts";

/** Prompts of a plan as requests. */

const tokenizer = loadTinyTokenizer();
const fixed = (mean: number) => ({ mean, stddev: 0 });

const LEAST = makePromptsPlan();

/** Bodies of every shape, as far as they are looked into. */
interface Body {
  readonly [key: string]: unknown;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly query: { readonly text: string };
  readonly passages: readonly object[];
  readonly input: readonly string[];
}

interface Part {
  readonly type: string;
  readonly image_url: { readonly url: string };
}

async function bodiesOf(change: Partial<PromptsPlan>): Promise<Body[]> {
  const { streams, isFromJson } = await makePromptDataset({ ...LEAST, ...change }, "in-turn");
  assert.equal(isFromJson, true);
  return (streams[0] ?? []).map(({ payload }) => JSON.parse(new TextDecoder().decode(payload)) as Body);
}

describe("prompts of a plan", () => {
  test("do not request the server's counts when that is turned off", async () => {
    for (const body of await bodiesOf({ isUsageLeftOut: true })) assert.equal("stream_options" in body, false);
  });

  test("are exact to the token, and the same each time", async () => {
    const bodies = await bodiesOf({ osl: fixed(7), extra: { temperature: 0, n: { a: [1] } } });
    assert.equal(bodies.length, 3);
    for (const { messages, ...rest } of bodies) {
      const stream = { stream: true, stream_options: { include_usage: true } };
      assert.deepEqual(rest, { model: "m", ...stream, max_tokens: 7, temperature: 0, n: { a: [1] } });
      assert.deepEqual(
        [messages.length, messages[0]?.role, tokenizer.count(messages[0]?.content ?? "")],
        [1, "user", 20],
      );
    }
    assert.deepEqual(await bodiesOf({ osl: fixed(7), extra: { temperature: 0, n: { a: [1] } } }), bodies);
    assert.notDeepEqual(await bodiesOf({ seed: 1 }), await bodiesOf({}));
  });

  test("have a system message, prefixes and kinds of lengths", async () => {
    const mix = [
      { input: fixed(5), output: fixed(2), sharePct: 50 },
      { input: fixed(9), output: fixed(3), sharePct: 50 },
    ];
    const bodies = await bodiesOf({ count: 40, systemTokens: 6, prefix: { count: 1, tokens: 4 }, mix });
    const kinds = new Map<string, number>();
    for (const { messages, max_tokens } of bodies) {
      assert.equal(tokenizer.count(messages[0]?.content ?? ""), 6);
      const kind = `${tokenizer.count(messages[1]?.content ?? "")} to ${max_tokens}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    assert.deepEqual([...kinds.keys()].sort(), ["13 to 3", "9 to 2"]);
    assert.ok(
      [...kinds.values()].every((count) => count > 8),
      JSON.stringify([...kinds]),
    );
    assert.equal(new Set(bodies.map(({ messages }) => messages[0]?.content ?? "")).size, 1);
  });

  test("have images where they are asked for", async () => {
    const images = { count: 2, widthPx: fixed(16), heightPx: fixed(8) };
    const [body] = await bodiesOf({ format: "multimodal", images });
    const parts = body?.messages[0]?.content as unknown as readonly Part[];
    assert.deepEqual(
      parts.map(({ type }) => type),
      ["text", "image_url", "image_url"],
    );
    assert.match(parts[1]?.image_url.url ?? "", /^data:image\/png;base64,/);
  });

  test("have images of the requested format, and audio of the requested length", async () => {
    const images = { count: 1, widthPx: fixed(16), heightPx: fixed(8), format: "jpeg" } as const;
    const lengthS = { mean: 0.25, stddev: 0 };
    const sound = { depthsBits: [16], sampleRatesHz: [8000], channelCount: 2 as const };
    for (const format of ["wav", "mp3"] as const) {
      const audio = { count: 2, lengthS, format, ...sound };
      for (const body of await bodiesOf({ format: "multimodal", images, audio })) {
        const parts = body.messages[0]?.content as unknown as readonly (Part & {
          readonly input_audio?: { readonly data: string; readonly format: string };
        })[];
        const [, image, ...clips] = parts;
        assert.match(image?.image_url.url ?? "", /^data:image\/jpeg;base64,/);
        assert.deepEqual(
          clips.map(({ type, input_audio: clip }) => [type, clip?.format]),
          [
            ["input_audio", format],
            ["input_audio", format],
          ],
        );
        if (format === "mp3") continue;
        const bytes = Buffer.from(clips[0]?.input_audio?.data ?? "", "base64");
        assert.deepEqual(
          [bytes.toString("latin1", 0, 4), bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt16LE(34)],
          ["RIFF", 2, 8000, 16],
        );
        assert.equal(bytes.length, 44 + 0.25 * 8000 * 2 * 2);
      }
    }
  });

  test("are rankings and embeddings of as many texts as a batch has", async () => {
    const [ranked] = await bodiesOf({ format: "rankings", textsPerRequest: 3 });
    assert.equal(ranked?.passages.length, 3);
    assert.equal(tokenizer.count(ranked?.query.text ?? ""), 20);
    const [embedded] = await bodiesOf({ format: "embeddings", textsPerRequest: 4 });
    assert.deepEqual(
      embedded?.input.map((text) => tokenizer.count(text)),
      [20, 20, 20, 20],
    );
  });

  for (const [name, { format }] of Object.entries(LLM_ENDPOINTS)) {
    test(`have the body of ${name}`, async () => {
      const images = { count: 1, widthPx: fixed(4), heightPx: fixed(4) };
      const bodies = await bodiesOf({ format, images });
      assert.equal(bodies.length, 3);
      assert.ok(bodies.every((body) => Object.keys(body).length > 0));
    });
  }

  test("are conversations where the load holds sessions, and only there", async () => {
    const plan = { ...LEAST, sessions: { count: 2, turns: fixed(3), delayMs: 40 } };
    const { streams } = await makePromptDataset(plan, "in-sessions");
    assert.deepEqual(
      streams.map((turns) => turns.map(({ delayMs }) => delayMs)),
      [
        [40, 40, undefined],
        [40, 40, undefined],
      ],
    );
    assert.equal(new Set(streams.flat().map(({ sessionId }) => sessionId)).size, 2);
    await assert.rejects(makePromptDataset(plan, "in-turn"), /requests with sessions/);
    await assert.rejects(makePromptDataset(LEAST, "in-sessions"), /without a session/);
  });

  test("come from a file of conversations, whose pauses have a factor", async () => {
    const folder = makeFolder();
    const file = join(folder, "talk.jsonl");
    const turns = '[{"text": "one"}, {"text": "two", "delay": 100}, {"text": "three", "delay": 31}]';
    await writeFile(file, `{"session_id": "a", "turns": ${turns}}\n{"session_id": "b", "turns": [{"text": "four"}]}\n`);
    const talk: PromptsPlan = { ...LEAST, file, fileFormat: "conversations", tokenizer: "none" };
    const delaysOf = async (change: Partial<PromptsPlan>) => {
      const { streams } = await makePromptDataset({ ...talk, ...change }, "in-sessions");
      return streams.map((stream) => stream.map(({ delayMs }) => delayMs));
    };
    assert.deepEqual(await delaysOf({}), [[100, 31, undefined], [undefined]]);
    assert.deepEqual(await delaysOf({ delayRatio: 0.5 }), [[50, 15, undefined], [undefined]]);
    assert.deepEqual(await delaysOf({ delayRatio: 0 }), [[0, 0, undefined], [undefined]]);
    // Without sessions, the first turns are requests of their own.
    assert.deepEqual(
      (await bodiesOf(talk)).map(({ messages }) => messages[0]?.content),
      ["one", "four"],
    );
  });

  test("come from a file in Mooncake's format, with sessions or without", async () => {
    const folder = makeFolder();
    const file = join(folder, "requests.jsonl");
    const lines = ['"a", "text": "one", "delay": 100', '"b", "text": "two"', '"a", "text": "three"'];
    await writeFile(file, lines.map((line) => `{"session_id": ${line}}\n`).join(""));
    const plan: PromptsPlan = { ...LEAST, file, fileFormat: "mooncake", tokenizer: "none", delayRatio: 2 };
    const { streams } = await makePromptDataset(plan, "in-sessions");
    assert.deepEqual(
      streams.map((stream) => stream.map(({ sessionId, delayMs }) => [sessionId, delayMs])),
      [
        [
          ["a", 200],
          ["a", undefined],
        ],
        [["b", undefined]],
      ],
    );
    await assert.rejects(makePromptDataset(plan, "in-turn"), /requests with sessions/);
  });

  test("come from a file, and need no tokenizer then", async () => {
    const folder = makeFolder();
    const file = writeIn(folder, "prompts.jsonl", '{"text":"one"}\n{"text":"two"}\n');
    const bodies = await bodiesOf({ file, tokenizer: "none" });
    assert.deepEqual(
      bodies.map(({ messages }) => messages[0]?.content ?? ""),
      ["one", "two"],
    );
    await assert.rejects(bodiesOf({ file: join(folder, "missing.jsonl"), tokenizer: "none" }), UserError);
  });

  test("are refused where there is nothing to make them from", async () => {
    await assert.rejects(bodiesOf({ tokenizer: "none" }), UserError);
    await assert.rejects(bodiesOf({ tokenizer: "/nowhere/at/all" }), UserError);
  });
});
