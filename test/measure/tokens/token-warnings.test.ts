import assert from "node:assert/strict";
import { test } from "node:test";
import { EndMarks } from "../../../src/measure/tokens/end-marks.ts";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";
import {
  countUnmarkedEnds,
  explainNoText,
  explainUnstreamed,
  isCountedOtherwise,
  tokenWarnings,
} from "../../../src/measure/tokens/token-warnings.ts";
import { makeColumns, makeTimes } from "./make-columns.ts";

const usageOf = (promptTokens: number, completionTokens: number) => ({
  promptTokens,
  completionTokens,
  reasoningTokens: undefined,
});

function withEnds(...isMarked: boolean[]): TokenColumns {
  const columns = makeColumns({ times: makeTimes([50, 60]) });
  for (const marked of isMarked) columns.addEnd({ isMarked: marked, mark: "[DONE]" });
  return columns;
}

/** The server counts 4 tokens of input where the client counts 7. */
function makeNamed(client: string, server: string | undefined): TokenColumns {
  const usage = { ...usageOf(4, 3), ...(server === undefined ? {} : { tokenizer: server }) };
  const columns = makeColumns({ times: makeTimes([50, 60, 70]), usage });
  columns.nameTokenizers({ client });
  const merged = new TokenColumns();
  merged.addRows(columns.rows());
  return merged;
}

function withFailures(): TokenColumns {
  const columns = makeColumns({ times: makeTimes([50, 60]) });
  columns.addFailures(2, "boom");
  return columns;
}

const WARNINGS: readonly (readonly [name: string, columns: TokenColumns, expected: readonly RegExp[]])[] = [
  ["nothing", makeColumns({ times: makeTimes([50, 60, 70]) }), []],
  [
    "a response that was not streamed",
    makeColumns({ times: makeTimes([50]), lacksStream: true }),
    [/^no response was streamed although streams were expected, .*"stream": true, and that the server streams$/],
  ],
  [
    "tokens that came together",
    makeColumns({ times: makeTimes([50, 60], { outputTokens: 11, eventCount: 2 }) }),
    [/^90 % of the tokens came together/],
  ],
  [
    "another count of output",
    makeColumns({ times: makeTimes([50, 60, 70]), usage: usageOf(7, 9) }),
    [/^the server counts 9 output tokens where the client counts 3/],
  ],
  [
    "another count of input",
    makeColumns({ times: makeTimes([50, 60, 70]), usage: usageOf(17, 3) }),
    [/^the server counts 17 input tokens where the client counts 7: its chat template/],
  ],
  [
    "a smaller count of input, which no chat template explains",
    makeColumns({ times: makeTimes([50, 60, 70]), usage: usageOf(4, 3) }),
    [/^the server counts 4 input tokens where the client counts 7: it uses another tokenizer$/],
  ],
  [
    "another tokenizer than the client's, which is named",
    makeNamed("o200k_base", undefined),
    [/^the server counts 4 input tokens where the client counts 7: it uses another tokenizer than o200k_base$/],
  ],
  [
    "two tokenizers with names",
    makeNamed("o200k_base", "words"),
    [/^the server counts 4 input tokens with words, and the client 7 with o200k_base: give both the same tokenizer$/],
  ],
  [
    "one tokenizer that counts differently",
    makeNamed("gpt2", "gpt2"),
    [/^the server counts 4 input tokens where the client counts 7$/],
  ],
  [
    "responses that are too short",
    makeColumns({ times: makeTimes([50, 60, 70]), requestedTokens: 30 }),
    [/^1 of 1 response .* 3\.0 tokens .* instead of 30\.0: the model ended/],
  ],
  ["a token too few, counted anew", makeColumns({ times: makeTimes([50, 60, 70]), requestedTokens: 4 }), []],
  [
    "reasoning before the response",
    makeColumns({ times: makeTimes([50, 60, 70], { firstReasoningNs: 20e6, reasoningTokens: 2 }) }),
    [/^1 of 1 response began with reasoning/],
  ],
  [
    "streams without their end among others",
    withEnds(true, false),
    [/^1 of 2 streams ended without their end mark \(\[DONE\]\): .* count as failed$/],
  ],
  [
    "streams that never have an end",
    withEnds(false),
    [/^no stream ended with its end mark \(\[DONE\]\), .* still in the statistics$/],
  ],
  ["failed requests", withFailures(), [/^of 3 responses, 2 are not valid .* the first that is not valid: boom$/]],
];
for (const [name, columns, expected] of WARNINGS)
  test(`${expected.length === 0 ? "does not warn" : "warns"} of ${name}`, () => {
    const found = tokenWarnings(measureColumns(columns));
    assert.equal(found.length, expected.length, found.join("\n"));
    for (const [index, pattern] of expected.entries()) assert.match(found[index] as string, pattern);
  });

test("counts that differ by 2 % or less agree", () => {
  const times = makeTimes([50, 60], { outputTokens: 98 });
  assert.equal(isCountedOtherwise(measureColumns(makeColumns({ times, usage: usageOf(7, 100) }))), false);
  assert.equal(isCountedOtherwise(measureColumns(makeColumns({ times, usage: usageOf(7, 101) }))), true);
  assert.equal(isCountedOtherwise(measureColumns(makeColumns({ times }))), false);
});

test("unmarked ends are only counted for kinds with a mark", () => {
  assert.equal(countUnmarkedEnds(makeColumns()), undefined);
  assert.equal(countUnmarkedEnds(withEnds(true, false, false)), 2);
});

test("nothing to measure is explained only where all responses call tools", () => {
  const calls = makeColumns({ times: makeTimes([]), callsTools: true });
  assert.match(explainNoText(calls) ?? "", /^the only response calls tools alone/);
  assert.equal(explainNoText(makeColumns({ times: makeTimes([]) })), undefined);
  assert.equal(explainNoText(makeColumns({ times: makeTimes([50]) })), undefined);
  assert.equal(explainUnstreamed(makeColumns({ times: makeTimes([50]) })), undefined);
});

const marked = { isMarked: true, mark: "[DONE]", eventCount: 1 };
const unmarked = { ...marked, isMarked: false };

test("the first mark decides that a server marks the end of its streams", () => {
  const marks = new EndMarks();
  assert.deepEqual([marks.note(unmarked), marks.state], [false, "unknown"]);
  assert.deepEqual([marks.note(marked), marks.state], [true, "marked"]);
  assert.deepEqual([marks.note(marked), marks.note(unmarked), marks.state], [false, false, "marked"]);
});

test("1,000 streams without one decide that it does not", () => {
  const marks = new EndMarks();
  for (let stream = 1; stream < 1000; stream++) assert.equal(marks.note(unmarked), false);
  assert.deepEqual([marks.note(unmarked), marks.state], [true, "unmarked"]);
});

test("responses that are not streams decide nothing", () => {
  const marks = new EndMarks();
  for (let answer = 0; answer < 2000; answer++) marks.note(undefined);
  assert.equal(marks.state, "unknown");
});
