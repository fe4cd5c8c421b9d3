import assert from "node:assert/strict";
import { test } from "node:test";
import { ReuseTrust, type ServerReuse } from "../../../src/transport/http1/reuse-trust.ts";

const MS = 1e6;

test("the second request of a connection waits for a close until the server has shown that it keeps connections", () => {
  const server: ServerReuse = { isProven: false };
  const trust = new ReuseTrust(server);
  assert.deepEqual([trust.waitNs(0, true, 0), trust.waitNs(0, false, 0)], [10 * MS, 3 * MS]);
  assert.equal(trust.waitNs(0, true, 4 * MS), 6 * MS);
  trust.prove();
  assert.ok(trust.waitNs(0, true, 0) <= 0);
  assert.ok(new ReuseTrust(server).waitNs(0, true, 0) <= 0, "what one slot has shown holds for the others");
});

test("a slot that lost a connection right after a response waits longer, and only that slot, until it is proven wrong", () => {
  const server: ServerReuse = { isProven: true };
  const trust = new ReuseTrust(server);
  trust.refute(0, 20 * MS);
  assert.equal(trust.waitNs(0, true, 0), 100 * MS);
  assert.ok(new ReuseTrust(server).waitNs(0, true, 0) <= 0);
  trust.prove();
  assert.ok(trust.waitNs(0, true, 0) <= 0);
});

test("a connection that was idle for long before it was closed proves nothing", () => {
  const trust = new ReuseTrust({ isProven: true });
  trust.refute(0, 2000 * MS);
  assert.ok(trust.waitNs(0, true, 0) <= 0);
});
