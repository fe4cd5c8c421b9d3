import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { checkSchema } from "../../report/check-schema.ts";
import { endLater } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { runChat } from "./chat-server.ts";

/** What `genai-perf profile` tells beyond the original: a second table, and a JSON file of its own. */

const COUNT = ["--request-count", "4"];
const TITLE = /Rampart \| More Metrics/;

type Delta = Readonly<Record<string, string>>;

/** An event for each of two deltas. */
function stream(response: ServerResponse, [first, second]: readonly [Delta, Delta]): void {
  const event = (delta: Delta): string => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;
  response.writeHead(200, { "Content-Type": "text/event-stream" }).write(event(first));
  endLater(response, `${event(second)}data: [DONE]\n\n`);
}

const answerPlainly = (response: ServerResponse): void => stream(response, [{ content: "the" }, { content: " the" }]);
const answerThinking = (response: ServerResponse): void =>
  stream(response, [{ reasoning_content: "the the" }, { content: "the" }]);

function ownFile(files: ReadonlyMap<string, string>, name = "profile_export_genai_perf_rampart.json"): string {
  return [...files].find(([path]) => path.endsWith(name))?.[1] ?? "";
}

describe("genai-perf profile: Rampart's own metrics", () => {
  test("nothing special: no second table but with -v, and always the file", LIMIT, async () => {
    const quiet = await runChat(() => COUNT, { answer: answerPlainly });
    assert.equal(quiet.code, 0, quiet.err);
    assert.doesNotMatch(quiet.out, TITLE);
    const json = JSON.parse(ownFile(quiet.files));
    checkSchema(json);
    assert.deepEqual(json.requests, { sent: 4, completed: 4, failed: 0 });
    const [{ tokens, metrics, client }] = json.levels;
    assert.deepEqual(
      { ...tokens, warnings: [] },
      { withContent: 4, withoutContent: 0, withoutEndMark: 0, failed: 0, warnings: [] },
    );
    assert.equal(metrics.latencyUs.count, 4);
    assert.equal(metrics.inputTokens.mean, 10);
    assert.ok(client.cpuRatio > 0);

    const verbose = await runChat(() => [...COUNT, "-v"], { answer: answerPlainly });
    assert.match(verbose.out, /LLM Metrics[\s\S]*Rampart \| More Metrics/);
    assert.match(verbose.out, /│ +Error Rate \(%\) │ +0\.00 │/);
    assert.doesNotMatch(verbose.out, /Good Requests|Server's Count|Reasoning/);
  });

  test("failed requests bring the table, their rate and the share of good ones", LIMIT, async () => {
    const answer = (response: ServerResponse, index: number): void => {
      if (index === 1) response.writeHead(500).end('{"error":{"message":"boom"}}');
      else answerPlainly(response);
    };
    const args = [...COUNT, "--goodput", "request_latency:10000"];
    const { out, files } = await runChat(() => args, { answer });
    assert.match(out, /│ +Error Rate \(%\) │ +25\.00 │/);
    assert.match(out, /│ +Good Requests \(%\) │ +75\.00 │/);
    const json = JSON.parse(ownFile(files));
    const [{ tokens, metrics }] = json.levels;
    assert.deepEqual([json.requests.completed, json.requests.failed, tokens.withContent], [3, 1, 3]);
    assert.deepEqual(json.failures, [{ kind: "http", count: 1, example: "HTTP status 500: boom", status: 500 }]);
    assert.deepEqual([metrics.errorRateRatio.value, metrics.goodRatio.value], [0.25, 0.75]);
    assert.ok(Math.abs(metrics.goodputPerSec.value / metrics.throughputPerSec.value - 1) < 1e-6);
    assert.deepEqual(json.plan.outputs.genaiPerf.goodput, { request_latency: 10_000 });
  });

  test("reasoning brings the table: its first token, and how much of it there was", LIMIT, async () => {
    const { code, out, err, files } = await runChat(() => COUNT, { answer: answerThinking });
    assert.equal(code, 0, err);
    assert.match(out, /First Output Token \(ms\)[\s\S]*First Reasoning Token \(ms\)/);
    const [{ metrics, tokens }] = JSON.parse(ownFile(files)).levels;
    const { timeToFirstReasoningTokenUs: thinking, timeToFirstOutputTokenUs: output, reasoningTokens } = metrics;
    assert.ok(thinking.mean < output.mean && reasoningTokens.mean > 0);
    assert.equal(thinking.count, 4);
    assert.match(tokens.warnings.join(), /began with reasoning/);
  });

  test(
    "a server that counts other tokens brings the table and a warning in the file, which follows the export's name",
    LIMIT,
    async () => {
      const { code, out, err, files } = await runChat(() => [...COUNT, "--profile-export-file", "mine.json"]);
      assert.equal(code, 0, err);
      assert.match(
        out,
        /│ +Input Tokens, Client's Count │ +10\.00 │[^\n]*\n│ +Input Tokens, Server's Count │ +12\.00 │/,
      );
      const [{ metrics, durationSec, tokens }] = JSON.parse(ownFile(files, "mine_genai_perf_rampart.json")).levels;
      assert.equal(metrics.serverInputTokens.mean, 12);
      assert.ok(Math.abs(metrics.serverTokensPerSec.value * durationSec - 4 * (12 + 2)) < 1e-9);
      assert.match(tokens.warnings.join(), / 48 input tokens .* 40/);
    },
  );
});
