import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { replacePart } from "../../compile/docs/generated-part.ts";
import { CASES, MANY_CASES } from "./generative/cases.ts";
import { judge as judgeStreams } from "./generative/table.ts";
import { renderSummary, type StoredFigures, SUMMARY } from "./summary.ts";
import { judge } from "./table.ts";

const nothing = (): number => Number.NaN;
const read = (name: string): string => readFileSync(join(import.meta.dirname, name), "utf8");

describe("the table of all goals", () => {
  for (const [bench, goals] of [
    ["bench", judge(new Map(), new Map())],
    ["bench:generative", judgeStreams(CASES, nothing)],
    ["bench:streams", judgeStreams(MANY_CASES, nothing)],
  ] as const)
    test(`each row of ${bench} is one of its goals`, () => {
      const texts = goals.map(({ text }) => text);
      const rows = SUMMARY.filter((row) => row.bench === bench).map(({ text }) => text);
      assert.deepEqual(
        rows.filter((text) => !texts.includes(text)),
        [],
      );
    });

  test("the guide has the table of what the benches measured last", () => {
    const guide = read("README.md");
    const figures = JSON.parse(read("figures.json")) as StoredFigures;
    assert.equal(replacePart(guide, "goals", renderSummary(figures)), guide);
  });

  test("a row says what was measured, whether that is enough, and what shows it", () => {
    const goals = [
      { text: "a", measured: 1.5, limit: 1 },
      { text: "b", measured: 20_000, peers: "wrk 3" },
      { text: "c", limit: 1 },
    ];
    const rows = ["a", "b", "c", "d"].map((text) => ({ bench: "bench" as const, text, only: text }));
    const table = renderSummary({ bench: { date: "2026-01-02", machine: "m", goals } }, rows)
      .split("\n")
      .slice(2);
    assert.deepEqual(table, [
      '| a | 1.50 | 1.00 | FAIL | 2026-01-02 |  | `npm run bench -- --only "a"` |',
      '| b | 20,000 | – |  | 2026-01-02 | wrk 3 | `npm run bench -- --only "b"` |',
      '| c | – | 1.00 | not measured |  |  | `npm run bench -- --only "c"` |',
      '| d | – | – | not measured |  |  | `npm run bench -- --only "d"` |',
    ]);
  });

  test("what two cores cannot show stands below it once", () => {
    const rows = ["a", "b"].map((text) => ({ bench: "bench" as const, text, elsewhere: "more cores: `x`" }));
    assert.match(renderSummary({}, rows), /cannot show:\n\n- \*a\*: more cores: `x`\.$/);
  });
});
