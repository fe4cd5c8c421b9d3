import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import type { Problem } from "../../../src/plan/problem.ts";
import {
  errorRate,
  extracted,
  goodput,
  max,
  mean,
  metric,
  outputTokensPerSec,
  p50,
  p99,
  percentile,
  throughput,
} from "../../../src/scenario/assertions.ts";
import { METRIC_WORDS, readAssertion } from "../../../src/scenario/data/assertion-text.ts";

/** Assertions as text and as objects. */

const ALIKE: readonly (readonly [text: unknown, assertion: object])[] = [
  ["p99 < 25 ms", p99().below("25 ms")],
  ["p99(latency)<25ms", p99("latency").below("25ms")],
  ["p99.9(latency) <= 25 ms", percentile(99.9).atMost("25 ms")],
  ["p50(scheduledLatency) > 1 ms", p50("scheduledLatency").above("1 ms")],
  ["mean(interTokenLatency) >= 1 us", mean("interTokenLatency").atLeast("1 us")],
  ["mean(outputTokens) >= 7.5", mean("outputTokens").atLeast(7.5)],
  ["throughput > 1e3", throughput().above(1000)],
  ["errorRate == 0", errorRate().is(0)],
  ["errorRate() < 1 %", errorRate().below("1 %")],
  ["outputTokensPerSec >= 10", outputTokensPerSec().atLeast(10)],
  ["goodput(latency <= 2 s) >= 1", goodput({ latency: "2 s" }).atLeast(1)],
  ["mean(extracted.tokens) > 7", extracted("tokens").mean().above(7)],
  ["min(extracted.tokens) == 7", extracted("tokens").min().is(7)],
  ["max(extracted.a b) > 7", extracted("a b").max().above(7)],
  ["max(latency) < 1 s", max().below("1 s")],
  ["mean(serverQueue) < 1 ms", mean("serverQueue").below("1 ms")],
  ["max(gpuUtilization) < 90 %", max("gpuUtilization").below("90 %")],
  ["serverCacheHits >= 50 %", metric("serverCacheHits").atLeast("50 %")],
  // As in --fail-if.
  ["latency.p99 < 25 ms", p99("latency").below("25 ms")],
  ["mean < 25 ms", mean("latency").below("25 ms")],
  ["extracted.tokens.p95 < 7", extracted("tokens").percentile(95).below(7)],
  ["serverQueue < 1 ms", mean("serverQueue").below("1 ms")],
  [{ "latency.p99": null, below: "25 ms" }, p99("latency").below("25 ms")],
  ["p95(extracted.tokens) < 7", extracted("tokens").percentile(95).below(7)],
  [
    "p99(latency) < 1 s where length=long, target=a b abortAfter 10 s",
    { ...p99().where({ length: "long", target: "a b" }).below("1 s"), abortAfter: "10 s" },
  ],
  [{ p99: "latency", below: "25 ms" }, p99().below("25 ms")],
  [{ errorRate: null, is: 0, where: { a: 1 } }, errorRate().where({ a: 1 }).is(0)],
  [{ goodput: { latency: "2 s" }, atLeast: "1" }, goodput({ latency: "2 s" }).atLeast(1)],
  [
    { throughput: null, above: 3, abortAfter: "1 s" },
    { ...throughput().above(3), abortAfter: "1 s" },
  ],
];

const WRONG: readonly (readonly [given: unknown, message: RegExp, hint: RegExp])[] = [
  ["p99 latency", /METRIC\(OF\) OPERATOR LIMIT/, /p99\(latency\) < 25 ms/],
  ["", /METRIC\(OF\) OPERATOR LIMIT/, /p99/],
  ["p99 <", /METRIC\(OF\) OPERATOR LIMIT/, /p99/],
  ["thruput > 3", /no metric thruput/, /throughput/],
  ["p100 < 3 s", /no metric p100/, /p50/],
  ["avg < 25 ms", /no metric avg/, /Did you mean mean\?/],
  ["itl.mean < 1 s", /no metric itl\.mean/, /Did you mean interTokenLatency\.mean\?/],
  ["ttft.p99 < 1 s", /no metric ttft\.p99/, /Did you mean timeToFirstToken\.p99\?/],
  ["error_rate < 1 %", /no metric error_rate/, /Did you mean errorRate\?/],
  ["errorRate(latency) < 1", /nothing in brackets/, /^$/],
  ["goodput > 3", /needs limits/, /^$/],
  ["goodput(latency < 3 s) > 3", /not a limit of goodput/, /timeToFirstToken <= 200 ms/],
  ["goodput(latency <= 3) > 3", /not a limit of goodput/, /timeToFirstToken <= 200 ms/],
  ["p99 < 3 s where long", /TAG=VALUE/, /length=long/],
  [7, /must be an assertion/, /p99\(latency\)/],
  [["p99 < 1 s"], /must be an assertion/, /p99\(latency\)/],
  [{ p99: "latency" }, /one metric and one of/, /below: 25 ms/],
  [{ p99: "latency", p50: "latency", below: "1 s" }, /one metric and one of/, /below/],
  [{ p99: "latency", below: "1 s", above: "1 s" }, /one metric and one of/, /below/],
  [{ p99: 7, below: "1 s" }, /of one metric/, /^$/],
];

describe("an assertion", () => {
  test("as text or as an object is what its builder makes", () => {
    for (const [given, assertion] of ALIKE) {
      const problems: Problem[] = [];
      assert.deepEqual({ ...(readAssertion(given, "assert.0", problems) as object) }, { ...assertion }, String(given));
      assert.deepEqual(problems, [], String(given));
    }
    // Metrics with one value need no code of their own.
    for (const word of METRIC_WORDS.slice(4)) {
      const given = word === "goodput" ? { [word]: { latency: "2 s" }, above: 0 } : `${word} > 0`;
      const { metric } = readAssertion(given, "assert.0", []) as { readonly metric: { readonly key: string } };
      assert.equal(metric.key, word);
    }
  });

  test("that is none has one error with a hint", () => {
    for (const [given, message, hint] of WRONG) {
      const problems: Problem[] = [];
      assert.equal(readAssertion(given, "assert.0", problems), undefined, String(given));
      assert.equal(problems.length, 1, `${String(given)}: ${JSON.stringify(problems)}`);
      assert.equal(problems[0]?.path, "assert.0");
      assert.match(word(problems[0]?.message ?? ""), message);
      assert.match(word(problems[0]?.hint ?? ""), hint);
    }
  });
});
