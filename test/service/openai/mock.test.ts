// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK, type MockPlan } from "../../../src/plan/mock.ts";
import type { ResponseKind } from "../../../src/service/openai/response-kind.ts";
import { readResponse } from "../../../src/service/openai/response-text.ts";

/** The mock's language model, read as responses of real servers are. */

const LLM: NonNullable<MockPlan["llm"]> = {
  firstToken: { kind: "constant", ms: 0 },
  tokenGapMs: 0,
  osl: 5,
  tokensPerEvent: 1,
  reasoningTokens: 0,
  cutRatio: 0,
};

const quick = await startMock({ ...DEFAULT_MOCK, llm: LLM }, LOOPBACK);
const thinking = await startMock({ ...DEFAULT_MOCK, llm: { ...LLM, reasoningTokens: 3, tokensPerEvent: 2 } }, LOOPBACK);
const cut = await startMock({ ...DEFAULT_MOCK, llm: { ...LLM, cutRatio: 1 } }, LOOPBACK);
const failing = await startMock({ ...DEFAULT_MOCK, errorRatio: 1 }, LOOPBACK);
const paced = await startMock(
  { ...DEFAULT_MOCK, llm: { ...LLM, firstToken: { kind: "constant", ms: 40 }, tokenGapMs: 20 } },
  LOOPBACK,
);
/** Its second token is made in ten minutes. */
const endless = await startMock({ ...DEFAULT_MOCK, llm: { ...LLM, tokenGapMs: 600_000 } }, LOOPBACK);
after(() => Promise.all([quick, thinking, cut, failing, paced, endless].map((server) => server.stop())));

