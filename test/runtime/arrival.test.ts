import assert from "node:assert/strict";
import { test } from "node:test";
import { arrivalNs, noArrivalBefore } from "../../src/runtime/arrival.ts";

const SMALL = 100;
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test("small reads of a turn have the time of its first, those of the next one another", async () => {
  await nextTurn();
  assert.deepEqual(
    [arrivalNs(1000, 900, SMALL), arrivalNs(1700, 0, SMALL), arrivalNs(1900, 1000, SMALL)],
    [1000, 1000, 1000],
  );
  await nextTurn();
  assert.equal(arrivalNs(2500, 0, SMALL), 2500);
});

test("what answers a request of this turn, what is large and what follows a border has not arrived before; times never go back", async () => {
  await nextTurn();
  arrivalNs(1000, 0, SMALL);
  assert.deepEqual([arrivalNs(1300, 1200, SMALL), arrivalNs(1400, 0, SMALL)], [1300, 1300]);
  assert.deepEqual([arrivalNs(1500, 0, 1 << 20), arrivalNs(1600, 0, SMALL)], [1500, 1500]);
  noArrivalBefore(1650);
  noArrivalBefore(1200);
  assert.equal(arrivalNs(1700, 0, SMALL), 1650);
});
