import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { sum } from "../../../src/plan/units.ts";
import type { ResponseKind } from "../../../src/service/openai/response-kind.ts";
import { type Response, readResponse, readTensorResponse } from "../../../src/service/openai/response-text.ts";

/** From what was read from a socket to texts, by kind of response. */

function event(data: unknown, name = ""): string {
  return `${name === "" ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

function chat(delta: object): string {
  return event({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null }] });
}

const ROLE = chat({ role: "assistant", content: "" });
const FINISH = event({ object: "chat.completion.chunk", choices: [{ delta: {}, finish_reason: "stop" }] });
const USAGE = event({
  choices: [],
  usage: { prompt_tokens: 5, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 1 } },
});
const DONE = event("[DONE]");
const the = chat({ content: " the" });
const king = chat({ content: " king" });

/** Output as `read:text`, with the number of events where there are several. */
function show(answer: Response): string[] {
  return answer.output.map(({ read, text, events }) => `${read}:${text}${events > 1 ? ` (${events})` : ""}`);
}

const streams: readonly (readonly [name: string, reads: readonly string[], output: readonly string[]])[] = [
  ["an event per read", [ROLE, the, king, FINISH, USAGE, DONE], ["1: the", "2: king"]],
  ["a role together with the first token", [ROLE + the, king + FINISH + DONE], ["0: the", "1: king"]],
  ["several tokens in one read", [the + king + the], ["0: the king the (3)"]],
  ["an event torn in two counts where it began", [the.slice(0, 30), the.slice(30), king], ["0: the", "2: king"]],
  ["an event torn in three", [the.slice(0, 3), the.slice(3, 50), the.slice(50)], ["0: the"]],
  ["a tail together with the next event", [the.slice(0, 30), the.slice(30) + king], ["0: the", "1: king"]],
  ["a read that ends before the blank line", [the.trimEnd(), `\n\n${king}`], ["0: the", "1: king"]],
  ["reads without blank lines", [the.trimEnd(), king.trimEnd()], ["0: the", "1: king"]],
  ["lines that end in CR LF", [(the + king).replaceAll("\n", "\r\n")], ["0: the king (2)"]],
  ["comments, ids and retries", [": ping\n\n", `id: 1\nretry: 5\n${the}`], ["1: the"]],
  ["no space after the colon", [the.replace("data: ", "data:")], ["0: the"]],
  ["a text that holds what looks like an event", [chat({ content: "data: x" })], ["0:data: x"]],
  [
    "a text that an event has elsewhere too",
    ["aa", "ba", "bb"].map(([id, content]) => event({ id, choices: [{ index: 0, delta: { content } }] })),
    ["0:a", "1:a", "2:b"],
  ],
  ["nothing at all", [], []],
  ["only role and end", [ROLE, FINISH + DONE], []],
  ["content that is null, and an empty tool call", [chat({ content: null, tool_calls: [{ index: 0 }] })], []],
];

for (const [name, reads, output] of streams) {
  test(`chat stream: ${name}`, () => {
    const answer = readResponse("chat", reads);
    assert.deepEqual(show(answer), output);
    assert.equal(answer.error, undefined);
  });
}

test("usage and finish reason are read wherever they come", () => {
  const { usage, finishReason } = readResponse("chat", [the + FINISH, USAGE + DONE]);
  assert.deepEqual(usage, { promptTokens: 5, completionTokens: 3, reasoningTokens: 1 });
  assert.equal(finishReason, "stop");
});

test("however a stream is torn, its text stays whole and its order kept", () => {
  const stream = ROLE + the + chat({ content: " é😀" }) + king + FINISH + USAGE + DONE;
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: stream.length - 1 }), { maxLength: 12 });
  fc.assert(
    fc.property(cuts, (places) => {
      const ends = [...places.toSorted((a, b) => a - b), stream.length];
      const reads = ends.map((end, i) => stream.slice(i === 0 ? 0 : ends[i - 1], end));
      const answer = readResponse("chat", reads);
      assert.equal(answer.output.map(({ text }) => text).join(""), " the é😀 king");
      assert.equal(sum(answer.output.map(({ events }) => events)), 3);
      assert.equal(answer.finishReason, "stop");
      assert.equal(answer.error, undefined);
    }),
  );
});

/** Events of kinds of responses around a text, and what else a server sends beside it. */
const ENVELOPES: readonly (readonly [kind: ResponseKind, wrap: (text: string, other: string) => unknown])[] = [
  ["chat", (content, id) => ({ id, choices: [{ index: 0, delta: { content }, finish_reason: null }] })],
  ["chat", (content, text) => ({ choices: [{ index: 0, text, delta: { content } }] })],
  ["chat", (content, reasoning) => ({ choices: [{ index: 0, delta: { content, reasoning } }] })],
  [
    "chat",
    (content) => ({
      choices: [
        { index: 0, delta: { content } },
        { index: 1, delta: { content } },
      ],
    }),
  ],
  ["completions", (text, id) => ({ id, choices: [{ index: 0, text, logprobs: null }] })],
  ["responses", (delta, item_id) => ({ type: "response.output_text.delta", item_id, delta })],
  ["anthropic", (text, id) => ({ type: "content_block_delta", id, delta: { type: "text_delta", text } })],
  ["generate", (text_output, model_name) => ({ model_name, text_output })],
  ["custom", (content, text) => ({ text, content })],
];

/** The text with which the reader checks where an event has its text. */
const PROBE = "\u27e6text\u27e7";

test("each event of a stream is read as if it were alone, whatever stands before it", () => {
  const text = fc.oneof(
    fc.constantFrom("a", "b"),
    fc.constantFrom("", "chat", "\u27e6text\u27e7", '"', "\\", "\n", "id", "\u0085", '","text":"b'),
    fc.string({ unit: "binary", maxLength: 6 }),
  );
  const events = fc.array(fc.tuple(text, text), { maxLength: 12 });
  fc.assert(
    fc.property(fc.constantFrom(...ENVELOPES), events, fc.boolean(), ([kind, wrap], pairs, isEscaped) => {
      const lines = pairs.map(([content, other]) => {
        const line = event(wrap(content, other));
        return isEscaped
          ? line.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
          : line;
      });
      const { output, reasoning, error } = readResponse(kind, lines);
      const alone = lines.map((line) => readResponse(kind, [line]));
      for (const [own, list] of [
        [output, "output"],
        [reasoning, "reasoning"],
      ] as const)
        assert.deepEqual(
          own.map(({ read, text }) => [read, text]),
          alone.flatMap((one, read) => one[list].map((piece) => [read, piece.text])),
        );
      assert.equal(error, alone.find((one) => one.error !== undefined)?.error);
    }),
    {
      examples: [
        [
          ENVELOPES[0] as (typeof ENVELOPES)[number],
          [
            [PROBE, PROBE],
            [PROBE, " "],
          ],
          false,
        ],
      ],
    },
  );
});

test("reasoning is kept apart from output", () => {
  for (const field of ["reasoning_content", "reasoning"]) {
    const reads = [chat({ [field]: "hm" }), chat({ [field]: "!" }) + the, king];
    const answer = readResponse("chat", reads);
    assert.deepEqual(show(answer), ["1: the", "2: king"]);
    assert.deepEqual(
      answer.reasoning.map(({ read, text }) => [read, text]),
      [
        [0, "hm"],
        [1, "!"],
      ],
    );
  }
});

const kinds: readonly (readonly [
  name: string,
  kind: ResponseKind,
  reads: readonly string[],
  expected: {
    readonly output: readonly string[];
    readonly reasoning?: string;
    readonly finishReason?: string;
    readonly usage?: readonly (number | undefined)[];
  },
])[] = [
  [
    "a whole chat completion",
    "chat",
    [
      '{"object":"chat.completion","choices":[{"message":{"content":"hi","reasoning_content":"hm"},"finish_reason":"length"}],"usage":{"prompt_tokens":2,"completion_tokens":1}}',
    ],
    { output: ["0:hi"], reasoning: "hm", finishReason: "length", usage: [2, 1, undefined] },
  ],
  [
    "two choices, both are output",
    "chat",
    [
      '{"choices":[{"message":{"content":"hi","reasoning_content":"h"}},{"message":{"content":" you","reasoning_content":"m"},"finish_reason":"stop"}]}',
    ],
    { output: ["0:hi you"], reasoning: "hm", finishReason: "stop" },
  ],
  [
    "a whole body in several reads counts where it ended",
    "chat",
    ['{"choices":[{"message":', '{"content":"hi"}}]}'],
    { output: ["1:hi"] },
  ],
  [
    "content in parts",
    "multimodal",
    ['{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}]}'],
    { output: ["0:ab"] },
  ],
  [
    "a stream of completions, one without its object",
    "completions",
    [
      event({ object: "text_completion", choices: [{ text: "a" }] }),
      event({ choices: [{ text: "b", finish_reason: "stop" }] }),
      DONE,
    ],
    { output: ["0:a", "1:b"], finishReason: "stop" },
  ],
  [
    "the responses API, streamed",
    "responses",
    [
      event({ type: "response.created", response: { status: "in_progress" } }, "response.created"),
      event({ type: "response.reasoning_summary_text.delta", delta: "hm" }, "response.reasoning_summary_text.delta"),
      event({ type: "response.output_text.delta", delta: "a" }, "response.output_text.delta") +
        event({ type: "response.output_text.delta", delta: "b" }, "response.output_text.delta"),
      event({ type: "response.output_text.done", text: "ab" }, "response.output_text.done"),
      event(
        {
          type: "response.completed",
          response: {
            object: "response",
            status: "completed",
            output: [{ type: "message", content: [{ type: "output_text", text: "ab" }] }],
            usage: { input_tokens: 4, output_tokens: 6, output_tokens_details: { reasoning_tokens: 3 } },
          },
        },
        "response.completed",
      ),
    ],
    { output: ["2:ab (2)"], reasoning: "hm", finishReason: "completed", usage: [4, 6, 3] },
  ],
  [
    "the responses API, whole",
    "responses",
    [
      '{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning","summary":[{"text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"ab"}]}],"usage":{"input_tokens":4,"output_tokens":6}}',
    ],
    { output: ["0:ab"], reasoning: "hm", finishReason: "completed", usage: [4, 6, undefined] },
  ],
  [
    "Anthropic messages, streamed",
    "anthropic",
    [
      event(
        {
          type: "message_start",
          message: { usage: { input_tokens: 2, cache_read_input_tokens: 7, output_tokens: 1 } },
        },
        "message_start",
      ),
      event(
        { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
        "content_block_start",
      ),
      event({ type: "content_block_delta", delta: { type: "thinking_delta", thinking: "hm" } }, "content_block_delta"),
      event({ type: "ping" }, "ping"),
      event({ type: "content_block_delta", delta: { type: "text_delta", text: "a" } }, "content_block_delta"),
      event(
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 12 } },
        "message_delta",
      ),
      event({ type: "message_stop" }, "message_stop"),
    ],
    { output: ["4:a"], reasoning: "hm", finishReason: "end_turn", usage: [9, 12, undefined] },
  ],
  [
    "an Anthropic message, whole",
    "anthropic",
    [
      '{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}',
    ],
    { output: ["0:a"], finishReason: "end_turn", usage: [1, 2, undefined] },
  ],
  [
    "Triton generate_stream",
    "generate",
    [event({ text_output: "a" }), event({ text_output: "" }), event({ text_output: "b" })],
    { output: ["0:a", "2:b"] },
  ],
  ["Triton generate", "generate", ['{"model_name":"m","text_output":"ab"}'], { output: ["0:ab"] }],
  ["Hugging Face generate", "huggingface-generate", ['[{"generated_text":"ab"}]'], { output: ["0:ab"] }],
  [
    "Hugging Face generate, streamed: the last event repeats the text",
    "huggingface-generate",
    [
      event({ token: { text: "a", special: false }, generated_text: null }),
      event({ token: { text: "b", special: false }, generated_text: null }),
      event({ token: { text: "</s>", special: true }, generated_text: "ab", details: { finish_reason: "eos_token" } }),
    ],
    { output: ["0:a", "1:b"], finishReason: "eos_token" },
  ],
  [
    "embeddings have no text",
    "embeddings",
    ['{"data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":3,"total_tokens":3}}'],
    { output: [], usage: [3, undefined, undefined] },
  ],
  ["rankings have no text", "rankings", ['[{"index":0,"score":0.5}]'], { output: [] }],
];

for (const [name, kind, reads, expected] of kinds) {
  test(name, () => {
    const answer = readResponse(kind, reads);
    assert.deepEqual(show(answer), expected.output);
    assert.equal(answer.reasoning.map(({ text }) => text).join(""), expected.reasoning ?? "");
    assert.equal(answer.finishReason, expected.finishReason);
    const { usage } = answer;
    const counts = usage && [usage.promptTokens, usage.completionTokens, usage.reasoningTokens];
    assert.deepEqual(counts, expected.usage);
    assert.equal(answer.error, undefined);
  });
}

const failures: readonly (readonly [name: string, reads: readonly string[], error: string | RegExp])[] = [
  ["an error event in mid-stream", [the, event({ error: { message: "out of memory", code: 500 } })], "out of memory"],
  ["an event that is named an error", [the, event("engine died", "error")], "engine died"],
  ["a named error with a message", [event({ type: "error", error: { message: "overloaded" } }, "error")], "overloaded"],
  ["a body that is an error", ['{"error":"model not found"}'], "model not found"],
  ["vLLM's error body", ['{"object":"error","message":"too long","code":400}'], "too long"],
  ["a stream that ends in mid-event", [the, king.slice(0, 40)], /^unreadable response: /],
  ["a body that is no JSON", ["{no"], /^unreadable response: \{no$/],
];

for (const [name, reads, error] of failures) {
  test(`${name} is the response's error, not an exception`, () => {
    const answer = readResponse("chat", reads);
    if (typeof error === "string") assert.equal(answer.error, error);
    else assert.match(answer.error ?? "", error);
  });
}

