import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem, UserError } from "../../plan/problem.ts";
import type { abOf } from "../../scenario/definition/ab.ts";
import type { PlanOverrides } from "../../scenario/to-plan.ts";
import type { CommandIo, OnReport, OnRuns, PointWatch } from "../execute.ts";
import type { FlagValues } from "../flags.ts";
import type { PlanValues } from "../options/place.ts";
import { runAlternating } from "./alternate.ts";
import { type ParallelRun, runParallel } from "./parallel.ts";

/** Scenarios that run several times: `ab(…)` and `perTarget(…)`. */

/** The request for a scenario. */
export interface RunRequest {
  readonly flags: FlagValues;
  readonly values: PlanValues;
  /** Problems of the flags, which are reported together with those of the parameters. */
  readonly problems: Problem[];
  /** Observer of a point of a sweep. */
  readonly watch?: PointWatch;
  /** Receives the runs of a scenario that has several, which are then not run. Absent: they are run. */
  readonly onRuns?: OnRuns;
  /** Receives the report of the whole scenario. */
  readonly onReport?: OnReport;
}

/** Reason why a scenario runs several times: the two targets of `ab(…)`, or the targets of a mix with separate loads. */
export interface ScenarioParts {
  readonly options?: NonNullable<ReturnType<typeof abOf>> | undefined;
  readonly names?: readonly string[] | undefined;
}

/** Runs one of the parts of a scenario. Returns its exit code. */
export type RunPart = (overrides: PlanOverrides, request: RunRequest, io: CommandIo) => Promise<number>;

/** Measures the parts of a scenario. Returns the exit codes of their runs. @param run runs one of the parts @throws UserError */
export async function measureParts(
  { options, names }: ScenarioParts,
  request: RunRequest,
  run: RunPart,
  io: CommandIo,
): Promise<readonly number[]> {
  const { flags, watch, onRuns, onReport } = request;
  if (watch !== undefined && onRuns === undefined) {
    const [field, call, more] =
      options === undefined
        ? ["load", "perTarget(…)", ", or sweep users or rate, which replace this load"]
        : ["target", "ab(…)", ""];
    const message = `${call} already runs the scenario several times`;
    throw new UserError(problem("conflict", field, message, `Leave out --sweep${more}.`));
  }
  if (options !== undefined && names !== undefined)
    throw new UserError(problem("conflict", "load", "ab(…) has targets with one load", "Use another load."));
  const values = new Map([...request.values].filter(([key]) => !key.startsWith("outputs.files.")));
  // Several runs at the same time share one terminal.
  if (names !== undefined) values.set("outputs.isLive", false);
  const asked: RunRequest = { ...request, values, flags: flags.without(["dry-run", "quiet"]) };
  const ownOf = (part: number): PlanOverrides => (names === undefined ? { side: part === 0 ? 0 : 1 } : { part });
  const plans = await planParts(names?.length ?? 2, (part, partWatch) =>
    run(ownOf(part), { ...asked, watch: partWatch }, io),
  );
  const planOf = (part: number): Plan => (plans[part] as () => Plan)();
  const runPart: ParallelRun["runPart"] = (part, partIo, partWatch) =>
    run(ownOf(part), { ...asked, watch: partWatch }, partIo);
  const asRuns = { flags, planOf, onRuns, onReport };
  return names === undefined
    ? runAlternating({ ...asRuns, options: options ?? {}, runBlock: runPart }, io)
    : runParallel({ ...asRuns, names, runPart }, io);
}

/** Returns a function that returns the plan of each part, or throws its problems. */
async function planParts(
  count: number,
  run: (part: number, watch: PointWatch) => Promise<number>,
): Promise<(() => Plan)[]> {
  const plans: (() => Plan)[] = [];
  for (let part = 0; part < count; part++) {
    try {
      await run(part, { onPlan: (plan) => plans.push(() => plan) });
    } catch (error) {
      plans.push(() => {
        throw error;
      });
    }
  }
  return plans;
}
