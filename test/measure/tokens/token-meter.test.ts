import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { goodCountOf } from "../../../src/measure/good-requests.ts";
import type { MeasuredSink } from "../../../src/measure/tokens/answered-request.ts";
import { type PackedResponse, partsOf, ResponsePacker } from "../../../src/measure/tokens/packed-responses.ts";
import type { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { type MeterRules, TokenMeter } from "../../../src/measure/tokens/token-meter.ts";
import { explainNoText, tokenWarnings } from "../../../src/measure/tokens/token-warnings.ts";
import { FAILURE } from "./added-responses.ts";
import { valuesOf } from "./make-columns.ts";

const encoder = new TextEncoder();
const words = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

function event(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
}

/** A response of step 0, whose first response comes 10 ms after the send, and the others a millisecond after each other. */
function answer(sendNs: number, ...texts: string[]): PackedResponse {
  const offsetsNs = texts.map((_, index) => (10 + index) * 1e6);
  return { step: 0, sequenceId: 0, sendNs, offsetsNs, ...partsOf(texts.map((text) => encoder.encode(text))) };
}

const prompt = encoder.encode(JSON.stringify({ messages: [{ role: "user", content: "one two three" }] }));

describe("a meter of tokens", () => {
  const meter = (): { meter: TokenMeter; packer: ResponsePacker } => {
    const made = new TokenMeter({ kind: "chat", countTokens: words });
    return { meter: made, packer: new ResponsePacker((packed) => made.addPacked(packed)) };
  };

  test("measures times from the send, and tokens by the counter", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    packer.addResponse(answer(1e6, event("a"), event(" b"), event(" c"), "data: [DONE]\n\n"));
    packer.flush();
    made.cut();
    const { metrics, count } = made.merge(1).tokens;
    assert.equal(count, 1);
    const first = (name: keyof typeof metrics): number => metrics[name]?.mean ?? Number.NaN;
    assert.deepEqual(
      [first("timeToFirstTokenNs"), first("timeToSecondTokenNs"), first("interTokenLatencyNs")],
      [10e6, 1e6, 1e6],
    );
    assert.deepEqual([first("outputTokens"), first("inputTokens"), first("requestLatencyNs")], [3, 3, 12e6]);
  });

  test("counts each choice of a stream, whose parts arrive in any order, or all as one text", () => {
    const part = (index: number, content: string): string =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
    const both = `data: ${JSON.stringify({
      choices: [0, 1].map((index) => ({ index, delta: { content: " five" }, finish_reason: "stop" })),
    })}\n\n`;
    for (const [joinsTexts, tokens] of [
      [undefined, 6],
      [true, 5],
    ] as const) {
      const made = new TokenMeter({ kind: "chat", countTokens: words, joinsTexts });
      const packer = new ResponsePacker((packed) => made.addPacked(packed));
      packer.addPrompt(0, prompt);
      packer.addResponse(answer(1e6, part(0, "one"), part(1, "three"), part(0, " two"), part(1, " four"), both));
      packer.flush();
      made.cut();
      const { metrics } = made.merge(1).tokens;
      assert.equal(metrics.outputTokens?.mean, tokens);
      // The times are those of all choices.
      assert.equal(metrics.requestLatencyNs?.mean, 14e6);
    }
  });

  test("goodput and the latency per output token have the time to the end of the response, which follows the last token", () => {
    const limits = [12.5e6, 13e6].map((latency) => ({ latency, timeToFirstToken: 1e9 }));
    const made = new TokenMeter({ kind: "chat", countTokens: words, goodputs: limits });
    const packer = new ResponsePacker((packed) => made.addPacked(packed));
    packer.addPrompt(0, prompt);
    packer.addResponse(answer(1e6, event("a"), event(" b"), event(" c"), "data: [DONE]\n\n"));
    packer.flush();
    made.cut();
    const { good, metrics } = made.merge(1).tokens;
    assert.deepEqual(good.map(goodCountOf), [0, 1]);
    assert.deepEqual([metrics.requestLatencyNs?.mean, metrics.normalizedTimePerOutputTokenNs?.mean], [12e6, 13e6 / 3]);
  });

  test("a tap has what was measured since it was taken last, whatever windows and other taps do", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    const add = (texts: string): void => {
      packer.addResponse(answer(0, event(texts), "data: [DONE]\n\n"));
      packer.flush();
    };
    const take = (tap: number): number[] => valuesOf(made.takeRecent(tap).tokens.metrics.outputTokens);
    add("before");
    assert.deepEqual(take(0), [], "opens the tap");
    add("a b");
    made.cut();
    add("a b c");
    assert.deepEqual(take(1), [], "opens the tap");
    packer.addFailure(FAILURE);
    add("a");
    const taken = made.takeRecent(0).tokens;
    assert.deepEqual([valuesOf(taken.metrics.outputTokens), taken.failedCount], [[1, 2, 3], 1]);
    assert.deepEqual([take(0), take(1)], [[], [1]]);
    made.cut();
    assert.deepEqual(valuesOf(made.merge(2).tokens.metrics.outputTokens), [1, 1, 2, 3], "windows have them too");
  });

  test("merges the last windows, and drops all but prompts when a level begins", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    const answerWindow = (count: number): void => {
      for (let index = 0; index < count; index++) packer.addResponse(answer(index, event("a b"), event("c")));
      packer.addFailure(FAILURE);
      packer.flush();
      made.cut();
    };
    for (const count of [1, 2, 4, 8, 16]) answerWindow(count);
    assert.deepEqual(
      [1, 3, 4, 5].map((windows) => [made.merge(windows).tokens.count, made.merge(windows).tokens.failedCount]),
      [
        [16, 1],
        [28, 3],
        [30, 4],
        [30, 4],
      ],
    );
    made.reset();
    answerWindow(1);
    const merged = made.merge(3).tokens;
    assert.deepEqual([merged.count, merged.metrics.inputTokens?.mean], [1, 3]);
  });

  test("counts answers without content, and those that report an error", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    packer.addResponse(answer(0, "data: [DONE]\n\n"));
    packer.addResponse(answer(0, event("a"), "data: {not JSON\n\n"));
    packer.flush();
    made.cut();
    const { count, emptyCount, failedCount } = made.merge(1).tokens;
    assert.deepEqual([count, emptyCount, failedCount], [0, 1, 1]);
  });

  test("streams without their end mark failed where others had it, also before they did, and in a later window", () => {
    const { meter: made, packer } = meter();
    packer.addPrompt(0, prompt);
    const answerWindow = (...streams: readonly (readonly string[])[]): void => {
      for (const stream of streams) packer.addResponse(answer(0, ...stream));
      packer.flush();
      made.cut();
    };
    const cut = [event("a"), event(" b")];
    answerWindow(cut, [event("a")], []);
    const before = made.merge(1).tokens;
    assert.deepEqual([before.count, before.emptyCount, before.failedCount], [2, 1, 0]);
    assert.deepEqual(before.streamEnds, { markedCount: 0, unmarkedCount: 2, mark: "[DONE] or a finish_reason" });
    assert.match(tokenWarnings(before).join(), /^no stream ended with its end mark /);

    answerWindow(cut, [...cut, "data: [DONE]\n\n"]);
    const after = made.merge(2).tokens;
    assert.deepEqual([after.count, after.emptyCount, after.failedCount], [1, 1, 3]);
    assert.match(after.failureExample ?? "", /ended after 2 events without its end mark/);
    assert.match(tokenWarnings(after).join(), /3 of 4 streams .* were cut short, and they count as failed/);
    answerWindow(cut);
    const last = made.merge(1).tokens;
    assert.deepEqual([last.count, last.failedCount], [0, 1]);
  });
});