function post(server: { readonly httpPort: number }, path: string, body: object | string): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.httpPort}${path}`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const TEXT_PATHS: readonly (readonly [path: string, kind: ResponseKind])[] = [
  ["/v1/chat/completions", "chat"],
  ["/v1/completions", "completions"],
  ["/v1/responses", "responses"],
  ["/v1/messages", "anthropic"],
];

for (const [path, kind] of TEXT_PATHS) {
  test(`${path} responds with the requested tokens, whole and as a stream`, async () => {
    for (const [limit, tokens] of [
      [{}, 5],
      [path === "/v1/responses" ? { max_output_tokens: 3 } : { max_tokens: 3 }, 3],
    ] as const) {
      for (const stream of [false, true]) {
        const response = await post(quick, path, { model: "m", stream, ...limit });
        assert.equal(response.status, 200);
        const type = stream ? "text/event-stream" : "application/json";
        assert.equal(response.headers.get("content-type"), type);
        const { output, error, finishReason } = readResponse(kind, [await response.text()]);
        assert.equal(error, undefined);
        assert.equal(output.map(({ text }) => text).join(""), " the".repeat(tokens));
        assert.equal(output[0]?.events, stream ? tokens : 1);
        assert.notEqual(finishReason, undefined);
      }
    }
  });
}

describe("the mock's language model", () => {
  test("ends a stream with its usage where that is asked for", async () => {
    const messages = [{ role: "user", content: "two words" }];
    const body = { stream: true, stream_options: { include_usage: true }, messages };
    const asked = readResponse("chat", [await (await post(quick, "/v1/chat/completions", body)).text()]);
    assert.equal(asked.usage?.completionTokens, 5);
    assert.equal(asked.usage?.promptTokens, 2);
    const plain = readResponse("chat", [await (await post(quick, "/v1/chat/completions", { stream: true })).text()]);
    assert.equal(plain.usage, undefined);
  });

  for (const [path, body, prompt] of [
    [
      "/v1/chat/completions",
      {
        messages: [
          { role: "user", content: "one two" },
          { role: "user", content: "three" },
        ],
      },
      3,
    ],
    ["/v1/chat/completions", { messages: [{ content: [{ type: "text", text: " a  b " }, { type: "image_url" }] }] }, 2],
    ["/v1/completions", { prompt: ["a b", "c"] }, 3],
    ["/v1/completions", { prompt: [17, 4, 9, 1] }, 4],
    ["/v1/responses", { instructions: "be brief", input: "a b" }, 4],
    ["/v1/messages", { system: "be brief", messages: [{ role: "user", content: "a" }] }, 3],
    ["/v1/chat/completions", {}, 0],
  ] as const)
    test(`counts the ${prompt} words of ${JSON.stringify(body)} as the prompt, and adds them to the total`, async () => {
      const { usage } = (await (await post(quick, path, body)).json()) as { usage: Record<string, number> };
      const { prompt_tokens, completion_tokens, input_tokens, output_tokens, total_tokens } = usage;
      assert.equal(prompt_tokens ?? input_tokens, prompt);
      assert.equal(completion_tokens ?? output_tokens, 5);
      if (path !== "/v1/messages") assert.equal(total_tokens, prompt + 5);
    });

  test("reasons first, and puts several tokens into an event", async () => {
    const { output, reasoning, usage } = readResponse("chat", [
      await (
        await post(thinking, "/v1/chat/completions", { stream: true, stream_options: { include_usage: true } })
      ).text(),
    ]);
    assert.deepEqual([reasoning[0]?.text, reasoning[0]?.events], [" the the the", 2]);
    assert.deepEqual([output[0]?.text, output[0]?.events], [" the the", 1]);
    assert.deepEqual([usage?.completionTokens, usage?.reasoningTokens], [5, 3]);
  });

  test("makes no token before its time", async () => {
    const startMs = performance.now();
    const response = await post(paced, "/v1/chat/completions", { stream: true });
    let tokens = 0;
    for await (const bytes of response.body as ReadableStream<Uint8Array>) {
      tokens += new TextDecoder().decode(bytes).split(" the").length - 1;
      const atMs = performance.now() - startMs;
      if (tokens > 0) assert.ok(atMs >= 40 + 20 * (tokens - 1), `token ${tokens} after ${atMs} ms`);
    }
    assert.equal(tokens, 5);
    const wholeMs = performance.now();
    await (await post(paced, "/v1/chat/completions", {})).text();
    assert.ok(performance.now() - wholeMs >= 120);
  });

  test("sends a token as soon as it is made", async () => {
    const response = await post(endless, "/v1/chat/completions", { stream: true });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes(" the")) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    assert.equal(text.split(" the").length - 1, 1);
  });

  test("breaks streams off, and only streams", async () => {
    const response = await post(cut, "/v1/chat/completions", { stream: true });
    assert.equal(response.status, 200);
    await assert.rejects(response.text());
    assert.equal((await post(cut, "/v1/chat/completions", {})).status, 200);
  });

  test("embeds and ranks all given texts", async () => {
    const vectors = (await (await post(quick, "/v1/embeddings", { input: ["a", "b", "c"] })).json()) as {
      data: { embedding: number[] }[];
    };
    assert.deepEqual(
      vectors.data.map(({ embedding }) => embedding.length),
      [8, 8, 8],
    );
    const ranked = (await (await post(quick, "/v1/ranking", { query: {}, passages: [{}, {}] })).json()) as {
      rankings: { index: number }[];
    };
    assert.deepEqual(
      ranked.rankings.map(({ index }) => index),
      [0, 1],
    );
  });

  test("lists a model", async () => {
    const { data } = (await (await fetch(`http://127.0.0.1:${quick.httpPort}/v1/models`)).json()) as {
      data: { id: string }[];
    };
    assert.deepEqual(
      data.map(({ id }) => id),
      ["mock-llm"],
    );
  });

  for (const [name, body, says] of [
    ["text that is no JSON", "{", /not JSON/],
    ["JSON that is no request", "[1]", /not a JSON object/],
    ["a limit of no tokens", { max_tokens: 0 }, /1 or more/],
  ] as const) {
    test(`refuses ${name}`, async () => {
      const response = await post(quick, "/v1/chat/completions", body);
      assert.equal(response.status, 400);
      assert.match(((await response.json()) as { error: { message: string } }).error.message, says);
    });
  }

  test("fails the planned share", async () => {
    const response = await post(failing, "/v1/chat/completions", { stream: true });
    assert.equal(response.status, 500);
    assert.match(await response.text(), /planned failure/);
  });
});
