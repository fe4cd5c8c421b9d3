import { isMainThread } from "node:worker_threads";

/**
 * Loaded before the tests of a group: every property without a seed of its own takes that of the run, which the run's output begins with. Node
 * and Deno also load it in each thread that a test starts, which has no properties.
 */

if (isMainThread) {
  const [{ default: fc }, { SEED_VARIABLE }] = await Promise.all([import("fast-check"), import("./run-tests.ts")]);
  const text = process.env[SEED_VARIABLE];
  if (text !== undefined) {
    fc.configureGlobal({ seed: Number(text) });
    console.error(`${SEED_VARIABLE}=${text}`);
  }
}
