import type { MockPlan } from "../plan/mock.ts";
import { msToNs } from "../plan/units.ts";
import { systemClock } from "../runtime/clock.ts";
import { createRandom, seedOfNumber } from "../runtime/random.ts";
import { createLatency } from "./latency.ts";
import { waitUntil } from "./wait.ts";

const SEED = 3;

/** The latency and the faults of a mock's service. */
export interface Pacing {
  wait(): Promise<void>;
  /** Draws whether the next request gets an error, by the planned ratio. */
  fails(): boolean;
  /** Draws whether the next stream is cut off in the middle, by the planned ratio. */
  cuts(): boolean;
}

/** Creates the pacing of a service, with a separate random number generator. @param clock default: this thread's */
export function createPacing({ latency, errorRatio, llm, seed = 0 }: MockPlan, clock = systemClock): Pacing {
  const random = createRandom(seedOfNumber(SEED, "draw", seed));
  const latencyMs = createLatency(latency, random);
  const cutRatio = llm?.cutRatio ?? 0;
  return {
    wait: () => waitUntil(clock.nowNs() + msToNs(latencyMs()), clock),
    fails: () => errorRatio > 0 && random() < errorRatio,
    cuts: () => cutRatio > 0 && random() < cutRatio,
  };
}
