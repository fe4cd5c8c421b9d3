import { type ExecutedPlan, executePlan } from "../../../src/cli/execute.ts";
import { inScenario } from "../../../src/cli/setting-names.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import type { Assertion, MetricOf } from "../../../src/scenario/assertion.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { type HttpOptions, http } from "../../../src/scenario/targets/http.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";

/** Runs a scenario with http(…) in this process. */

/** What a test changes. */
export interface HttpRun {
  readonly options?: HttpOptions;
  readonly requests?: number;
  readonly concurrency?: number;
  readonly assert?: readonly Assertion<MetricOf<"closed", "bytes">, `extracted: ${string}`>[];
  readonly client?: Plan["client"]["kind"];
  readonly files?: Plan["outputs"]["files"];
  /** Base of relative paths. Default: the working directory. */
  readonly folder?: string;
}

/** The run, and what it printed. */
export interface RanHttp extends ExecutedPlan {
  readonly plan: Plan;
  readonly text: string;
}

/** Returns the plan of such a scenario. @throws UserError */
export function planOf(url: string | readonly string[], run: HttpRun = {}): Plan {
  const { options, requests = 4, concurrency = 1, assert = [], client, files, folder = process.cwd() } = run;
  const scenario = defineScenario({
    name: "a test",
    target: http(url, options),
    load: hold(concurrency, { requests }),
    assert,
    stallTimeout: "20 s",
  });
  const plan = toPlan(scenario, folder, { client });
  return files === undefined ? plan : { ...plan, outputs: { ...plan.outputs, files } };
}

export async function runHttp(url: string | readonly string[], run: HttpRun = {}): Promise<RanHttp> {
  const plan = planOf(url, run);
  let text = "";
  const io = {
    nameOf: inScenario,
    out: (piece: string) => {
      text += piece;
    },
    err: (piece: string) => {
      text += piece;
    },
    onInterrupt: () => () => {},
    loadApi: async () => ({}),
  };
  const executed = await executePlan(plan, io);
  return { ...executed, plan, text };
}
