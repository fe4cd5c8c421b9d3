import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseLimit, parsePrecision } from "../../../src/cli/options/parse-limit.ts";
import { word } from "../../../src/plan/messages.ts";

/** Limits of the option --fail-if. */

describe("a limit", () => {
  for (const [text, name, comparison, of, amount] of [
    ["p99 > +5%", "latency.p99", ">", "relative", 0.05],
    ["p99>+5%", "latency.p99", ">", "relative", 0.05],
    ["throughput < -3 %", "throughput", "<", "relative", -0.03],
    ["ttft.p99 >= +10%", "timeToFirstToken.p99", ">=", "relative", 0.1],
    ["errorRate > 1%", "errorRate", ">", "value", 0.01],
    ["errorRate > 0", "errorRate", ">", "value", 0],
    ["errorRate > +0.5%", "errorRate", ">", "points", 0.005],
    ["p99 > 25ms", "latency.p99", ">", "value", 25e6],
    ["mean > 1.5 s", "latency.mean", ">", "value", 1.5e9],
    ["throughput <= 100", "throughput", "<=", "value", 100],
    ["extracted.score.mean < -2%", "extracted.score.mean", "<", "relative", -0.02],
    ["p99 > +0%", "latency.p99", ">", "relative", 0],
  ] as const)
    test(text, () => {
      const limit = parseLimit(text);
      assert.ok("of" in limit, JSON.stringify(limit));
      assert.deepEqual(
        [limit.metric.name, limit.comparison, limit.of, limit.amount, limit.text],
        [name, comparison, of, amount, text],
      );
    });

  for (const [text, message, hint] of [
    ["p99", /no comparison/, /Write METRIC > \+PERCENT/],
    ["", /no comparison/, /METRIC/],
    ["p99 = 5%", /no comparison/, /METRIC/],
    ["thrughput < -3%", /there is no metric thrughput/, /Did you mean throughput\?/],
    ["ttft > +5%", /there is no metric ttft/, /Did you mean timeToFirstToken\.p99\?/],
    ["ttft p99 > 5 %", /there is no metric ttft p99/, /Did you mean timeToFirstToken\.p99\?/],
    ["avg > 1ms", /there is no metric avg/, /Did you mean mean\?/],
    ["zzz > +5%", /there is no metric zzz/, /Metrics are p99/],
    ["p99 > 5%", /limited by a change or a time/, /Write \+5% or -5%/],
    ["p99 > 5", /limited by a change or a time/, /\+5% for a change, or 25ms/],
    ["p99 > +5", /a change is in percent/, /\+5%/],
    ["p99 > +5ms", /a change is in percent/, /\+5%/],
    ["p99 > -5ms", /a time cannot be negative/, /Write 5ms\./],
    ["throughput < 3%", /a change needs a sign/, /Write \+3% or -3%/],
    ["throughput < fast", /not a number/, /METRIC/],
    ["errorRate > 0.01", /percentage with its sign/, /Write "1 %"/],
    ["p99 >", /limited by a change or a time/, /\+5%/],
  ] as const)
    test(`'${text}' is refused with a hint`, () => {
      const found = parseLimit(text);
      assert.ok("hint" in found, JSON.stringify(found));
      assert.match(word(found.message), message);
      assert.match(word(found.hint), hint);
      assert.equal(found.path, "--fail-if");
      assert.equal(found.value, text);
    });
});

describe("a precision", () => {
  for (const [text, expected] of [
    ["5%", 0.05],
    ["0.5 %", 0.005],
    ["100%", 1],
    ["0%", undefined],
    ["101%", undefined],
    ["5", undefined],
    ["-5%", undefined],
  ] as const)
    test(`${text}: ${expected}`, () => assert.equal(parsePrecision(text), expected));
});
