import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { nowNs } from "../../src/runtime/clock.ts";
import { StallWatch } from "../../src/transport/stall-watch.ts";

const TIMEOUT_NS = 0.2e9;
const PAUSE_NS = 1e9;

/** Starts a watch, and returns how far before now its deadlines are: for the first check, and for each one after it. */
async function watchAges(
  act: () => void,
  isEnough: (agesNs: readonly number[]) => boolean,
): Promise<readonly number[]> {
  const agesNs: number[] = [];
  let watch: StallWatch | undefined;
  await new Promise<void>((resolve) => {
    // The watch does not keep the process alive, as a run has its sockets for that.
    const alive = setInterval(() => undefined, 1000);
    watch = new StallWatch(TIMEOUT_NS, (deadlineNs) => {
      agesNs.push(nowNs() - deadlineNs);
      if (!isEnough(agesNs)) return;
      clearInterval(alive);
      resolve();
    });
    watch.start();
    act();
  });
  watch?.stop();
  return agesNs;
}

describe("the watch for silent servers", () => {
  test("asks for activity within the timeout", async () => {
    const agesNs = await watchAges(
      () => undefined,
      (ages) => ages.length === 3,
    );
    for (const ageNs of agesNs) assert.ok(ageNs >= TIMEOUT_NS, `${ageNs}`);
  });

  test("does not count time in which the process did not run", async () => {
    const [firstNs = 0] = await watchAges(
      () => {
        const endNs = nowNs() + PAUSE_NS;
        while (nowNs() < endNs);
      },
      (ages) => ages.length === 1,
    );
    // Two intervals of 50 ms are the usual lateness of a timer.
    assert.ok(firstNs >= TIMEOUT_NS + PAUSE_NS - 0.1e9, `${firstNs}`);
  });

  test("ignores a pause that is older than the timeout", async () => {
    const agesNs = await watchAges(
      () => {
        const endNs = nowNs() + PAUSE_NS;
        while (nowNs() < endNs);
      },
      (ages) => (ages.at(-1) ?? Number.POSITIVE_INFINITY) < TIMEOUT_NS + 0.1e9,
    );
    assert.ok(agesNs.length > 1);
  });
});