test("the word error in a text is not taken as an error", () => {
  const answer = readResponse("chat", [`event: message\n${chat({ content: "an error event" })}`]);
  assert.deepEqual(show(answer), ["0:an error event"]);
  assert.equal(answer.error, undefined);
});

test("every response of a KServe model counts, also one without text", () => {
  const answer = readTensorResponse("kserve", [{ text_output: "a" }, { text_output: ["b"] }, { text_output: "" }, {}]);
  assert.deepEqual(show(answer), ["0:a", "1:b", "2:", "3:"]);
});

const idAnswers: readonly (readonly [
  name: string,
  responses: readonly Readonly<Record<string, unknown>>[],
  expected: Pick<Response, "outputTokens" | "isStreamed" | "error"> & { readonly reads: readonly number[] },
])[] = [
  [
    "a stream counts the ids of its responses, an empty one none",
    [{ output_ids: 7 }, { output_ids: [8, 9] }, { output_ids: "" }],
    { outputTokens: 3, isStreamed: true, error: undefined, reads: [0, 1, 2] },
  ],
  [
    "all ids in one response are no stream, and its time is that of its end",
    [{ output_ids: [7, 8, 9] }, { output_ids: "" }],
    { outputTokens: 3, isStreamed: false, error: undefined, reads: [1] },
  ],
  [
    "one id is as much of a stream as there can be",
    [{ output_ids: 7 }, { output_ids: "" }],
    { outputTokens: 1, isStreamed: true, error: undefined, reads: [0, 1] },
  ],
  [
    "a tensor named error is none",
    [{ output_ids: [7], error: "x" }],
    { outputTokens: 1, isStreamed: true, error: undefined, reads: [0] },
  ],
  [
    "other outputs are an error",
    [{ OUT: 1, IDX: 2 }],
    { outputTokens: undefined, isStreamed: true, error: "the response has no output_ids, only OUT, IDX", reads: [0] },
  ],
];
for (const [name, responses, { reads, ...expected }] of idAnswers)
  test(`ids: ${name}`, () => {
    const { output, outputTokens, isStreamed, error } = readTensorResponse("token-ids", responses);
    assert.deepEqual({ outputTokens, isStreamed, error }, expected);
    assert.deepEqual(
      output.map(({ read }) => read),
      reads,
    );
  });

