import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AnswerPacker, type PackedAnswers, visitAnswers } from "../../../src/measure/tokens/packed-answers.ts";
import { TokenMeter } from "../../../src/measure/tokens/token-meter.ts";
import { explainNoText, tokenWarnings } from "../../../src/measure/tokens/token-warnings.ts";

/** Answers on their way to the thread that counts their tokens, and what it makes of them. */

const encoder = new TextEncoder();
const words = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

function event(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
}

/** Reads 10 ms after the send, and then every millisecond. */
function reads(sendNs: number, ...texts: string[]): { readNs: number; body: Uint8Array }[] {
  return texts.map((text, index) => ({ readNs: sendNs + (10 + index) * 1e6, body: encoder.encode(text) }));
}

const prompt = encoder.encode(JSON.stringify({ messages: [{ role: "user", content: "one two three" }] }));

describe("packed answers", () => {
  test("come out as they went in", () => {
    const packages: PackedAnswers[] = [];
    const packer = new AnswerPacker((packed) => packages.push(packed));
    packer.addPrompt(3, encoder.encode("prompt"));
    packer.addAnswer(3, 5e6, reads(5e6, "a", "", "ccc"));
    packer.addFailure();
    packer.addAnswer(7, 9e6, []);
    assert.deepEqual([packer.knowsPrompt(3), packer.knowsPrompt(7), packages.length], [true, false, 0]);
    packer.flush();
    packer.flush();
    assert.equal(packages.length, 1);
    const seen: unknown[] = [];
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    visitAnswers(packages[0] as PackedAnswers, {
      onPrompt: (step, body) => seen.push(["prompt", step, text(body)]),
      onAnswer: (step, sendNs, readNs, bodies) => seen.push([step, sendNs, [...readNs], bodies.map(text)]),
      onFailure: () => seen.push("failure"),
    });
    assert.deepEqual(seen, [
      ["prompt", 3, "prompt"],
      [3, 5e6, [10e6, 11e6, 12e6], ["a", "", "ccc"]],
      "failure",
      [7, 9e6, [], []],
    ]);
  });

  test("leave when a package is full, and none is lost", () => {
    let packages = 0;
    let answers = 0;
    let bytes = 0;
    const packer = new AnswerPacker((packed) => {
      packages++;
      visitAnswers(packed, {
        onPrompt: () => {},
        onAnswer: (_step, _sendNs, _readNs, bodies) => {
          answers++;
          bytes += bodies.reduce((sum, body) => sum + body.length, 0);
        },
        onFailure: () => {},
      });
    });
    const big = new Uint8Array(100_000).fill(65);
    for (let index = 0; index < 10; index++) packer.addAnswer(0, 0, [{ readNs: 1, body: big }]);
    packer.flush();
    assert.ok(packages >= 3, `${packages} packages`);
    assert.deepEqual([answers, bytes], [10, 1_000_000]);
  });
});

