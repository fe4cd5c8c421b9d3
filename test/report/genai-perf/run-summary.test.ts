import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { measureColumns, NO_TOKENS } from "../../../src/measure/tokens/token-tally.ts";
import { word } from "../../../src/plan/messages.ts";
import { formatMoreMetrics } from "../../../src/report/genai-perf/run-console.ts";
import { reliabilityWarnings, reportCourse, reportFailures } from "../../../src/report/genai-perf/run-notes.ts";
import { type SummarySettings, summarizeRun } from "../../../src/report/genai-perf/run-summary.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import type { ServerUsage } from "../../../src/service/openai/response-parts.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { measureGood } from "../../measure/tokens/make-columns.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeLevel, makeResult, WARMED_COUNTS } from "../make-result.ts";

/** What a run measured beyond GenAI-Perf's metrics, computed here by hand. */

const MS = 1e6;
const NO_USAGE = { promptTokens: undefined, completionTokens: undefined, reasoningTokens: undefined };

/** A request sent at `sendMs` that thinks at 20 ms, responses at 40 and 80 ms with 4 tokens, and has 10 tokens of input. */
function addThinking(columns: TokenColumns, sendMs: number, usage: ServerUsage = NO_USAGE): void {
  const times = {
    contentNs: [40 * MS, 80 * MS],
    eventCount: 2,
    firstOutputNs: 40 * MS,
    firstReasoningNs: 20 * MS,
    outputTokens: 4,
    reasoningTokens: 6,
  };
  columns.add({ sendNs: sendMs * MS, times, inputTokens: 10, usage });
}
const USAGE = { promptTokens: 15, completionTokens: 11, reasoningTokens: 7 };

/** A plain response: sent at `sendMs`, content at 10 and 20 ms. */
function addPlain(columns: TokenColumns, sendMs: number): void {
  const times = { firstOutputNs: 10 * MS, firstReasoningNs: Number.NaN, reasoningTokens: 0 };
  const answer = { ...times, contentNs: [10 * MS, 20 * MS], eventCount: 2, outputTokens: 2 };
  columns.add({ sendNs: sendMs * MS, times: answer, inputTokens: 10 });
}

const RUN: RunResult = makeResult(
  makePlan({}),
  [makeLevel({ window: makeWindow({ latenciesNs: new Array(6).fill(80 * MS), failedCount: 3 }) })],
  WARMED_COUNTS,
);

function settingsOf(change: Partial<SummarySettings> = {}): SummarySettings {
  return { isStreaming: true, run: RUN, ...change };
}

test("requests are counted without the warm-up, and those whose response turned out to be an error as failed", () => {
  const columns = new TokenColumns();
  for (const sendMs of [0, 100, 200, 300, 400]) addPlain(columns, sendMs);
  columns.failedCount = 1;
  const { counts, errorRatio, goodRatio } = summarizeRun(
    columns,
    measureGood(columns, { request_latency: 50 }),
    settingsOf(),
  );
  assert.deepEqual(counts, { sent: 10, completed: 5, failed: 4, cancelled: 1 });
  assert.equal(errorRatio, 0.4);
  // Five good ones, one with an error in its response, three without a response.
  assert.equal(goodRatio, 5 / 9);
});

test("the notes on failures, their causes and the summary count the same requests", () => {
  const columns = new TokenColumns();
  for (const sendMs of [0, 100, 200, 300, 400]) addPlain(columns, sendMs);
  columns.failedCount = 1;
  columns.failureExample = "nothing is at nope";
  const { counts } = summarizeRun(columns, measureColumns(columns), settingsOf());
  const notes: string[] = [];
  reportFailures(RUN, columns, (text) => notes.push(word(text)));
  const text = notes.join("\n");
  const [, failed, sent] = (/^(\d+) of (\d+) requests failed;/m.exec(text) ?? []).map(Number);
  assert.deepEqual({ failed, sent }, { failed: counts?.failed, sent: counts?.sent });
  const listed = text.slice(text.indexOf("requests failed;"), text.indexOf("was cancelled;"));
  const causes = [...listed.matchAll(/^ {2}(\d+) x (\w+): (.*)$/gm)].map(([, count, ...cause]) => [
    Number(count),
    ...cause,
  ]);
  assert.deepEqual(causes, [
    [3, "http", "boom"],
    [1, "model", "nothing is at nope"],
  ]);
  assert.match(text, /^1 of 2 requests of the warm-up failed;/m);
  assert.match(text, new RegExp(`^${counts?.cancelled} of ${counts?.sent} requests was cancelled;`, "m"));
});

test("a goodput that some requests miss", () => {
  const columns = new TokenColumns();
  addPlain(columns, 0);
  for (let i = 0; i < 4; i++) addThinking(columns, i);
  const goodput = { time_to_first_token: 20 };
  // 1 of 5 that were answered and 3 that failed.
  assert.equal(summarizeRun(columns, measureGood(columns, goodput), settingsOf()).goodRatio, 1 / 8);
  assert.equal(summarizeRun(columns, measureGood(columns, { nonsense: 1 }), settingsOf()).goodRatio, undefined);
});

