import assert from "node:assert/strict";
import { test } from "node:test";
import { durationHint, nearestDuration, nearestName } from "../../src/plan/nearest-name.ts";
import { parseDurationNs } from "../../src/plan/units.ts";

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
