import assert from "node:assert/strict";
import { test } from "node:test";
import { RunError } from "../../../src/plan/problem.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import { laneOptionsOf } from "../../../src/run/lanes.ts";
import { createTargetFeed } from "../../../src/run/mix/create-feed.ts";
import type { RequestFeed } from "../../../src/run/send/feed.ts";
import { sessionsOf } from "../../../src/run/send/session-feed.ts";
import type { Service } from "../../../src/service/service.ts";
import { makePlan, type PlanChange, rateLoad } from "../../plan/make-plan.ts";
import { makeDataset, makeService } from "../send/fake-client.ts";

const conversations: NonNullable<Service["conversations"]> = () =>
  Promise.resolve(() => ({ nextRequest: (turn) => turn, addResponse: () => undefined }));

function create(change: PlanChange, service: Partial<Service> = {}): Promise<RequestFeed> {
  const plan = makePlan(change);
  const { search } = prepareLoad(plan.load);
  const made = { ...makeService(), ...service };
  const session = {
    service: made,
    dataset: makeDataset(2),
    warnings: [],
    shared: undefined,
    counters: () => Promise.resolve(undefined),
  };
  return createTargetFeed(session, { plan, search, lanes: laneOptionsOf(plan, search, made) });
}

const sequence = { isSequence: true };
const rangeWithoutEnd: PlanChange = {
  load: { kind: "concurrency", levels: { kind: "range", start: 1, end: null, step: 1 }, search: "linear" },
};
const idRange = (idCount: number, concurrency: number): PlanChange => ({
  load: { kind: "concurrency", levels: { kind: "list", values: [concurrency] }, search: "linear" },
  sequences: { ...makePlan().sequences, idCount },
});

test("requests have ids where they are asynchronous, or share a stream", async () => {
  const hasId = async (change: PlanChange, service?: Partial<Service>): Promise<boolean> => {
    const feed = await create(change, service);
    feed.next(0, 0);
    return feed.stamp !== undefined;
  };
  assert.equal(await hasId({}), false);
  assert.equal(await hasId({ client: { callMode: "async" } }), true);
  assert.equal(await hasId({}, { wire: "grpc-stream" }), true);
});

test("a model with sequences gets them, others do not", async () => {
  assert.equal((await create({})).sequences, undefined);
  assert.notEqual((await create({}, sequence)).sequences, undefined);
});

test("sessions are possible when the service supports conversations", async () => {
  const load = { kind: "session-concurrency", concurrency: 1 } as const;
  assert.notEqual(sessionsOf(await create({ load }, { conversations })), undefined);
  assert.equal(sessionsOf(await create({}, { conversations })), undefined);
});

const REFUSED: readonly (readonly [name: string, change: PlanChange, service: Partial<Service>, message: RegExp])[] = [
  [
    "sessions of a server without conversations",
    { load: { kind: "session-concurrency", concurrency: 1 } },
    {},
    /no conversations/,
  ],
  [
    "asynchronous sequences without an end of the concurrency",
    rangeWithoutEnd,
    sequence,
    /^The 'end' concurrency can not be 0/,
  ],
  ["fewer ids than sequences in flight", idRange(2, 3), sequence, /^sequence id range .* possible concurrency,/],
  [
    "fewer ids than sequences of a schedule",
    { ...idRange(2, 3), load: rateLoad([10]) },
    sequence,
    /^sequence id range .* possible number of sequences,/,
  ],
  [
    "a fixed schedule of sequences",
    { load: { kind: "fixed-schedule" } },
    sequence,
    /^a fixed schedule sends each entry/,
  ],
];
for (const [name, change, service, message] of REFUSED)
  test(`${name} cannot be fed`, async () => {
    await assert.rejects(create(change, service), (error: unknown) => {
      assert.ok(error instanceof RunError);
      assert.match(error.message, message);
      assert.notEqual(error.hint, "");
      return true;
    });
  });

test("as many ids as sequences in flight are enough", async () => {
  assert.notEqual((await create(idRange(3, 3), sequence)).sequences, undefined);
});
