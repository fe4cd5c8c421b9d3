import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { computeDerived, explainDerived } from "../../../src/measure/metrics/derived.ts";
import type { MeasuredPart } from "../../../src/measure/metrics/metric.ts";
import { deriveMetric, exampleLevel } from "../../../src/measure/metrics/read-metric.ts";
import { toFunctionPlan } from "../../../src/plan/functions.ts";
import { makeWindow } from "../make-window.ts";

/** Metrics that a scenario computes from others of a level. */

/** Three requests of 1, 2 and 9 ms within a second. */
const part: MeasuredPart = { window: makeWindow({ latenciesNs: [1e6, 2e6, 9e6] }) };

type Values = Record<string, Record<string, number> & number>;

function throwError(): never {
  throw new Error("no");
}

function derive(value: string | ((level: Values) => unknown)) {
  const planned = typeof value === "string" ? value : toFunctionPlan("derive.x.value", value);
  return deriveMetric({ value: planned }, part, 2);
}

describe("a derived metric", () => {
  test("is computed in SI units, by a function as by an expression", () => {
    const { durationNs, requestCount } = part.window;
    const perSec = (2 * requestCount) / (durationNs / 1e9);
    for (const [value, expected] of [
      ["throughput", perSec],
      [(level: Values) => level["throughput"], perSec],
      ["latency.mean * throughput", 0.004 * perSec],
      [(level: Values) => (level["latency"]?.["max"] ?? 0) - (level["latency"]?.["min"] ?? 0), 0.008],
      ["latency.max - latency.min", 0.008],
      ["`1000` * errorRate", 0],
    ] as const) {
      const { value: found = Number.NaN } = derive(value as string);
      assert.ok(
        Math.abs(found - expected) < 1e-9 * Math.max(1, expected),
        `${String(value)}: ${found}, not ${expected}`,
      );
    }
  });

  test("has no value where a metric that it needs has none, and says which and why", () => {
    const missing = "gpuPower: the server's metrics were not read";
    assert.deepEqual(derive("throughput / gpuPower.mean"), { missing });
    assert.deepEqual(
      derive((level) => (level["throughput"] as number) / (level["gpuPower"]?.["mean"] as number)),
      { missing },
    );
    assert.deepEqual(derive("throughput / errorRate"), { missing: "it gives null here, not a finite number" });
    assert.deepEqual(
      derive((level) => 1 / (level["errorRate"] as number)),
      { missing: "it is Infinity here" },
    );
    // In a mix, only some targets extract a value.
    assert.deepEqual(derive("extracted.x.mean"), { missing: "extracted.x: no response had a number there" });
    // A function may do without it.
    const without = derive((level) => {
      try {
        return level["gpuPower"]?.["mean"];
      } catch {
        return 7;
      }
    });
    assert.deepEqual(without, { value: 7 });
  });

  const wrong: readonly (readonly [name: string, value: (level: Values) => unknown, error: RegExp])[] = [
    ["throws", throwError, /^throws: no .*\(derived\.test\.ts:\d+\)$/],
    ["returns a text", () => "7", /^returns "7", not a finite number$/],
    ["returns nothing", () => undefined, /^returns undefined/],
    ["returns a promise", () => Promise.resolve(7), /^returns a promise/],
    ["takes statistics for a number", (level) => (level["latency"] as number) * 2, /^returns NaN/],
    [
      "misspells a metric",
      (level) => level["throughputt"],
      /^there is no metric throughputt: did you mean throughput\? \(derived\.test\.ts:\d+\)$/,
    ],
    [
      "misspells a statistic",
      (level) => level["latency"]?.["p"],
      /^latency has no statistic p, such as latency\.mean \(derived\.test\.ts:\d+\)$/,
    ],
    ["names what only reports have", (level) => level["highestLoad"], /^there is no metric highestLoad/],
  ];
  for (const [name, value, error] of wrong)
    test(`is an error where its function ${name}`, () => assert.match(derive(value).error ?? "", error));

  test("is an object that can be printed and asked for symbols", () => {
    let shown = "";
    const value = toFunctionPlan("derive.x.value", (level: object) => {
      shown = `${JSON.stringify(level)} ${typeof level} ${Object.prototype.toString.call(level)}`;
      return 1;
    });
    assert.deepEqual(computeDerived(value, exampleLevel([])), { value: 1 });
    assert.equal(shown, "{} object [object Object]");
  });
});

describe("an expression is refused before the run", () => {
  const cases: readonly (readonly [expression: string, message: RegExp])[] = [
    ["throughput / (", /not a JMESPath expression/],
    ["1000 / throughput", /not a JMESPath expression: .*"1000"/],
    ["throughputt / errorRate", /no metric throughputt$/],
    ["latency * throughput", /gives null here, not a finite number/],
    ["latency.p100", /no statistic p100/],
    ["extracted.tokenz.mean", /no metric extracted\.tokenz/],
    ["'7'", /gives "7" here/],
  ];
  for (const [expression, message] of cases)
    test(expression, () =>
      assert.match(String(explainDerived(expression, exampleLevel(["tokens"]))?.message), message),
    );

  test("and a function only for names that are not there", () => {
    const explain = (value: (level: Values) => unknown): string | undefined => {
      const found = explainDerived(toFunctionPlan("derive.x.value", value), exampleLevel(["tokens"]));
      return found && `${String(found.message)}. ${String(found.hint)}`;
    };
    assert.equal(
      explain((level) => level["throughputt"]),
      "there is no metric throughputt. Did you mean throughput?",
    );
    assert.match(explain((level) => level["cost"]) ?? "", /^there is no metric cost\. Write metrics by their keys/);
    for (const right of [throwError, () => "7", (level: Values) => level["latency"]?.["p99"]])
      assert.equal(explain(right), undefined);
  });

  test("and not when it is right", () => {
    for (const right of ["extracted.tokens.p99", "gpuEnergy / throughput", 'latency."p99.9"', "outputTokens.max"])
      assert.equal(explainDerived(right, exampleLevel(["tokens"])), undefined, right);
  });
});
