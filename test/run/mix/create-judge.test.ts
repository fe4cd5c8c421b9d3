import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestJudge } from "../../../src/run/judge/judge.ts";
import { createJudge } from "../../../src/run/mix/create-judge.ts";
import { MixedJudge } from "../../../src/run/mix/mixed-judge.ts";
import type { Session } from "../../../src/run/open/session.ts";
import type { SenderParts } from "../../../src/run/run-parts.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeDataset, makeService } from "../send/fake-client.ts";

function makeParts(session: Session): SenderParts {
  const feed = new RequestFeed(session.service, session.dataset, { usesIds: false });
  return { plan: makePlan(), observer: {}, session, feed, tokens: undefined } as unknown as SenderParts;
}

function makeSession(): Session {
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
  const route = { member: 0, answers: [] };
  const members = ["a", "b"].map((name) => ({ name, plan: makePlan(), session: makeSession() }));
  assert.ok(createJudge(makeParts({ ...makeSession(), members, route }), () => {}) instanceof MixedJudge);
  assert.equal(route.answers.length, 2);
});
