import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Judging } from "../../../src/run/judge/judge.ts";
import { MixedJudge } from "../../../src/run/mix/create-judge.ts";
import { Slots } from "../../../src/run/send/slots.ts";
import { Call } from "../../../src/transport/client.ts";
import { ANY_RESPONSE } from "../../../src/transport/response-check.ts";

function makeJudge(message: string, needsBodies: boolean, canWait: boolean): Judging {
  return {
    needsBodies,
    canWait,
    createCheck: () => ANY_RESPONSE,
    judge: () => ({ kind: "validation", message }),
  };
}

test("each request is judged by its member, also in a copy of its call", () => {
  const judge = new MixedJudge([makeJudge("a", true, true), makeJudge("b", false, false)]);
  const call = Object.assign(new Call(3), { member: 1 });
  const copy = new Call(0);
  copy.takeResult(call);
  const slots = new Slots();
  assert.deepEqual([judge.judge(call, slots)?.message, judge.judge(copy, slots)?.message], ["b", "b"]);
  assert.equal(judge.judge(new Call(0), slots)?.message, "a");
});

describe("judging waits when every member that needs bodies can wait", () => {
  const cases = [
    {
      members: [
        [true, true],
        [false, false],
      ],
      expected: [true, true],
    },
    {
      members: [
        [true, true],
        [true, false],
      ],
      expected: [true, false],
    },
    {
      members: [
        [false, false],
        [false, false],
      ],
      expected: [false, false],
    },
  ] as const;
  for (const { members, expected } of cases)
    test(JSON.stringify(members), () => {
      const { needsBodies, canWait } = new MixedJudge(members.map(([bodies, wait]) => makeJudge("", bodies, wait)));
      assert.deepEqual([needsBodies, canWait], expected);
    });
});
