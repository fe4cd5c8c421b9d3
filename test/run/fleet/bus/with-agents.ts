import { after, before } from "node:test";
import type { BusPlan, Plan } from "../../../../src/plan/plan.ts";
import type { RunObserver } from "../../../../src/result/observer.ts";
import type { RunResult } from "../../../../src/result/run-result.ts";
import { type Agent, startAgent } from "../../../../src/run/fleet/bus/agent.ts";
import { type RunningPlan, startPlan } from "../../../../src/run/run-plan.ts";
import { sleepMs } from "../../../../src/runtime/clock.ts";
import { makePlan, type PlanChange } from "../../../plan/make-plan.ts";
import { type Nats, startNats } from "../../../servers/nats.ts";

/** Agents in this process on a real NATS server, which runs as long as the tests of the file. */

export let nats: Nats;

/** Runs the server as long as the tests of the file that calls this: Bun loads this module once for all files. */
export function useNats(): void {
  before(async () => {
    nats = await startNats();
  });
  after(() => nats?.stop());
}

/** What an agent said. */
export interface Heard {
  readonly name: string;
  readonly ended: (string | undefined)[];
}

/** Starts agents, and ends them after `use`. */
export async function withAgents<T>(
  count: number,
  use: (heard: readonly Heard[], agents: readonly Agent[]) => Promise<T>,
) {
  const heard: { name: string; readonly ended: (string | undefined)[] }[] = [];
  const agents: Agent[] = [];
  for (let index = 0; index < count; index++) {
    const one = { name: "", ended: [] as (string | undefined)[] };
    heard.push(one);
    const events = {
      ready: (name: string) => {
        one.name = name;
      },
      began: () => {},
      ended: (reason: string | undefined) => one.ended.push(reason),
    };
    agents.push(await startAgent({ url: nats.url }, events));
  }
  try {
    return await use(heard, agents);
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
  }
}

export function planFor(url: string, bus: Partial<BusPlan>, change: PlanChange = {}): Plan {
  const client = { bus: { url: nats.url, waitMs: 60_000, ...bus }, ...change.client };
  return makePlan({ ...change, client, target: { url, ...change.target } });
}

export function start(plan: Plan, observer: RunObserver = {}): RunningPlan {
  return startPlan(plan, { openObserver: () => Promise.resolve(observer), check: () => Promise.resolve() });
}

export const run = (plan: Plan, observer?: RunObserver): Promise<RunResult> => start(plan, observer).result;
export const holdAt = (...values: number[]): Plan["load"] => ({
  ...{ kind: "concurrency", levels: { kind: "list", values }, search: "linear" },
});
export const count = (requests: number) => ({ mode: { kind: "requests", count: requests } }) as const;
export const forMs = (durationMs: number) => ({ mode: { kind: "duration", durationMs } }) as const;
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleepMs(10);
}
/** How long a response takes. */
export const after5Ms = async (): Promise<undefined> => {
  await sleepMs(5);
  return undefined;
};
