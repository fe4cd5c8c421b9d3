import assert from "node:assert/strict";
import { test } from "node:test";
import { FailureLog } from "../../../src/run/judge/failure-log.ts";

test("failures are counted by kind and status, in the order of the kinds, with the first as example", () => {
  const log = new FailureLog();
  log.add({ kind: "grpc", message: "a", status: 14 });
  log.add({ kind: "connect", message: "b" });
  log.add({ kind: "grpc", message: "c", status: 3 });
  log.add({ kind: "grpc", message: "d", status: 3 });
  assert.equal(log.total, 4);
  assert.deepEqual(log.list(), [
    { kind: "connect", count: 1, example: "b", status: undefined },
    { kind: "grpc", count: 2, example: "c", status: 3 },
    { kind: "grpc", count: 1, example: "a", status: 14 },
  ]);
});
