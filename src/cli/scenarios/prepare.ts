import { resolve } from "node:path";
import type { AssertionPlan } from "../../plan/assertions.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem, RunError, UserError } from "../../plan/problem.ts";
import { showValue } from "../../plan/show-value.ts";
import type { Scenario } from "../../scenario/define.ts";
import { type LoadedScenario, loadScenario } from "../../scenario/load-module.ts";
import { readParameters } from "../../scenario/params/read-values.ts";
import { type FieldContext, fieldsAfterSetup, resolveFields } from "../../scenario/resolve.ts";
import { toLaterError } from "../../scenario/scenario-error.ts";
import { checkFields, type PlanOverrides, toPlan } from "../../scenario/to-plan.ts";
import type { CommandIo } from "../execute.ts";
import type { Flag, FlagValues } from "../flags.ts";
import type { Hooks } from "../run-hooks.ts";
import { withoutExitOf } from "../scenario-errors.ts";
import { readGivenLoad, readLimits, withGivenLoad } from "./given-load.ts";

/** Prepares a scenario of a command line up to its plan: loads it, with the values of its parameters, and checks it. */

/** `--set`, for commands that take a scenario. */
export const SET_FLAG: Flag = {
  name: "set",
  isRepeatable: true,
  isCommon: true,
  value: "NAME=VALUE",
  help: "Value of a parameter of the scenario (params), instead of the variable RAMPART_NAME of the environment and of its default. With a scenario, --help lists its parameters.",
  meantAs: {
    "--env": "--set NAME=VALUE",
    "-e": "--set NAME=VALUE",
    "--model": 'model: "NAME" in the target of the scenario',
    "--header": 'headers: { NAME: "VALUE" } in the target of the scenario',
    "-H": 'headers: { NAME: "VALUE" } in the target of the scenario',
    "--insecure": "tls: { verify: false } in the target of the scenario",
    "--insecure-skip-tls-verify": "tls: { verify: false } in the target of the scenario",
    "--isl": "isl: 550 in input.prompts(…) of the scenario",
    "--osl": "osl: 128 in input.prompts(…) of the scenario",
    "-f": "rampart run SCENARIO.ts",
    "--spawn-rate": 'rampUp: "10 s" in hold(…) of the scenario',
    "--stage": 'load: ramp(1, 64, { over: "2 min" }) in the scenario',
    "--tag": 'tags: { NAME: "VALUE" } in the scenario',
    "--until": 'until: "knee" in steps(…) or ramp(…) of the scenario',
    "--repeat": "repeat: 5 in the scenario",
    "--runs": "repeat: 5 in the scenario",
    "--warmup": 'warmupFor: "10 s" in the scenario',
    "--warmup-for": 'warmupFor: "10 s" in the scenario',
  },
};

/** A scenario with values for its parameters. */
export interface PreparedScenario {
  /** Absent: no hooks. */
  readonly hooks?: Hooks;
  readonly context: FieldContext;
  readonly folder: string;
  readonly overrides: PlanOverrides;
  /** Assertions of the command line. */
  readonly limits: readonly AssertionPlan[];
  /** Fields that need the result of `setup`; empty without a setup. */
  readonly lateFields: readonly string[];
  /** Returns the scenario with the results of the fields that are functions of the parameters. */
  resolved(context: FieldContext): Scenario;
  /** Makes the plan. @param overrides differences of one of its parts @throws UserError with all problems */
  plan(context: FieldContext, overrides?: PlanOverrides, change?: (plan: Plan) => Plan): Plan;
  /** Checks everything that is known before `setup` is called. @throws UserError with all problems */
  checkEarly(): void;
}

/**
 * Loads a scenario and uses it. Its errors have their position in its file. @param problems problems of the command line, which are
 * reported together with those of the scenario
 */
export async function openScenario<T>(
  file: string,
  problems: readonly Problem[],
  io: CommandIo,
  use: (loaded: LoadedScenario) => Promise<T>,
): Promise<T> {
  const loaded = await loadScenario(file, await io.loadApi(), io.err).catch((error: unknown) => {
    throw error instanceof UserError ? new UserError([...problems, ...error.problems]) : error;
  });
  return withoutExitOf(file, () => use(loaded)).catch((error: unknown) => {
    throw explainLater(error, loaded);
  });
}

/** A scenario that replaces built-in functions of the language may throw anywhere. */
export function explainLater(error: unknown, { file, place }: LoadedScenario): unknown {
  if (error instanceof UserError) return new UserError(error.problems.map(place));
  if (error instanceof RunError) return error;
  return toLaterError(error, file, resolve(file)) ?? error;
}

/** Reads the parameters and the changes that flags make to a scenario. @param problems of the flags, thrown with the others */
export function prepareScenario(
  { scenario, file, folder }: LoadedScenario,
  flags: FlagValues,
  problems: Problem[],
): PreparedScenario {
  const { params, setup, teardown } = scenario.definition as Hooks & { readonly params?: unknown };
  const load = readGivenLoad(flags, "run", problems);
  const limits = readLimits(flags, problems);
  const { values, plan: parameters } = readParameters(params, { sets: flags.texts("set"), env: process.env }, problems);
  const wrongHooks = checkHooks({ setup, teardown });
  if (problems.length > 0) throw new UserError([...problems, ...wrongHooks]);
  const overrides = {
    urls: flags.texts("url"),
    client: flags.text("client") as Plan["client"]["kind"] | undefined,
    ...(params === undefined ? {} : { parameters }),
  };
  const context: FieldContext = { values, file, path: resolve(file) };
  const resolved = (known: FieldContext): Scenario => {
    const fields = resolveFields(scenario, known);
    return load === undefined ? fields : withGivenLoad(fields, load);
  };
  const late = fieldsAfterSetup(scenario);
  const lateFields = setup === undefined ? [] : late;
  return {
    ...((setup ?? teardown) === undefined ? {} : { hooks: defined({ setup, teardown }) }),
    ...{ context, folder, overrides, limits, lateFields },
    resolved,
    plan: (known, more, change) =>
      withProblems(wrongHooks, () => toPlan(resolved(known), folder, { ...overrides, ...more }, change)),
    checkEarly: () =>
      withProblems(wrongHooks, () => {
        const known = late.includes("load") ? resolveFields(scenario, context) : resolved(context);
        if (lateFields.length === 0) toPlan(known, folder, overrides);
        else checkFields(known, late);
      }),
  };
}

/** Returns the result of a function. @throws UserError with these problems and those of the function */
function withProblems<T>(problems: readonly Problem[], make: () => T): T {
  let made: T;
  try {
    made = make();
  } catch (error) {
    throw error instanceof UserError ? new UserError([...problems, ...error.problems]) : error;
  }
  if (problems.length > 0) throw new UserError(problems);
  return made;
}

function checkHooks(hooks: Readonly<Record<string, unknown>>): Problem[] {
  return Object.entries(hooks).flatMap(([name, hook]) =>
    hook === undefined || typeof hook === "function"
      ? []
      : [problem("invalid-value", name, "must be a function", "", showValue(hook))],
  );
}
