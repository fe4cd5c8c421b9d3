import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import { p99 } from "../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../src/scenario/define.ts";
import { hold, periodic, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../src/scenario/loads/find-max.ts";
import type { Load } from "../../src/scenario/loads/load.ts";
import type { LimitedServerOptions } from "../../src/scenario/loads/mlperf.ts";
import { server, singleStream } from "../../src/scenario/loads/mlperf.ts";
import { rateRamp } from "../../src/scenario/loads/rates.ts";
import { mix } from "../../src/scenario/mix.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";

/** Loads that do not go together are refused with one problem, before anything is sent. */

const first = hold(4, { for: "1 s" });
const search = findMax({ range: ramp(1, 8), where: [p99("latency").below("25 ms")] });

/** Limits as callers without types may give them. */
const limited = (options: object): Load<"scheduled", "alone"> => server(10, options as LimitedServerOptions);
const ofTokens = limited({ timeToFirstToken: "2 s", timePerOutputToken: "200 ms" });
const texts = { inputs: prompts({ file: "x.jsonl" }) };

const REFUSED: readonly {
  readonly name: string;
  readonly parts: object;
  readonly path: string;
  readonly message: RegExp;
}[] = [
  { name: "a search as a phase", parts: { load: [first, search] }, path: "load.1", message: /one of several phases/ },
  {
    name: "MLPerf's load as a phase",
    parts: { load: [first, singleStream()] },
    path: "load.1",
    message: /one of several phases/,
  },
  {
    name: "a periodic load as a phase",
    parts: { load: [first, periodic(1, 4)] },
    path: "load.1",
    message: /one of several phases/,
  },
  {
    name: "MLPerf's server without a limit",
    parts: { load: limited({}) },
    path: "load.latency",
    message: /is missing/,
  },
  {
    name: "one limit of tokens without the other",
    parts: { load: limited({ timeToFirstToken: "2 s" }), ...texts, target: embeddedLlm({ streaming: true }) },
    path: "load.timePerOutputToken",
    message: /is missing: MLPerf limits it together with timeToFirstToken/,
  },
  {
    name: "limits of latency and of tokens",
    parts: {
      load: limited({ latency: "1 s", timePerOutputToken: "200 ms" }),
      ...texts,
      target: embeddedLlm({ streaming: true }),
    },
    path: "load.timePerOutputToken",
    message: /cannot be given together with latency/,
  },
  {
    name: "the knee in a search",
    parts: { load: findMax({ range: steps([1, 2], { until: "knee" }), where: [p99("latency").below("1 s")] }) },
    path: "load.range.until",
    message: /a search ends when the limits are known to break/,
  },
  {
    name: "the knee in a list of loads",
    parts: { load: [hold(1, { for: "1 s" }), steps([1, 2], { for: "1 s", until: "knee" })] },
    path: "load.1.until",
    message: /the next level of a phase is prepared before this one is measured/,
  },
  {
    name: "the knee of rates in a list of loads",
    parts: { load: [rateRamp(1, 4, { for: "1 s", until: "knee" })] },
    path: "load.0.until",
    message: /the next level of a phase is prepared before this one is measured/,
  },
  {
    name: "limits of tokens without streams",
    parts: { load: ofTokens, ...texts, target: embeddedLlm() },
    path: "load.timeToFirstToken",
    message: /needs streamed tokens, and responses of embeddedLlm\(…\) are not streamed/,
  },
  {
    name: "limits of tokens on tensors",
    parts: { load: ofTokens },
    path: "load.timeToFirstToken",
    message: /responses of embedded\(…\) are not streamed/,
  },
  {
    name: "limits of tokens where a member of a mix does not stream",
    parts: {
      load: ofTokens,
      target: mix([
        { name: "a", target: embeddedLlm({ streaming: true }), ...texts },
        { name: "b", target: embeddedLlm(), ...texts },
      ]),
    },
    path: "load.timeToFirstToken",
    message: /are not streamed/,
  },
];

for (const { name, parts, path, message } of REFUSED)
  test(`${name}: refused with the field and the way out`, () => {
    const scenario = defineScenario({ name: "x", target: embedded(), ...parts } as never) as Scenario;
    assert.throws(
      () => toPlan(scenario, "/"),
      (error) => {
        assert.ok(error instanceof UserError);
        assert.equal(error.problems.length, 1);
        const [problem] = error.problems;
        assert.equal(problem?.path, path);
        assert.match(word(problem?.message ?? ""), message);
        assert.notEqual(problem?.hint ?? "", "");
        return true;
      },
    );
  });
