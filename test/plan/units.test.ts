import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatProblem, messageOf, problem, RunError, UserError } from "../../src/plan/problem.ts";
import { countOf, formatDurationNs, msToNs, nsToMs, parseDurationNs, plural } from "../../src/plan/units.ts";

const durations: readonly (readonly [text: string, ns: number | undefined])[] = [
  ["250 us", 250e3],
  ["250us", 250e3],
  ["250 µs", 250e3],
  ["25 ms", 25e6],
  ["5 s", 5e9],
  ["2 min", 120e9],
  ["1m", 60e9],
  ["1 m", 60e9],
  ["500ms", 500e6],
  ["1m30s", 90e9],
  ["1min 30s", 90e9],
  ["1 min 30 s", 90e9],
  ["1h30m", 5400e9],
  ["1h 2m 3.5s", 3723.5e9],
  ["5 ms 3 us", 5.003e6],
  ["1.5 h", 5400e9],
  [" .5 s ", 0.5e9],
  ["0 ms", 0],
  ["5", undefined],
  ["", undefined],
  ["ms", undefined],
  ["-5 ms", undefined],
  ["5 sec", undefined],
  ["30s 1m", undefined],
  ["1m 2m", undefined],
  ["1m30", undefined],
  ["1 30 s", undefined],
  ["1e3 ms", undefined],
  ["1,5 s", undefined],
  ["Infinity s", undefined],
];

for (const [text, ns] of durations)
  test(`the duration '${text}' is ${ns === undefined ? "refused" : `${ns} ns`}`, () =>
    assert.equal(parseDurationNs(text), ns));

const formatted: readonly (readonly [ns: number, text: string])[] = [
  [0, "0 us"],
  [1, "0.001 us"],
  [999_999, "1000 us"],
  [12_345, "12.35 us"],
  [1e6, "1 ms"],
  [12_345_678, "12.35 ms"],
  [1e9, "1 s"],
  [119e9, "119 s"],
  [120e9, "2 min"],
  [-5e6, "-5 ms"],
];

for (const [ns, text] of formatted)
  test(`${ns} ns are written ${text}`, () => assert.equal(formatDurationNs(ns), text));

test("a written duration is read again, to four digits", () => {
  fc.assert(
    fc.property(fc.double({ min: 1000, max: 1e15, noNaN: true }), (ns) => {
      const again = parseDurationNs(formatDurationNs(ns));
      assert.ok(again !== undefined && Math.abs(again / ns - 1) <= 5.1e-4, `${ns}: ${formatDurationNs(ns)}`);
    }),
  );
});

test("any text is read or refused, never an exception or a strange number", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ns = parseDurationNs(text);
      assert.ok(ns === undefined || (Number.isFinite(ns) && ns >= 0));
    }),
  );
});

test("units convert both ways", () => {
  assert.deepEqual([nsToMs(msToNs(2.5)), msToNs(1)], [2.5, 1e6]);
});

test("a number of things has the word that fits it", () => {
  assert.deepEqual([countOf(0, "request"), countOf(1, "request")], ["0 requests", "1 request"]);
  assert.deepEqual([countOf(12_300, "query", "queries"), plural(1, "is", "are")], ["12,300 queries", "is"]);
});

test("a problem reads: path, message, value, hint", () => {
  const least = problem("invalid-value", "load.end", "must be 1 or more", "Give more.");
  assert.equal(formatProblem(least), "load.end: must be 1 or more. Give more.");
  assert.equal(formatProblem({ ...least, value: "0" }), "load.end: must be 1 or more (got 0). Give more.");
});

test("an error contains all problems and prints one per line", () => {
  const problems = ["a", "b"].map((path) => problem("invalid-value", path, "is wrong", "Mend it."));
  const error = new UserError(problems);
  assert.equal(error.message, "a: is wrong. Mend it.\nb: is wrong. Mend it.");
  assert.equal(error.name, "UserError");
  assert.deepEqual(error.problems, problems);
});

test("a run's error has a code, a message and a hint", () => {
  const { code, message, hint, name } = new RunError("stalled", "no response", "Look.");
  assert.deepEqual(
    { code, message, hint, name },
    { code: "stalled", message: "no response", hint: "Look.", name: "RunError" },
  );
});

test("the message of anything thrown", () => {
  assert.deepEqual([messageOf(new Error("x")), messageOf("y"), messageOf(undefined)], ["x", "y", "undefined"]);
});
