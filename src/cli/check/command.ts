import type { Plan } from "../../plan/plan.ts";
import { type Problem, problem, UserError } from "../../plan/problem.ts";
import { countOf, plural } from "../../plan/units.ts";
import { describeTime, estimateAllRuns, type RunTime } from "../../registry/estimate-time.ts";
import { describeLoad } from "../../registry/level-names.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { isFile } from "../../runtime/files.ts";
import type { PlanOverrides } from "../../scenario/to-plan.ts";
import type { CommandIo, OnRuns, PlannedRun } from "../execute.ts";
import { timeOfPlans } from "../expected-time.ts";
import { explainErrors, flagCommand } from "../explain-errors.ts";
import { type Flag, type FlagValues, HELP_FLAGS } from "../flags.ts";
import { changedIo } from "../guarded-io.ts";
import type { HelpPage } from "../help/page.ts";
import { findUnusable } from "../scenarios/find-unusable.ts";
import type { RunRequest } from "../scenarios/parts.ts";
import { openScenario, prepareScenario, SET_FLAG } from "../scenarios/prepare.ts";
import { findScenarios, partsOf, runParts } from "../scenarios/several.ts";
import { checkTypes, type TypeCheck } from "./type-check.ts";

/** `rampart check`: checks scenarios, and describes what they would do. Sends nothing. */

/** Its options. */
export const FLAGS: readonly Flag[] = [SET_FLAG, ...HELP_FLAGS];

/** The command. */
export const COMMAND = flagCommand({
  operand: { name: "SCENARIO.ts", takes: "file" },
  page: helpPage,
  most: Number.POSITIVE_INFINITY,
  run: runCheckCommand,
});

/** Runs the command. Returns 0 if all scenarios are right, otherwise 64. */
async function runCheckCommand(flags: FlagValues, io: CommandIo, command: string): Promise<number> {
  const problems: Problem[] = [...flags.problems];
  const files = findScenarios(flags.positionals, problems);
  const hint = `Write ${command} FILE, or ${command} FOLDER.`;
  if (flags.positionals.length === 0) problems.push(problem("missing", "SCENARIO", "no scenario is given", hint));
  if (problems.length > 0) throw new UserError(problems);
  const wrong = new Set<string>();
  const said = new Set<string>();
  const err = (text: string): void => {
    for (const [, place = ""] of text.matchAll(/^rampart: (.+?:\d+):\d+[,:]/gm)) said.add(place);
    io.err(text);
  };
  const listening = changedIo(io, { err });
  for (const file of files) {
    const code = await explainErrors(command, listening, () => checkScenario(file, flags, listening));
    if (code === EXIT.passed) continue;
    io.out(`plan   ${file}: wrong\n`);
    wrong.add(file);
  }
  const checks = checkTypes(files.filter(isFile));
  const isTyped = checks.map((check) => reportTypes(check, said, io)).every(Boolean);
  const faults = [
    ...(wrong.size === 0
      ? []
      : [`${wrong.size} of ${countOf(files.length, "plan")} ${plural(wrong.size, "is", "are")} wrong`]),
    ...(isTyped ? [] : ["types are wrong"]),
  ];
  const all = countOf(files.length, "scenario is right", "scenarios are right");
  const rest = checks.every(wasChecked) ? "" : "; types not checked";
  io.out(faults.length === 0 ? `PASSED  ${all}${rest}\n` : `REFUSED  ${faults.join("; ")}\n`);
  return faults.length === 0 ? EXIT.passed : EXIT.usage;
}

/** Checks one scenario without its hooks, and prints what it would do. */
function checkScenario(file: string, flags: FlagValues, io: CommandIo): Promise<number> {
  return openScenario(file, [], io, async (loaded) => {
    const prepared = prepareScenario(loaded, flags, []);
    const { lateFields, context } = prepared;
    if (lateFields.length > 0) {
      prepared.checkEarly();
      io.out(
        `plan   ${file}: right\n       ${lateFields.join(", ")}: not checked, because setup makes it, which is not called\n`,
      );
      return EXIT.passed;
    }
    const known = { ...context, started: { value: undefined } };
    const describe = (lines: readonly string[], time: RunTime | undefined): void =>
      io.out([`plan   ${file}: right`, ...lines, describeTime(time)].join("\n       ").concat("\n"));
    const onRuns: OnRuns = (runs, areAtOnce) => describe(describeRuns(runs), timeOfRuns(runs, areAtOnce));
    const parts = partsOf(prepared.resolved(known));
    const run = async (overrides: PlanOverrides, { watch }: RunRequest): Promise<number> => {
      watch?.onPlan?.(prepared.plan(known, overrides));
      return EXIT.passed;
    };
    if (parts !== undefined) return runParts(parts, { flags, values: new Map(), problems: [], onRuns }, run, io);
    const plan = prepared.plan(known);
    const unusable = prepared.hooks === undefined ? findUnusable(plan) : [];
    if (unusable.length > 0) throw new UserError(unusable);
    describe([describePlan(plan)], estimateAllRuns(plan));
    return EXIT.passed;
  });
}

/** Describes each target of a scenario that has several runs. */
function describeRuns(runs: readonly PlannedRun[]): string[] {
  const byName = new Map(runs.map(({ name, plan }) => [name, plan]));
  return [...byName].map(([name, plan]) => `${name}: ${describePlan(plan)}`);
}

/** Returns the time that several runs take together; undefined if it is not known for each of them. */
function timeOfRuns(runs: readonly PlannedRun[], areAtOnce: boolean): RunTime | undefined {
  const plans = runs.map(({ plan }) => plan);
  const span = timeOfPlans(plans, areAtOnce);
  return span && { ...span, parts: areAtOnce ? `${runs.length} targets at the same time` : `${runs.length} blocks` };
}

/** Describes what a plan measures, and under which load. */
function describePlan(plan: Plan): string {
  const { name, target, assertions } = plan;
  return `${name}: ${targetKindOf(target).describe(target)}; ${describeLoad(plan)}; ${countOf(assertions.length, "assertion")}`;
}

function wasChecked({ compiler, failure }: TypeCheck): boolean {
  return compiler !== undefined && failure === undefined;
}

/** Prints the compiler's errors. Returns whether it found none. @param said the lines whose mistakes are printed already: `x.ts:4` */
function reportTypes(
  { files, compiler, errors, failure }: TypeCheck,
  said: ReadonlySet<string>,
  io: CommandIo,
): boolean {
  const what = files.length === 1 ? files[0] : `${files.length} scenarios`;
  if (compiler === undefined || failure !== undefined) {
    const why = failure === undefined ? "no TypeScript compiler was found" : `${compiler} cannot be run: ${failure}`;
    io.out(`types  ${what}: not checked, because ${why} (npm install --save-dev typescript)\n`);
    return true;
  }
  for (const line of errors) {
    const place = line.replace(/^(.*?)\((\d+),\d+\): .*$/s, "$1:$2");
    if (!said.has(place)) io.err(`${line}\n`);
  }
  io.out(`types  ${what}: ${errors.length === 0 ? "right" : "wrong"}, by ${compiler}\n`);
  return errors.length === 0;
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} SCENARIO.ts… [options]`],
    about: [
      "Checks scenarios and sends nothing: their types, by the TypeScript compiler of the nearest node_modules or of PATH if there is one; their fields, parameters, addresses, input files and plan; and how long they take. Folders stand for the scenarios in them. setup is not called, so fields that need its result are not checked.",
    ],
    flags: FLAGS,
    examples: [`${command} load.ts`, `${command} load-tests/`],
    exitCodes: "0 all scenarios are right, 64 one is wrong.",
  };
}