const lines: readonly (readonly [name: string, reads: readonly string[]])[] = [
  ["between its lines", ["event: message\n", the]],
  ["at a colon of its JSON", [the.slice(0, the.indexOf('":') + 1), the.slice(the.indexOf('":') + 1)]],
  ["within its blank line", [the.slice(0, -1), "\n"]],
  ["after a comment without an end", [": ping", the]],
];

for (const [name, reads] of lines) {
  test(`an event is read that was torn ${name}`, () => {
    const answer = readResponse("chat", reads);
    assert.equal(answer.output.map(({ text }) => text).join(""), " the");
    assert.equal(answer.error, undefined);
  });
}

const ends: readonly (readonly [
  name: string,
  kind: ResponseKind,
  reads: readonly string[],
  isMarked: boolean | undefined,
])[] = [
  ["[DONE]", "chat", [ROLE, the, DONE], true],
  ["[DONE] with an empty event behind it", "chat", [the, DONE, event({ choices: [] })], true],
  ["a finish_reason, but no [DONE]", "chat", [the, FINISH, USAGE], true],
  ["neither", "chat", [the, king], false],
  ["neither, of several modes", "multimodal", [the, king], false],
  ["an empty finish_reason", "completions", [event({ choices: [{ text: "a", finish_reason: "" }] })], false],
  ["a [DONE] torn in two", "chat", [the, DONE.slice(0, 9), DONE.slice(9)], true],
  ["a torn [DONE] whose rest never came", "chat", [the, "data: [DO"], false],
  ["response.completed", "responses", [event({ type: "response.completed", response: { status: "completed" } })], true],
  [
    "response.incomplete",
    "responses",
    [event({ type: "response.incomplete", response: { status: "incomplete" } })],
    true,
  ],
  ["only deltas", "responses", [event({ type: "response.output_text.delta", delta: "a" })], false],
  [
    "response.created alone",
    "responses",
    [event({ type: "response.created", response: { status: "in_progress" } })],
    false,
  ],
  ["message_stop", "anthropic", [event({ type: "message_stop" }, "message_stop")], true],
  ["message_stop without the event's name", "anthropic", [event({ type: "message_stop" })], true],
  ["a stop_reason", "anthropic", [event({ type: "message_delta", delta: { stop_reason: "end_turn" } })], true],
  ["only blocks", "anthropic", [event({ type: "content_block_delta", delta: { text: "a" } })], false],
  ["JSON that is no stream", "chat", ['{"choices":[{"message":{"content":"a"}}]}'], undefined],
  ["no event at all", "chat", [""], undefined],
  ["a protocol without end marks", "generate", [event({ text_output: "a" })], undefined],
];

