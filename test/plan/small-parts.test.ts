import assert from "node:assert/strict";
import { test } from "node:test";
import { durationHint, nearestDuration, nearestName } from "../../src/plan/nearest-name.ts";
import { RunError, UserError, userError } from "../../src/plan/problem.ts";
import { ERROR_FORM } from "../../src/plan/sent-error.ts";
import { DEFAULT_SEQUENCES, sequencesSchema } from "../../src/plan/sequences.ts";
import { escapeControls } from "../../src/plan/terminal-text.ts";
import { parseDurationNs } from "../../src/plan/units.ts";
import { testSchema } from "./test-schema.ts";

const NAMES: readonly (readonly [typed: string, nearest: string | undefined])[] = [
  ["latancy", "latency"],
  ["LATENCY", "latency"],
  ["scheduledlatency", "scheduledLatency"],
  ["latnecy", "latency"],
  ["throughptu", "throughput"],
  ["xyz", undefined],
];
test("of a short name most letters must be right", () => {
  assert.equal(nearestName("port", ["host"]), undefined);
  assert.equal(nearestName("x", ["o1"]), undefined);
  assert.equal(nearestName("nme", ["name"]), "name");
  assert.equal(nearestName("modle", ["model"]), "model");
});
for (const [typed, nearest] of NAMES)
  test(`the name nearest to ${typed} is ${nearest}`, () =>
    assert.equal(nearestName(typed, ["latency", "scheduledLatency", "throughput"]), nearest));

const DURATIONS: readonly (readonly [typed: string, nearest: string | undefined])[] = [
  ["1 sec", "1 s"],
  ["1sec.", "1 s"],
  ["10 Seconds", "10 s"],
  ["5 m", "5 min"],
  ["2 mins", "2 min"],
  ["200msec", "200 ms"],
  ["30 μs", "30 us"],
  ["2 hrs", "2 h"],
  ["1,5 s", "1.5 s"],
  ["10", undefined],
  ["-5 ms", undefined],
  ["3 days", undefined],
  ["5 ms 3 us", undefined],
  ["1e3 ms", undefined],
];
for (const [typed, nearest] of DURATIONS)
  test(`the duration nearest to '${typed}' is ${nearest}, which can be read`, () => {
    assert.equal(nearestDuration(typed), nearest);
    if (nearest !== undefined) assert.notEqual(parseDurationNs(nearest), undefined);
    const own = new Map([
      ["10", 'Add the unit: "10 s" or "10 ms".'],
      ["-5 ms", 'Write "5 ms".'],
    ]);
    const otherwise = own.get(typed) ?? "Correct it.";
    assert.equal(durationHint(typed, "Correct it."), nearest === undefined ? otherwise : `Write "${nearest}".`);
  });

test("a number lacks a unit, and anything else that is no text has no suggestion", () => {
  assert.equal(durationHint(10, "Correct it."), 'Add the unit: "10 s" or "10 ms".');
  assert.equal(durationHint(0, "Correct it."), 'Write a time with its unit, such as "1 s".');
  for (const given of [-1, Number.NaN, Number.POSITIVE_INFINITY, "", null, {}])
    assert.equal(durationHint(given, "Correct it."), "Correct it.");
});

test("errors keep their class and fields in another thread", () => {
  const errors = [
    userError("invalid-value", "--isl", "is too long", "Give less.", "9"),
    new RunError("output", "no place", "Make some."),
    new TypeError("odd"),
  ] as const;
  const [user, run, other] = errors.map((error) => ERROR_FORM.receive(structuredClone(ERROR_FORM.send(error))));
  assert.ok(user instanceof UserError);
  assert.deepEqual(user.problems, errors[0].problems);
  assert.ok(run instanceof RunError);
  assert.deepEqual([run.code, run.message, run.hint], ["output", "no place", "Make some."]);
  assert.equal(other?.message, "odd");
});

testSchema(sequencesSchema(), DEFAULT_SEQUENCES, [
  ["the defaults", true, {}],
  ["length 0", false, { length: 0 }],
  ["a length that is not whole", false, { length: 2.5 }],
  ["a length that varies without limit", true, { lengthVariationPct: 250 }],
  ["a variation below 0", false, { lengthVariationPct: -1 }],
  ["id 0", false, { startId: 0 }],
  ["a range of ids", true, { startId: 7, idCount: 3 }],
  ["an empty range of ids", false, { idCount: 0 }],
  ["no sequence at once", false, { concurrent: 0 }],
  ["a word for a switch", false, { isSerial: "yes" }],
]);

test("control characters are shown as escapes of JSON, and plain text is left as it is", () => {
  const cases: readonly (readonly [text: string, shown: string])[] = [
    ["\u001b[2J\u001b]0;title\u0007", "\\u001b[2J\\u001b]0;title\\u0007"],
    ["\u009b31m\u0085", "\\u009b31m\\u0085"],
    [
      "abc\u202etxt.exe\u202c \u2066x\u2069 \u200e\u200f\u061c",
      "abc\\u202etxt.exe\\u202c \\u2066x\\u2069 \\u200e\\u200f\\u061c",
    ],
    ["100%\rfine", "100%\\u000dfine"],
    ["a\u0000b\bc\u007f\u2028", "a\\u0000b\\u0008c\\u007f\\u2028"],
    ["lines\n\tand\r\nmore", "lines\n\tand\r\nmore"],
    ["Zürich, 日本語, 😀, ├─┤, \u00a0", "Zürich, 日本語, 😀, ├─┤, \u00a0"],
  ];
  for (const [text, shown] of cases) assert.equal(escapeControls(text), shown);
  const json = { text: "\u009b\u202e\u001b\r" };
  assert.deepEqual(JSON.parse(escapeControls(JSON.stringify(json))), json);
});
