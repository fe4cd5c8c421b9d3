import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/plan/problem.ts";
import { p99 } from "../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../src/scenario/define.ts";
import { concurrency, findMax } from "../../src/scenario/find-max/builders.ts";
import { hold, periodic } from "../../src/scenario/loads.ts";
import { singleStream } from "../../src/scenario/mlperf/builders.ts";

import { embedded } from "../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";

/** Loads that do not go together are refused with one problem, before anything is sent. */

const first = hold(4, { for: "1 s" });
const search = findMax({ over: concurrency(1, 8), where: [p99("latency").below("25 ms")] });

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
        assert.match(problem?.message ?? "", message);
        assert.ok((problem?.hint ?? "").length > 0);
        return true;
      },
    );
  });
