import { fieldOf } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { membersOf } from "../../registry/mix.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import { type FunctionsSource, whyNotElsewhere } from "../../scenario/thread-functions.ts";

/** Reasons why a plan's load cannot be divided among several threads. */

/**
 * Returns the parts of a plan that only one worker can run. @param functions module with the functions that workers call; undefined: there
 * is none
 */
export function findUndivided(plan: Plan, functions: FunctionsSource | undefined): Problem[] {
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
    ...(plan.client.bus !== undefined && plan.client.workers === "auto"
      ? ["the agents' number of workers must be given: auto counts the cores of this host"]
      : []),
    ...(plan.client.bus !== undefined && plan.client.sourceAddresses !== undefined
      ? ["source addresses are those of one host, and each agent has its own"]
      : []),
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
