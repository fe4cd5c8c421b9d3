import assert from "node:assert/strict";
import { test } from "node:test";
import { DataCount } from "../../../src/run/fleet/data-count.ts";

/** From where in the data the next load continues; whole runs are in every-load.test.ts. */

test("counted loads follow each other, and what is added counts", () => {
  const data = new DataCount();
  assert.deepEqual([data.begin(20), data.begin(23)], [0, 20]);
  data.add(7);
  assert.equal(data.begin(1), 50);
});

test("a load without a number of requests is counted when it has stopped, from where the data began again", () => {
  const data = new DataCount();
  assert.equal(data.begin(Number.POSITIVE_INFINITY), 0);
  assert.equal(data.begin(5), undefined);
  data.rewind(100);
  data.add(Number.POSITIVE_INFINITY);
  data.set(130);
  assert.deepEqual([data.begin(5), data.begin(1)], [30, 35]);
});
