import fc from "fast-check";
import { SEED_VARIABLE } from "./run-tests.ts";

/** Loaded before the tests of a group: every property without a seed of its own takes that of the run, which the run's output begins with. */

const text = process.env[SEED_VARIABLE];
if (text !== undefined) {
  fc.configureGlobal({ seed: Number(text) });
  console.error(`${SEED_VARIABLE}=${text}`);
}
