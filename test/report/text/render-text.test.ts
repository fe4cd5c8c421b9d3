import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { Cell, Column, ModelTable, Note, ReportModel } from "../../../src/report/model/report-model.ts";
import { chooseNotes, renderText } from "../../../src/report/text/render-text.ts";
import { formatTextTable, reachText, valueText, wrapText } from "../../../src/report/text/text-table.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { makeWindow } from "../../measure/make-window.ts";
import type { PlanChange } from "../../plan/make-plan.ts";
import { makeLevel } from "../make-result.ts";
import { modelOf } from "../model/make-model.ts";

/** Models as text: what holds for every report, and how tables are laid out. */

const COLUMNS = 80;

const column = (change: Partial<Column> = {}): Column => ({
  ...{ key: "p99", title: "p99", quantity: "time", dropOrder: 1 },
  ...change,
});

function model(change: Partial<ReportModel> = {}): ReportModel {
  return {
    ...{ name: "run", subject: "simple, embedded target, http", setup: [], checks: [], notes: [], sections: [] },
    ...{ suites: [], origin: "" },
    verdict: { name: "measured", headline: "", facts: ["8.0 s", "8,603 requests"] },
    ...change,
  };
}

/** Any cell that builders can make: with an interval or the mark, never with both. */
const cell: fc.Arbitrary<Cell> = fc.oneof(
  fc.constant<Cell>({}),
  fc.record({ value: fc.double({ min: 0, max: 1e12, noNaN: true }), mark: fc.constantFrom("uncertain", "failed") }),
  fc
    .tuple(fc.double({ min: 0, max: 1e12, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([value, part]) => ({ value, interval: { low: value * (1 - part), high: value * (1 + part) } })),
);
const words = fc.string({ unit: fc.constantFrom(..."abc .,;:-"), maxLength: 200 }).map((text) => text.trim());
/** A table of numbers, whose rows may have names. */
const table: fc.Arbitrary<ModelTable> = fc
  .tuple(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 6 }), fc.boolean())
  .chain(([width, height, showsIntervals]) =>
    fc.record({
      title: fc.constant(""),
      showsIntervals: fc.constant(showsIntervals),
      columns: fc.array(
        fc.record({
          key: fc.string(),
          title: fc.string({ unit: fc.constantFrom(..."abcdef"), maxLength: 12 }),
          quantity: fc.constantFrom("time" as const, "rate" as const, "count" as const, "ratio" as const),
          dropOrder: fc.integer({ min: 1, max: 30 }),
        }),
        { minLength: width, maxLength: width },
      ),
      rows: fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: height, maxLength: height }),
    }),
  )
  .chain((numbers) =>
    fc.record({ title: words, key: fc.constantFrom("tag", "phase"), isNamed: fc.boolean(), name: words }).map((of) => {
      const { title, key, isNamed, name } = of;
      if (!isNamed) return numbers;
      const columns = [column({ key, title, quantity: "text", dropOrder: 0 }), ...numbers.columns];
      return { ...numbers, columns, rows: numbers.rows.map((row, at) => [{ value: `${at} ${name}` }, ...row]) };
    }),
  );
const note: fc.Arbitrary<Note> = fc.record({
  ...{ code: fc.string(), severity: fc.constantFrom("wrong" as const, "caution" as const, "detail" as const) },
  ...{ levels: fc.constant([]), text: words },
});
const anyModel: fc.Arbitrary<ReportModel> = fc.record({
  ...{ name: words, subject: words, setup: fc.array(words, { maxLength: 2 }) },
  ...{ suites: fc.constant([]), origin: fc.constant("") },
  verdict: fc.record({
    name: fc.constantFrom("failed" as const, "partial" as const, "unresolved" as const, "passed" as const),
    ...{ headline: words, facts: fc.constant(["8.0 s", "8,603 requests"]) },
  }),
  checks: fc.array(
    fc.record({
      state: fc.constantFrom("pass" as const, "fail" as const, "unresolved" as const),
      text: words,
      measured: words,
    }),
    { maxLength: 4 },
  ),
  notes: fc.array(note, { maxLength: 8 }),
  sections: fc.array(
    fc.record({
      ...{ id: fc.string(), title: fc.oneof(fc.constant(""), words), isSummary: fc.boolean(), charts: fc.constant([]) },
      ...{ tables: fc.array(table, { maxLength: 2 }), lines: fc.array(words, { maxLength: 2 }) },
    }),
    { maxLength: 3 },
  ),
});

