import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionReuse, createServerReuse } from "../../../src/transport/http1/connection-reuse.ts";

const MS = 1e6;

test("the second request of a connection waits for a close until the server has shown that it keeps connections", () => {
  const server = createServerReuse();
  const reuse = new ConnectionReuse(server);
  assert.deepEqual([reuse.waitNs(0, true, 0), reuse.waitNs(0, false, 0)], [10 * MS, 3 * MS]);
  assert.equal(reuse.waitNs(0, true, 4 * MS), 6 * MS);
  reuse.prove(true);
  assert.ok(reuse.waitNs(0, true, 0) <= 0);
  assert.ok(new ConnectionReuse(server).waitNs(0, true, 0) <= 0, "what one slot has shown holds for the others");
});

test("a slot that lost a connection right after a response waits longer, and only that slot, until it is proven wrong", () => {
  const server = { ...createServerReuse(), isProvenForStreams: true };
  const reuse = new ConnectionReuse(server);
  reuse.refute(0, 20 * MS);
  assert.equal(reuse.waitNs(0, true, 0), 100 * MS);
  assert.ok(new ConnectionReuse(server).waitNs(0, true, 0) <= 0);
  reuse.prove(true);
  assert.ok(reuse.waitNs(0, true, 0) <= 0);
});

test("a connection that was idle for long before it was closed proves nothing", () => {
  const reuse = new ConnectionReuse({ ...createServerReuse(), isProvenForStreams: true });
  reuse.refute(0, 2000 * MS);
  assert.ok(reuse.waitNs(0, true, 0) <= 0);
});

test("a connection that stays open after a whole response shows the same as a wait, for whole responses only, until it is closed", () => {
  const server = createServerReuse();
  const queries = new ConnectionReuse(server);
  const load = new ConnectionReuse(server);
  queries.answered(0, false);
  load.answered(10 * MS, false);
  assert.ok(load.waitNs(10 * MS, false, 10 * MS) <= 0);
  assert.equal(load.waitNs(10 * MS, true, 10 * MS), 10 * MS);
  queries.closed();
  assert.equal(load.waitNs(10 * MS, false, 10 * MS), 3 * MS);
});

test("what holds after whole responses does not after streams", () => {
  const server = createServerReuse();
  new ConnectionReuse(server).prove(false);
  assert.ok(new ConnectionReuse(server).waitNs(0, false, 0) <= 0);
  assert.equal(new ConnectionReuse(server).waitNs(0, true, 0), 10 * MS);
});
