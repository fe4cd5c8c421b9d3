import assert from "node:assert/strict";
import { test } from "node:test";
import { holdOpen } from "../bench/connections/hold-open.ts";
import { commandUnderTest } from "./command.ts";

/** Many connections at once, from several source addresses to several servers. `npm run bench:connections` holds 50,000. */

const COUNT = 3000;

test(`${COUNT} connections of one process are open at once, from each source to each server`, {
  skip: process.platform !== "linux",
}, async () => {
  const held = await holdOpen(commandUnderTest, {
    ...{ kind: "connections", count: COUNT, clients: 1, servers: 2, serversEach: 2, sources: 3 },
    ...{ answerMs: 2500, tokens: 1, tokenMs: 0, limitMs: 100_000 },
  });
  assert.deepEqual([held.completed, held.failed, held.connections], [COUNT / 2, 0, COUNT]);
  assert.equal(held.mostOpen, COUNT);
  assert.equal(held.sources, 3);
});
