import assert from "node:assert/strict";
import { test } from "node:test";
import { saturationReason } from "../../src/measure/client-limit.ts";
import { makeWindow } from "./make-window.ts";

test("the tool says when it, not the server, was the limit", () => {
  assert.equal(saturationReason(makeWindow()), undefined);
  assert.equal(
    saturationReason(makeWindow({ health: { loopLagMaxNs: 500e6 } })),
    undefined,
    "one late timer is no limit",
  );
  assert.match(saturationReason(makeWindow({ health: { cpuRatio: 0.93 } })) ?? "", /used 93 % of a core/);
  assert.equal(saturationReason(makeWindow({ health: { cpuRatio: 0.2, coreWaitRatio: 0.6 } })), undefined);
  assert.match(
    saturationReason(makeWindow({ health: { cpuRatio: 0.15, coreWaitRatio: 0.77 } })) ?? "",
    /used 15 % of a core and waited for one 77 % of the time/,
  );
  assert.match(
    saturationReason(makeWindow({ health: { loopLagMeanNs: 25e6, loopLagMaxNs: 80e6 } })) ?? "",
    /25\.0 ms late on average \(at most 80\.0 ms\)/,
  );
});