describe("a meter that keeps all windows", () => {
  const open = (rules: Partial<MeterRules> = {}): { meter: TokenMeter; packer: ResponsePacker; seen: string[] } => {
    const seen: string[] = [];
    const sink: MeasuredSink = {
      onMeasured: ({ sendNs, error }) => seen.push(error === undefined ? `${sendNs}` : `${sendNs} failed`),
      onFailure: ({ isWarmup }) => seen.push(isWarmup ? "lost in warm-up" : "lost"),
    };
    const made = new TokenMeter({
      kind: "chat",
      countTokens: words,
      keepsAllWindows: true,
      keepsRows: true,
      sink,
      ...rules,
    });
    const packer = new ResponsePacker((packed) => made.addPacked(packed));
    packer.addPrompt(0, prompt);
    return { meter: made, packer, seen };
  };
  const add = (packer: ResponsePacker, ...sends: number[]): void => {
    for (const sendNs of sends) packer.addResponse(answer(sendNs, event("a"), "data: [DONE]\n\n"));
    packer.flush();
  };

  test("merges every window of the level, without the requests between its end and the next level", () => {
    const { meter: made, packer, seen } = open();
    made.warmUp();
    add(packer, 1);
    packer.addFailure(FAILURE);
    packer.flush();
    made.reset();
    for (const sendNs of [2, 3, 4, 5, 6, 7]) {
      made.resume();
      add(packer, sendNs);
      made.cut();
    }
    add(packer, 8);
    packer.addFailure(FAILURE);
    packer.flush();
    const columns = made.merge(3).tokenRows as TokenColumns;
    add(packer, 9);
    made.finish();
    assert.deepEqual([...columns.sendNs.view()], [2, 3, 4, 5, 6, 7]);
    assert.equal(columns.failedCount, 0);
    assert.deepEqual(seen, ["lost in warm-up", "2", "3", "4", "5", "6", "7", "lost"]);
  });

  test("requests between two windows belong to the second, in their order", () => {
    const { meter: made, packer, seen } = open();
    made.reset();
    add(packer, 1);
    made.cut();
    add(packer, 2);
    packer.addFailure(FAILURE);
    packer.flush();
    made.resume();
    add(packer, 3);
    made.cut();
    assert.equal(made.merge(1).tokens.count, 3);
    made.finish();
    assert.deepEqual(seen, ["1", "2", "lost", "3"]);
  });

  test("a stream without an end mark is a failure in columns and single requests alike, whenever the first mark comes", () => {
    for (const marksAt of [0, 1, 2]) {
      const { meter: made, packer, seen } = open();
      made.reset();
      for (const sendNs of [0, 1, 2])
        if (sendNs === marksAt) add(packer, sendNs);
        else packer.addResponse(answer(sendNs, event("a"), event("b")));
      packer.flush();
      made.cut();
      const { count, failedCount } = made.merge(1).tokens;
      made.finish();
      assert.deepEqual([count, failedCount], [1, 2]);
      assert.deepEqual(
        seen,
        [0, 1, 2].map((sendNs) => (sendNs === marksAt ? `${sendNs}` : `${sendNs} failed`)),
      );
    }
  });

  test("where no stream has a mark all are measured, and after 1,000 of them a late mark changes nothing", () => {
    const { meter: made, packer, seen } = open();
    made.reset();
    for (let sendNs = 0; sendNs < 1000; sendNs++) packer.addResponse(answer(sendNs, event("a"), event("b")));
    packer.flush();
    assert.equal(seen.length, 1000);
    add(packer, 1000);
    packer.addResponse(answer(1001, event("a"), event("b")));
    packer.flush();
    made.cut();
    const { count, failedCount } = made.merge(1).tokens;
    assert.deepEqual([count, failedCount, seen.length], [1002, 0, 1002]);
  });

  test("the first responses determine the kind of responses to a template", () => {
    const cases = [
      ['{"embedding": [0.1, 0.2]}', "embeddings"],
      ['{"results": [{"score": 1}]}', "rankings"],
      ['{"text": "a b"}', "custom"],
    ] as const;
    for (const [body, kind] of cases) {
      const { meter: made, packer } = open({ kind: "custom" });
      made.reset();
      packer.addResponse(answer(1, body));
      packer.addResponse(answer(2, body));
      packer.flush();
      made.cut();
      const tokens = made.merge(1).tokens;
      assert.deepEqual([tokens.responseKind, tokens.count], [kind, 2]);
      assert.equal(tokens.metrics.outputTokens?.count ?? 0, kind === "custom" ? 2 : 0);
    }
  });
});

describe("responses that only call tools are counted separately where calls are no output", () => {
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
      const meter = new TokenMeter({ kind, countTokens: words, omitsToolCalls: true });
      const packer = new ResponsePacker((packed) => meter.addPacked(packed));
      packer.addPrompt(0, encoder.encode("{}"));
      packer.addResponse(answer(0, JSON.stringify(body)));
      packer.flush();
      meter.cut();
      const columns = meter.merge(1).tokens;
      assert.equal(columns.toolCallCount, expected);
      const warned = tokenWarnings(columns).some((text) => text.includes(", 1 of which only call tools; only 0 are"));
      assert.equal(warned, expected === 1);
      assert.equal(explainNoText(columns) !== undefined, expected === 1);
    });
});
