import { fieldOf } from "../../plan/defined.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { membersOf } from "../../registry/mix.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { RunObserver } from "../../result/observer.ts";
import { type FunctionsSource, whyNotElsewhere } from "../../scenario/thread-functions.ts";

/** Why a plan's load cannot be divided among several threads. */

/** Returns what in a plan or its outputs only one worker can do. @param functions where the plan's functions are; undefined: it names none */
export function findUndivided(plan: Plan, observer: RunObserver, functions: FunctionsSource | undefined): Problem[] {
  const unloadable = functions === undefined ? undefined : whyNotElsewhere(functions);
  const targets = [plan.target, ...membersOf(plan.target).map(({ target }) => target)];
  const reasons = [
    ...(targets.some((target) => targetKindOf(target).isInProcess === true)
      ? ["several workers cannot share a target that runs inside this process"]
      : []),
    ...(targets.some((target) => (fieldOf(target, "sharedMemory") ?? "none") !== "none")
      ? ["several workers cannot share the regions of shared memory"]
      : []),
    ...(unloadable === undefined ? [] : [`several workers need the functions of the scenario, and ${unloadable}`]),
    ...(observer.onRecord === undefined && observer.onTokens === undefined && plan.outputs.verbosity < 2
      ? []
      : ["several workers write no single requests: no records, profile export or trace"]),
    ...(plan.measurement.tokens?.keepsAllWindows === true
      ? ["several workers do not keep the tokens of each request, from which this mode computes its statistics"]
      : []),
    ...(plan.onRecord === undefined ? [] : ["several workers pass no single requests to onRecord"]),
    ...(plan.client.isMpi ? ["several workers cannot be one rank of an MPI job"] : []),
  ];
  const { bus, workers } = plan.client;
  if (bus === undefined) {
    const path = { setting: "client.workers" } as const;
    return reasons.map((reason) => problem("unsupported", path, reason, "Send with one worker.", String(workers)));
  }
  const path = { setting: "client.bus.url" } as const;
  return reasons.map((reason) => problem("unsupported", path, reason, "Send without agents."));
}