test("no line is longer than 80 columns, whatever the report says", () => {
  fc.assert(
    fc.property(anyModel, fc.boolean(), (any, isVerbose) => {
      for (const line of renderText(any, { isVerbose }).split("\n"))
        assert.ok(line.length <= COLUMNS, `${line.length}: ${line}`);
    }),
  );
});

test("a scenario that has the name of its model is named once", () => {
  assert.match(renderText(model({ name: "simple" })), /^MEASURED {2}simple, embedded target, http /);
  assert.match(renderText(model({ name: "simp" })), /^MEASURED {2}simp: simple, embedded target, http /);
});

test("no cell shows an interval and a mark", () => {
  fc.assert(
    fc.property(cell, fc.constantFrom("time" as const, "rate" as const, "ratio" as const), (any, quantity) => {
      for (const text of [reachText, valueText].map((format) => format(any, column({ quantity }), undefined)))
        assert.ok(!(text.includes("*") && /±|\bto\b/.test(text)), text);
    }),
  );
});

test("the first screen has three notes at most, the wrong ones first, and counts the others", () => {
  fc.assert(
    fc.property(fc.array(note, { maxLength: 10 }), (notes) => {
      const sorted = notes.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
      const shown = chooseNotes(sorted);
      assert.ok(shown.length <= 3 && shown.every(({ severity }) => severity !== "detail"));
      const text = renderText(model({ notes: sorted }));
      const more = /… (\d+) more notes?: /.exec(text)?.[1] ?? "0";
      assert.equal(Number(more), notes.length - shown.length);
    }),
  );
});

const ORDER = ["wrong", "caution", "detail"];

describe("details", () => {
  const titles = ["mean", "p50", "p90", "p95", "p99", "p99.9", "max", "completed", "server mean"];
  const columns = [
    column({ key: "level", title: "concurrency", quantity: "number", dropOrder: 0 }),
    ...titles.map((title, index) => column({ key: title, title, dropOrder: index + 1 })),
    column({ key: "count", title: "values", quantity: "count", dropOrder: 40 }),
  ];
  const rows = [1, 2].map((load) => [
    { value: load },
    ...titles.map((title) =>
      load === 2 && title === "p90" ? { value: 2e6, interval: { low: 1.9e6, high: 2.1e6 } } : { value: 123e6 },
    ),
    { value: 100 },
  ]);
  const section = { id: "levels", title: "", isSummary: true, tables: [{ title: "", columns, rows }], charts: [] };
  const linesAt = (terminalColumns?: number): string[] =>
    renderText(model({ sections: [section] }), { isVerbose: true, terminalColumns }).split("\n");

  test("have one table, which names the columns without room, and the intervals of the rows with some", () => {
    const lines = linesAt();
    assert.equal(lines.filter((line) => /^concurrency/.test(line)).length, 2, lines.join("\n"));
    assert.ok(lines.includes("a wider terminal and files also have: server mean"), lines.join("\n"));
    const from = lines.indexOf("95 % confidence");
    assert.deepEqual(lines.slice(from + 1, -1), ["concurrency               p90", "          2   1.90 to 2.10 ms"]);
    assert.doesNotMatch(lines.join("\n"), /values|\u00a0/);
  });

  test("and the first screen leave columns out on a narrow terminal, and break no line", () => {
    const text = "A note of several words. ".repeat(4).trim();
    const note = { code: "x", severity: "caution", levels: [], text } satisfies ReportModel["notes"][number];
    for (const isVerbose of [false, true])
      for (const terminalColumns of [60, 72]) {
        const shown = renderText(model({ sections: [section], notes: [note] }), { isVerbose, terminalColumns });
        for (const line of shown.split("\n")) assert.ok(line.length <= terminalColumns, line);
        assert.match(shown, /^concurrency .*p99/m);
      }
  });

  test("use the columns of the terminal", () => {
    const lines = linesAt(140);
    assert.ok(
      lines.some((line) => /p50 .*p99\.9 .*server mean$/.test(line)),
      lines.join("\n"),
    );
    assert.doesNotMatch(lines.join("\n"), /wider terminal/);
  });
});