test("merged exports know nothing of requests without a response", () => {
  const columns = new TokenColumns();
  addPlain(columns, 0);
  const merged = summarizeRun(columns, measureGood(columns, { request_latency: 50 }), settingsOf({ run: undefined }));
  assert.deepEqual([merged.counts, merged.errorRatio, merged.goodRatio], [undefined, undefined, undefined]);
});

const fine: RunResult = makeResult(makePlan({}), [makeLevel()]);
const remarkable: readonly (readonly [name: string, fill: (columns: TokenColumns) => void, run: RunResult, boolean])[] =
  [
    ["nothing special", (columns) => addPlain(columns, 0), fine, false],
    ["failed requests", (columns) => addPlain(columns, 0), RUN, true],
    ["errors in responses", (columns) => (columns.failedCount = 1), fine, true],
    ["reasoning", (columns) => addThinking(columns, 0), fine, true],
    [
      "a server that counts otherwise",
      (columns) => {
        addPlain(columns, 0);
        const times = { contentNs: [1, 2], eventCount: 2, firstOutputNs: 1, firstReasoningNs: Number.NaN };
        const counted = { ...times, outputTokens: 2, reasoningTokens: 0 };
        columns.add({ sendNs: 0, times: counted, inputTokens: 10, usage: { ...USAGE, completionTokens: 2 } });
      },
      fine,
      true,
    ],
  ];

for (const [name, fill, run, isRemarkable] of remarkable) {
  test(`worth a look unasked: ${name}: ${isRemarkable}`, () => {
    const columns = new TokenColumns();
    fill(columns);
    assert.equal(summarizeRun(columns, measureColumns(columns), settingsOf({ run })).isRemarkable, isRemarkable);
  });
}

/** The table's rows: label, mean and least. */
function rowsOf(table: string): Record<string, readonly string[]> {
  const rows = table.split("\n").flatMap((line) => {
    const cells = line.split("│").map((cell) => cell.trim());
    return cells.length < 3 ? [] : [[cells[1], cells.slice(2, 4)] as const];
  });
  return Object.fromEntries(rows);
}

test("the table has the measurements, with the server's counts beside the client's", () => {
  const columns = new TokenColumns();
  addThinking(columns, 0, USAGE);
  addThinking(columns, 80, { ...USAGE, promptTokens: 17 });
  const summary = summarizeRun(columns, measureGood(columns, { request_latency: 80 }), settingsOf());
  const table = formatMoreMetrics(summary);
  assert.match(table, /^ +Rampart \| More Metrics +\n┏/);
  assert.deepEqual(rowsOf(table), {
    "Time To First Output Token (ms)": ["40.00", "40.00"],
    "Time To First Reasoning Token (ms)": ["20.00", "20.00"],
    // 80 ms over 4 tokens.
    "Time Per Output Token, Normalized (ms)": ["20.00", "20.00"],
    // Of 4 tokens in 2 reads (the server counts more) 2 of the last 3 came with another.
    "Tokens Bunched (%)": ["66.67", "66.67"],
    "Input Tokens, Client's Count": ["10.00", "10.00"],
    "Input Tokens, Server's Count": ["16.00", "15.00"],
    "Output Tokens, Client's Count": ["4.00", "4.00"],
    "Output Tokens, Server's Count": ["11.00", "11.00"],
    "Reasoning Tokens, Client's Count": ["6.00", "6.00"],
    "Reasoning Tokens, Server's Count": ["7.00", "7.00"],
    // 28 and 54 tokens in 160 ms.
    "Total Token Throughput (tokens/sec)": ["175.00", "N/A"],
    "Total Token Throughput, Server's Count": ["337.50", "N/A"],
    "Effective Concurrency (requests)": ["1.00", "N/A"],
    // 3 of 10; 2 of 2 that were answered and 3 that failed.
    "Error Rate (%)": ["30.00", "N/A"],
    "Good Requests (%)": ["40.00", "N/A"],
  });
});

test("rows without data are left out", () => {
  const columns = new TokenColumns();
  addPlain(columns, 0);
  const table = formatMoreMetrics(
    summarizeRun(columns, measureColumns(columns), settingsOf({ isStreaming: false, run: fine })),
  );
  assert.deepEqual(Object.keys(rowsOf(table)), [
    "Time Per Output Token, Normalized (ms)",
    "Total Token Throughput (tokens/sec)",
    "Effective Concurrency (requests)",
    "Error Rate (%)",
  ]);
  const nothing = summarizeRun(new TokenColumns(), NO_TOKENS, settingsOf({ run: undefined }));
  assert.equal(formatMoreMetrics(nothing), "");
});

test("a load that was not delivered is always noted, and each load when verbose", () => {
  const courseOf = (level: number): string[] => {
    const notes: string[] = [];
    const window = makeWindow({ latenciesNs: new Array<number>(100).fill(40 * MS) });
    const run = makeResult(makePlan(), [makeLevel({ level, window })]);
    reportCourse(run, (text) => notes.push(text));
    const texts = [...notes, "doubts", ...reliabilityWarnings(run).map((text) => word(text))];
    return texts.filter((text) => /^load: |^doubts/.test(text));
  };
  const law = "throughput × mean latency is 4";
  assert.deepEqual(courseOf(4), [`load: 4 in flight on average, 4 asked for; ${law}`, "doubts"]);
  assert.deepEqual(courseOf(8), ["doubts", `load: only 4 in flight on average, 8 asked for; ${law}`]);
});