describe("a meter of tokens", () => {
  const meter = (): { meter: TokenMeter; packer: AnswerPacker } => {
    const made = new TokenMeter("chat", words);
    return { meter: made, packer: new AnswerPacker((packed) => made.add(packed)) };
  };

  test("measures times from the send, and tokens by the counter", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    packer.addAnswer(0, 1e6, reads(1e6, event("a"), event(" b"), event(" c"), "data: [DONE]\n\n"));
    packer.flush();
    made.cut();
    const { metrics, count } = made.merge(1);
    assert.equal(count, 1);
    const first = (name: keyof typeof metrics): number => metrics[name].at(0);
    assert.deepEqual(
      [first("timeToFirstTokenNs"), first("timeToSecondTokenNs"), first("interTokenLatencyNs")],
      [10e6, 1e6, 1e6],
    );
    assert.deepEqual([first("outputTokens"), first("inputTokens"), first("requestLatencyNs")], [3, 3, 12e6]);
  });

  test("merges the last windows, and forgets all but prompts when a level begins", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    const answerWindow = (count: number): void => {
      for (let index = 0; index < count; index++) packer.addAnswer(0, index, reads(index, event("a b"), event("c")));
      packer.addFailure();
      packer.flush();
      made.cut();
    };
    for (const count of [1, 2, 4, 8, 16]) answerWindow(count);
    assert.deepEqual(
      [1, 3, 4, 5].map((windows) => [made.merge(windows).count, made.merge(windows).failedCount]),
      [
        [16, 1],
        [28, 3],
        [30, 4],
        [30, 4],
      ],
    );
    made.reset();
    answerWindow(1);
    const merged = made.merge(3);
    assert.deepEqual([merged.count, merged.metrics.inputTokens.at(0)], [1, 3]);
  });

  test("counts what has no content, and what says that it went wrong", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    packer.addAnswer(0, 0, reads(0, "data: [DONE]\n\n"));
    packer.addAnswer(0, 0, reads(0, event("a"), "data: {not JSON\n\n"));
    packer.flush();
    made.cut();
    const { count, emptyCount, failedCount } = made.merge(1);
    assert.deepEqual([count, emptyCount, failedCount], [0, 1, 1]);
  });

  test("streams without their end mark failed where others had it, also before they did, and in a later window", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    const answerWindow = (...streams: readonly (readonly string[])[]): void => {
      for (const stream of streams) packer.addAnswer(0, 0, reads(0, ...stream));
      packer.flush();
      made.cut();
    };
    const cut = [event("a"), event(" b")];
    answerWindow(cut, [event("a")], []);
    const before = made.merge(1);
    assert.deepEqual([before.count, before.emptyCount, before.failedCount], [2, 1, 0]);
    assert.deepEqual(before.streamEnds, { markedCount: 0, unmarkedCount: 2, mark: "[DONE] or a finish_reason" });
    assert.match(tokenWarnings(before).join(), /2 of 2 streams ended without their end mark .*no stream .* had one/);

    answerWindow(cut, [...cut, "data: [DONE]\n\n"]);
    const after = made.merge(2);
    assert.deepEqual([after.count, after.emptyCount, after.failedCount], [1, 1, 3]);
    assert.match(after.failureExample ?? "", /ended after 2 events without its end mark/);
    assert.match(tokenWarnings(after).join(), /3 of 4 streams .* were cut short, and they count as failed/);
    answerWindow(cut);
    const last = made.merge(1);
    assert.deepEqual([last.count, last.failedCount], [0, 1]);
  });
});

describe("answers that only call tools are counted apart", () => {
  const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
  const message = (content: string | null, reason: string) => ({
    choices: [{ message: { content, tool_calls: [call] }, finish_reason: reason }],
  });
  const cases = [
    ["one of OpenAI's", "chat", message(null, "tool_calls"), 1],
    ["one that says something too", "chat", message("one", "tool_calls"), 0],
    ["an empty one", "chat", { choices: [{ message: { content: "" }, finish_reason: "stop" }] }, 0],
    [
      "one of Anthropic's",
      "anthropic",
      { type: "message", content: [{ type: "tool_use" }], stop_reason: "tool_use" },
      1,
    ],
  ] as const;
  for (const [name, kind, body, expected] of cases)
    test(name, () => {
      const meter = new TokenMeter(kind, words);
      const packer = new AnswerPacker((packed) => meter.add(packed));
      packer.addAnswer(0, 0, reads(0, JSON.stringify(body)));
      packer.flush();
      meter.cut();
      const columns = meter.merge(1);
      assert.equal(columns.toolCallCount, expected);
      const warned = tokenWarnings(columns).some((text) => text.includes(", 1 of which only call tools; only 0 are"));
      assert.equal(warned, expected === 1);
      assert.equal(explainNoText(columns) !== undefined, expected === 1);
    });
});
