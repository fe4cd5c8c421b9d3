import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadPlan } from "../../src/plan/load-plan.ts";
import { describeLevelNotes } from "../../src/report/level-notes.ts";
import { makeWindow } from "../measure/make-window.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeLevel, makePrepared } from "./make-result.ts";

const list = { kind: "list", values: [200] } as const;
const load: LoadPlan = {
  ...{ kind: "request-rate", levels: list, search: "linear", distribution: "constant", seed: 0 },
};

for (const [name, cpuRatio, client] of [
  ["a busy client", 0.99, /^the client may have been the limit, not the server: the client used 99 %/],
  ["another process", 0.1, /woke up late/],
] as const)
  test(`a rate that was missed because of ${name} says so once`, () => {
    const latenciesNs = new Array<number>(100).fill(1e6);
    const window = makeWindow({ latenciesNs, sendDelayNs: new Array<number>(100).fill(50e6), health: { cpuRatio } });
    const plan = makePlan({ load });
    const lines = describeLevelNotes(plan, makePrepared(plan), makeLevel({ unit: "request-rate", level: 200, window }));
    const ofClient = lines.flat().filter((line) => /the client/.test(line));
    assert.equal(ofClient.length, 1, lines.flat().join("\n"));
    assert.match(ofClient[0] ?? "", client);
    assert.match(lines.flat().join("\n"), /^100 % of the requests were more than 1 ms late/m);
  });
