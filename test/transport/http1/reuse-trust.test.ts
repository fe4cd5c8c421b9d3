import assert from "node:assert/strict";
import { test } from "node:test";
import { createServerReuse, ReuseTrust } from "../../../src/transport/http1/reuse-trust.ts";

const MS = 1e6;

test("the second request of a connection waits for a close until the server has shown that it keeps connections", () => {
  const server = createServerReuse();
  const trust = new ReuseTrust(server);
  assert.deepEqual([trust.waitNs(0, true, 0), trust.waitNs(0, false, 0)], [10 * MS, 3 * MS]);
  assert.equal(trust.waitNs(0, true, 4 * MS), 6 * MS);
  trust.prove(true);
  assert.ok(trust.waitNs(0, true, 0) <= 0);
  assert.ok(new ReuseTrust(server).waitNs(0, true, 0) <= 0, "what one slot has shown holds for the others");
});

test("a slot that lost a connection right after a response waits longer, and only that slot, until it is proven wrong", () => {
  const server = { ...createServerReuse(), isProvenForStreams: true };
  const trust = new ReuseTrust(server);
  trust.refute(0, 20 * MS);
  assert.equal(trust.waitNs(0, true, 0), 100 * MS);
  assert.ok(new ReuseTrust(server).waitNs(0, true, 0) <= 0);
  trust.prove(true);
  assert.ok(trust.waitNs(0, true, 0) <= 0);
});

test("a connection that was idle for long before it was closed proves nothing", () => {
  const trust = new ReuseTrust({ ...createServerReuse(), isProvenForStreams: true });
  trust.refute(0, 2000 * MS);
  assert.ok(trust.waitNs(0, true, 0) <= 0);
});

test("a connection that stays open after a whole response shows the same as a wait, for whole responses only, until it is closed", () => {
  const server = createServerReuse();
  const queries = new ReuseTrust(server);
  const load = new ReuseTrust(server);
  queries.answered(0, false);
  load.answered(10 * MS, false);
  assert.ok(load.waitNs(10 * MS, false, 10 * MS) <= 0);
  assert.equal(load.waitNs(10 * MS, true, 10 * MS), 10 * MS);
  queries.closed();
  assert.equal(load.waitNs(10 * MS, false, 10 * MS), 3 * MS);
});

test("what holds after whole responses does not after streams", () => {
  const server = createServerReuse();
  new ReuseTrust(server).prove(false);
  assert.ok(new ReuseTrust(server).waitNs(0, false, 0) <= 0);
  assert.equal(new ReuseTrust(server).waitNs(0, true, 0), 10 * MS);
});