for (const [name, kind, reads, isMarked] of ends) {
  test(`the end of a stream of ${kind}: ${name}`, () => {
    assert.equal(readResponse(kind, reads).end?.isMarked, isMarked);
  });
}

const pages: readonly (readonly [name: string, reads: readonly string[], error: RegExp | undefined])[] = [
  [
    "a page with a title",
    ["<!DOCTYPE html>\n<html><head><title>404 Not\n Found</title>"],
    /HTML page .*: 404 Not Found$/,
  ],
  ["a page without one, in two reads", ["\n<!-- proxy -->", "<HTML><body>Welcome"], /HTML page .*<HTML><body>Welcome$/],
  ["text that begins with a tag", ["<think>hm</think> the"], undefined],
  ["text that only tells of pages", ["see <html>"], undefined],
];

for (const [name, reads, error] of pages) {
  for (const kind of ["custom", "chat"] as const)
    test(`a page is not a response: ${name}, of ${kind}`, () => {
      const answer = readResponse(kind, reads);
      if (error === undefined) assert.equal(answer.error, undefined);
      else assert.match(answer.error ?? "", error);
      assert.deepEqual(show(answer), error === undefined && kind === "custom" ? [`0:${reads.join("")}`] : []);
    });
}

const called = (name: string, data: object): string => `event: ${name}\n${event(data)}`;
const CALLS: readonly (readonly [
  name: string,
  kind: ResponseKind,
  reads: readonly string[],
  calls: readonly (readonly [read: number, text: string])[],
])[] = [
  [
    "OpenAI's chat in parts",
    "chat",
    [
      chat({ role: "assistant", content: null }),
      chat({ tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "weather", arguments: "" } }] }),
      chat({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
      chat({ tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] }),
    ],
    [
      [1, "weather"],
      [2, '{"city":'],
      [3, '"Rome"}'],
    ],
  ],
  ["its older field", "chat", [chat({ function_call: { name: "f", arguments: "{}" } })], [[0, "f{}"]]],
  [
    "two at once, whole",
    "chat",
    [
      '{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"[]"}}]}}]}',
    ],
    [[0, "f{}g[]"]],
  ],
  [
    "OpenAI's responses in parts",
    "responses",
    [
      event({ type: "response.output_item.added", item: { type: "function_call", name: "f", arguments: "" } }),
      event({ type: "response.function_call_arguments.delta", delta: "{}" }),
      event({ type: "response.function_call_arguments.done", arguments: "{}" }),
      event({ type: "response.output_item.done", item: { type: "function_call", name: "f", arguments: "{}" } }),
    ],
    [
      [0, "f"],
      [1, "{}"],
    ],
  ],
  [
    "Anthropic's in parts",
    "anthropic",
    [
      called("content_block_start", {
        type: "content_block_start",
        content_block: { type: "tool_use", name: "f", input: {} },
      }),
      called("content_block_delta", {
        type: "content_block_delta",
        delta: { type: "input_json_delta", partial_json: '{"a":1}' },
      }),
    ],
    [
      [0, "f"],
      [1, '{"a":1}'],
    ],
  ],
  [
    "Anthropic's whole",
    "anthropic",
    ['{"type":"message","content":[{"type":"tool_use","name":"f","input":{"a":1}}]}'],
    [[0, 'f{"a":1}']],
  ],
];
for (const [name, kind, reads, calls] of CALLS)
  test(`calls of tools are read, with their times: ${name}`, () => {
    const { toolCalls = [], output } = readResponse(kind, reads);
    assert.deepEqual(
      toolCalls.map(({ read, text }) => [read, text]),
      calls,
    );
    assert.deepEqual(output, []);
  });
