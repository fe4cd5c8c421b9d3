import assert from "node:assert/strict";
import { test } from "node:test";
import { LoadSearch, ladderOf } from "../../src/load/search.ts";
import { estimateTime } from "../../src/registry/estimate-time.ts";
import { loadModeOf } from "../../src/registry/load-modes.ts";
import { p99 } from "../../src/scenario/assertions.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../src/scenario/loads/find-max.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";

test("a search tries no more loads than its time says, wherever it cannot decide", () => {
  const list = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
  for (const [first, last, range] of [
    [1, 16, ramp(1, 16)],
    [1, 64, ramp(1, 64)],
    [8, 100, ramp(8, 100)],
    [1, 32, steps(list)],
  ] as const) {
    const load = findMax({ range, where: [p99("latency").below("1 s")], forAtMost: "30 s" });
    const plan = toPlan(defineScenario({ name: "x", target: embedded(), load }), "/");
    const most = Number(/^(\d+) loads of /.exec(estimateTime(plan)?.parts ?? "")?.[1]);
    const found = loadModeOf(plan.load).levels?.(plan.load);
    assert.ok(found);
    const ladder = ladderOf({ ...found, unit: loadModeOf(plan.load).unit }, 0.1);
    let tried = 0;
    for (let kept = first - 1; kept <= last; kept++)
      for (let open = kept; open <= last; open++) {
        const search = new LoadSearch(ladder, "none", 0.1);
        for (let next = search.next(); next !== undefined; next = search.next())
          search.add(next, next <= kept ? "kept" : next <= open ? "unresolved" : "broken");
        tried = Math.max(tried, search.count);
      }
    assert.equal(most, tried, `${first} to ${last}`);
  }
});