describe("a table", () => {
  const format = valueText;
  const lines = (of: ModelTable, maxColumns = COLUMNS): readonly string[] =>
    formatTextTable(of, { maxColumns, format }).lines;

  test("has figures to the right, and one unit for the times of a column", () => {
    const rows = [
      [{ value: 1 }, { value: 2.3e6 }],
      [{ value: 16 }, { value: 0.42e6 }],
    ];
    const columns = [column({ key: "level", title: "concurrency", quantity: "number", dropOrder: 0 }), column()];
    assert.deepEqual(lines({ title: "", columns, rows }), [
      "concurrency        p99",
      "          1    2.30 ms",
      "         16   0.420 ms",
    ]);
  });

  test("takes a smaller unit where the shortest time would have too many zeros", () => {
    const rows = [[{ value: 2e9 }], [{ value: 300e3 }]];
    assert.deepEqual(lines({ title: "", columns: [column()], rows }), ["     p99", "2,000 ms", "0.300 ms"]);
  });

  test("drops the least important column when the table is too wide, and names it", () => {
    const columns = [
      column({ key: "level", title: "load", quantity: "number", dropOrder: 0 }),
      column({ key: "mean", title: "mean", dropOrder: 5 }),
      column({ key: "p99", title: "p99", dropOrder: 1 }),
    ];
    const rows = [[{ value: 1 }, { value: 1e6 }, { value: 2e6 }]];
    const { lines: narrow, dropped } = formatTextTable({ title: "", columns, rows }, { maxColumns: 16, format });
    assert.deepEqual(narrow, ["load       p99", "   1   2.00 ms"]);
    assert.deepEqual(
      dropped.map(({ key }) => key),
      ["mean"],
    );
  });

  test("marks a value beside the figures, so that these stay aligned", () => {
    const rows = [[{ value: 1e6, mark: "uncertain" as const }], [{ value: 2e6 }]];
    assert.deepEqual(lines({ title: "", columns: [column()], rows }), ["     p99", "1.00 ms*", "2.00 ms"]);
  });

  const named = (names: readonly string[], key = "phase"): readonly string[] => {
    const columns = [column({ key, title: "phase of the run", quantity: "text", dropOrder: 0 }), column()];
    return lines({ title: "", columns, rows: names.map((value) => [{ value }, { value: 2e6 }]) }, 33);
  };

  test("has one line for each row: a name without room loses its middle", () => {
    assert.deepEqual(named(["the first phase of all: concurrency 2", "a second: concurrency 16"]), [
      "phase of the run              p99",
      "the first ph…ncurrency 2  2.00 ms",
      "a second: concurrency 16  2.00 ms",
    ]);
  });

  test("wraps names that would be equal without their middles", () => {
    const text = named(["a first phase of all: concurrency 2", "a first phase at all: concurrency 2"]).join("\n");
    assert.doesNotMatch(text, /…/);
    assert.match(text, /phase of[\s\S]*phase at/);
  });

  test("wraps texts that have no room", () => {
    const columns = [
      column({ key: "count", title: "requests", quantity: "count", dropOrder: 0 }),
      column({ key: "example", title: "for example", quantity: "text", dropOrder: 0 }),
    ];
    const rows = [[{ value: 4 }, { value: "the server closed the connection before any byte" }]];
    assert.deepEqual(lines({ title: "", columns, rows }, 40), [
      "requests  for example",
      "       4  the server closed the",
      "          connection before any byte",
    ]);
  });
});

test("a mean over runs has how far its interval reaches to both sides below it", () => {
  const unit = { name: "ms", ns: 1e6 };
  assert.equal(reachText({ value: 2.3e6, interval: { low: 2.2e6, high: 2.4e6 } }, column(), unit), "±0.1");
  assert.equal(reachText({ value: 2.3e6, interval: { low: 2.2e6, high: 2.9e6 } }, column(), unit), "2.20 to 2.90");
  const rate = column({ quantity: "rate" });
  assert.equal(reachText({ value: 431, interval: { low: 419, high: 443 } }, rate, undefined), "±12");
  assert.equal(reachText({ value: 2.3e6, mark: "uncertain" }, column(), unit), "");
  const rows = [[{ value: 431, interval: { low: 419, high: 443 } }], [{ value: 500 }]];
  const table = { title: "", columns: [rate], rows, showsIntervals: true };
  const section = { id: "runs", title: "", isSummary: true, tables: [table], charts: [] };
  assert.match(renderText(model({ sections: [section] })), /\np99\n431\n±12\n500\n$/);
});

