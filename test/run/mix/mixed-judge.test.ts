import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Judging } from "../../../src/run/judge/judge.ts";
import { RequestJudge } from "../../../src/run/judge/judge.ts";
import { createJudge, MixedJudge } from "../../../src/run/mix/create-judge.ts";
import type { Session, TargetSession } from "../../../src/run/open/session.ts";
import type { SenderParts } from "../../../src/run/run-parts.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { Slots } from "../../../src/run/send/slots.ts";
import { Call } from "../../../src/transport/call.ts";
import type { ResponseNeeds } from "../../../src/transport/client.ts";
import { ANY_RESPONSE } from "../../../src/transport/response-check.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeDataset, makeService } from "../send/fake-client.ts";

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

function makeParts(session: Session): SenderParts {
  const feed = new RequestFeed(makeService(), makeDataset(1), { usesIds: false });
  return { plan: makePlan(), observer: {}, session, feed, tokens: undefined } as unknown as SenderParts;
}

function makeSession(): TargetSession {
  return {
    service: makeService(),
    dataset: makeDataset(1),
    warnings: [],
    shared: undefined,
    counters: async () => undefined,
  };
}

test("one target has one judge; a mix has one for each member, and its clients get their checks", () => {
  assert.ok(createJudge(makeParts(makeSession()), () => {}) instanceof RequestJudge);
  const members = ["a", "b"].map((name) => ({ name, plan: makePlan(), session: makeSession() }));
  const responses: ResponseNeeds[] = [{ keepBodies: true }, { keepBodies: true }];
  const session = { ...makeSession(), members, responses };
  assert.ok(createJudge(makeParts(session), () => {}) instanceof MixedJudge);
  for (const { keepBodies, createCheck } of responses) {
    assert.equal(keepBodies, false);
    assert.ok(createCheck?.() !== undefined);
  }
});
