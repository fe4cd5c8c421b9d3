import type { LoadPlan } from "../../../plan/plan.ts";
import type { GenaiSettings } from "../settings.ts";

/** When requests are sent. */
export function toLoad({ input, perfAnalyzer: { stimulus }, rampart }: GenaiSettings): LoadPlan {
  switch (stimulus.kind) {
    case "request_rate":
      return {
        kind: "request-rate",
        levels: { kind: "list", values: [stimulus.ratePerSec] },
        search: "linear",
        distribution: rampart.rateDistribution === "poisson" ? "poisson" : "constant",
        seed: input.randomSeed,
      };
    case "fixed_schedule":
      return { kind: "fixed-schedule" };
    default: {
      const concurrency = stimulus.kind === "concurrency" ? stimulus.requests : stimulus.sessions;
      return { kind: "concurrency", levels: { kind: "list", values: [concurrency] }, search: "linear" };
    }
  }
}
