import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { endLater } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { type ChatRun, runChat } from "./chat-server.ts";

/** The server's own token counts beside the tokenizer's, and what else makes lengths and prompts other than they seem. */

/** Streams of two tokens, of which a server says that they were `tokens`. */
const answer =
  (tokens: number) =>
  (response: ServerResponse): void => {
    const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(event({ choices: [{ delta: { content: "the" } }] }));
    const usage = { prompt_tokens: 10, completion_tokens: tokens };
    const end = event({ choices: [{ delta: { content: " the" }, finish_reason: "stop" }] });
    endLater(response, `${end}${event({ choices: [], usage })}data: [DONE]\n\n`);
  };

function fileOf({ files }: ChatRun, end: string): string {
  return [...files].find(([path]) => path.endsWith(end))?.[1] ?? "";
}

function bodiesOf(ran: ChatRun): Record<string, unknown>[] {
  const { data } = JSON.parse(fileOf(ran, "inputs.json")) as { data: { payload: Record<string, unknown>[] }[] };
  return data.flatMap(({ payload }) => payload);
}

describe("the server's own counts", () => {
  for (const [name, args, expected] of [
    ["are asked for in streams", [], { include_usage: true }],
    ["are not asked for where that is said", ["--no-server-usage"], undefined],
    [
      "are asked for as the user says",
      ["--extra-inputs", '{"stream_options":{"include_usage":false}}'],
      { include_usage: false },
    ],
  ] as const)
    test(name, LIMIT, async () => {
      const ran = await runChat(() => ["--request-count", "2", ...args], { answer: answer(2) });
      assert.equal(ran.code, 0, ran.err);
      for (const body of bodiesOf(ran)) assert.deepEqual([body["stream"], body["stream_options"]], [true, expected]);
    });

  test("replace a tokenizer's counts without a tokenizer, and are consistent", LIMIT, async () => {
    const ran = await runChat(
      (folder) => {
        writeFileSync(join(folder, "in.jsonl"), '{"text":"hello"}\n{"text":"you"}\n');
        return ["--tokenizer", "none", "--input-file", join(folder, "in.jsonl"), "--request-count", "2", "-v"];
      },
      { answer: answer(3) },
    );
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.out, /Output Sequence Length \(tokens\) │ +3\.00/);
    assert.match(ran.out, /Input Sequence Length \(tokens\) │ +10\.00/);
    assert.match(ran.out, /Output Tokens, Server's Count │ +3\.00/);
    assert.doesNotMatch(ran.out, /Client's Count/);
    assert.doesNotMatch(ran.err, /the server counts/);
    const report = JSON.parse(fileOf(ran, "profile_export_genai_perf.json"));
    const [{ metrics }] = JSON.parse(fileOf(ran, "_rampart.json")).levels;
    assert.equal(report.output_sequence_length.avg, metrics.serverOutputTokens.mean);
    const perRequest = report.output_token_throughput.avg / report.request_throughput.avg;
    assert.ok(Math.abs(perRequest - report.output_sequence_length.avg) < 1e-6, String(perRequest));
    assert.deepEqual(metrics.totalTokensPerSec, metrics.serverTokensPerSec);
    const gapMs = report.request_latency.avg - report.time_to_first_token.avg;
    assert.ok(Math.abs(report.inter_token_latency.avg * 2 - gapMs) < 1e-5, String(gapMs));
  });

  test("that differ from the tokenizer's are reported for streams too", LIMIT, async () => {
    const ran = await runChat(() => ["--request-count", "2"], { answer: answer(5) });
    assert.match(ran.err, / 10 output tokens .* 6/);
    assert.match(ran.out, /Output Tokens, Client's Count │ +3\.00[\s\S]*Output Tokens, Server's Count │ +5\.00/);
  });
});

describe("lengths that were asked for", () => {
  for (const [name, args, pattern] of [
    ["and did not come", ["--osl", "8"], /2 of 2 responses .* 2\.0 tokens .* instead of 8\.0/],
    ["and came", ["--osl", "2"], undefined],
    ["as a limit only", ["--extra-inputs", "max_tokens:8"], undefined],
  ] as const)
    test(name, LIMIT, async () => {
      const ran = await runChat(() => ["--request-count", "2", ...args], { answer: answer(2) });
      assert.equal(ran.code, 0, ran.err);
      if (pattern === undefined) assert.doesNotMatch(ran.err, /the requested length/);
      else assert.match(ran.err, pattern);
      const [{ metrics, tokens }] = JSON.parse(fileOf(ran, "_rampart.json")).levels;
      assert.equal(metrics.requestedOutputTokens?.mean, name === "as a limit only" ? undefined : Number(args[1]));
      assert.equal(/the requested length/.test(String(tokens.warnings)), pattern !== undefined);
    });
});

describe("prompts that repeat", () => {
  for (const [name, args, pattern] of [
    [
      "are told",
      ["--num-dataset-entries", "3", "--request-count", "7"],
      /7 requests were made from 3 prompts: .*; --num-dataset-entries makes more/,
    ],
    [
      "one by one, in their order",
      ["--num-dataset-entries", "3", "--request-count", "3", "--concurrency", "2"],
      undefined,
    ],
  ] as const)
    test(name, LIMIT, async () => {
      const ran = await runChat(() => args, { answer: answer(2) });
      assert.equal(ran.code, 0, ran.err);
      if (pattern === undefined) assert.doesNotMatch(ran.err, /requests were made from/);
      else assert.match(ran.err, pattern);
      const { notes } = JSON.parse(fileOf(ran, "_rampart.json")) as {
        readonly notes: readonly { readonly code: string }[];
      };
      assert.equal(
        notes.some(({ code }) => code === "repeated-prompts"),
        pattern !== undefined,
      );
    });
});