test("a text is split at spaces, and a word only where it is longer than the line", () => {
  assert.deepEqual(wrapText("one two three", 7), ["one two", "three"]);
  assert.deepEqual(wrapText("abcdefghij", 4), ["abcd", "efgh", "ij"]);
  assert.deepEqual(wrapText("  one two three", 9), ["  one two", "  three"]);
  assert.deepEqual(wrapText(`${" ".repeat(20)}one two`, 10), ["     one", "     two"]);
  for (const spaces of [9, 10, 11]) assert.ok(wrapText(" ".repeat(spaces), 10).every(({ length }) => length <= 10));
  assert.deepEqual(wrapText('Use for: "5 s".', 12), ["Use for:", '"5 s".']);
  assert.deepEqual(wrapText("rate 0 % (limit < 5 %)", 19), ["rate 0 % (limit", "< 5 %)"]);
});

/** A report of one level as lines, as `rampart http` prints it. */

const targetOf = (path: string): NonNullable<PlanChange["target"]> =>
  ({ kind: "plain-http", method: "GET", url: "http://localhost:8000", path }) as unknown as NonNullable<
    PlanChange["target"]
  >;
const HTTP: PlanChange = {
  name: "http",
  target: targetOf("/health"),
  measurement: { mode: { kind: "duration", durationMs: 2000 } },
};
const LATENCIES = Array.from({ length: 4000 }, (_, index) => 1e6 * (1 + ((index * 617) % 1000) / 1000));
const level = (failedCount = 0) =>
  makeLevel({
    level: 16,
    window: makeWindow({ durationNs: 2e9, latenciesNs: LATENCIES, failedCount, sentCount: 4000 }),
  });

const render = (model: ReportModel): string[] => renderText(model, { showsLines: true }).split("\n").slice(0, 4);
const linesOf = (received: RunResult["received"], change: PlanChange = {}, failedCount = 0): string[] =>
  render(modelOf({ ...HTTP, ...change }, [level(failedCount)], { durationNs: 3e9, ...(received && { received }) }));

test("one level is its subject with its own load, time and rate, its latencies, and its counts", () => {
  assert.deepEqual(linesOf(undefined), [
    "http  GET localhost:8000/health              16 in flight   2.0 s   2,000 req/s*",
    "  mean 1.50 ms   p50 1.50 ms   p90 1.90 ms   p95 1.95 ms   p99 1.99 ms",
    "  max 2.00 ms",
    "  completed 4,000   failed 0",
  ]);
});

for (const [name, statuses, failedCount, counts] of [
  ["that were all measured are counted", { 200: 4000 }, 0, "status 200: 4,000   failed 0   received 400 kB"],
  [
    "of several kinds are counted",
    { 200: 4000, 503: 3 },
    3,
    "status 200: 4,000   status 503: 3   failed 3   received 400 kB",
  ],
  [
    "of a warm-up are not counted as measured",
    { 200: 6000 },
    0,
    "completed 4,000   failed 0   status 200   received 67 bytes each",
  ],
  [
    "of several kinds are counted with the warm-up",
    { 200: 6000, 503: 3 },
    0,
    "completed 4,000   failed 0   statuses with the warm-up 200: 6,000, 503: 3",
  ],
] as const)
  test(`responses ${name}`, () => {
    const [, , , line] = linesOf({ bytes: 400_000, unaskedCount: 0, statuses }, {}, failedCount);
    assert.equal(line, `  ${counts}`);
  });

test("a verdict comes first, and the facts have a line of their own where the first one has no room", () => {
  const assertions = [{ metric: { key: "errorRate" }, comparison: "is", limit: 0 }] as const;
  const target = targetOf("/a/long/path");
  assert.deepEqual(linesOf(undefined, { assertions, target }, 4).slice(0, 3), [
    "FAILED  http  GET localhost:8000/a/long/path",
    "  the assertion failed",
    "  16 in flight   2.0 s   2,000 req/s*",
  ]);
});

test("several levels are a table, and so is one level in detail", () => {
  const levels = [level(), { ...level(), level: 32 }];
  assert.match(renderText(modelOf(HTTP, levels), { showsLines: true }), /^MEASURED {2}http: GET/);
  const detailed = renderText(modelOf(HTTP, [level()]), { showsLines: true, isVerbose: true });
  assert.match(detailed, /^concurrency .*\breq\/s +mean .* failed$/m);
});
