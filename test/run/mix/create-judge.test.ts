import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestJudge } from "../../../src/run/judge/judge.ts";
import { createJudge, MixedJudge } from "../../../src/run/mix/create-judge.ts";
import type { Session, TargetSession } from "../../../src/run/open/session.ts";
import type { SenderParts } from "../../../src/run/run-parts.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import type { ResponseNeeds } from "../../../src/transport/client.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeDataset, makeService } from "../send/fake-client.ts";

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
