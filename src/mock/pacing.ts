import type { MockPlan } from "../plan/mock.ts";
import { createRandom, seedOfNumber } from "../runtime/random.ts";
import { createLatency } from "./latency.ts";

const SEED = 3;

/** The latency and the faults of a mock's service. */
export interface Pacing {
  /** Waits for the planned latency. */
  wait(): Promise<void>;
  /** Draws whether the next request gets an error, by the planned ratio. */
  fails(): boolean;
  /** Draws whether the next stream is cut off in the middle, by the planned ratio. */
  cuts(): boolean;
}

/** Creates a service's pacing, with random numbers of its own. */
export function createPacing({ latency, errorRatio, llm, seed = 0 }: MockPlan): Pacing {
  const random = createRandom(seedOfNumber(SEED, "draw", seed));
  const latencyMs = createLatency(latency, random);
  const cutRatio = llm?.cutRatio ?? 0;
  return {
    wait: async () => {
      const waitMs = latencyMs();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    },
    fails: () => errorRatio > 0 && random() < errorRatio,
    cuts: () => cutRatio > 0 && random() < cutRatio,
  };
}
