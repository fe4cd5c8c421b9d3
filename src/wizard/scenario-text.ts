import { basename } from "node:path";
import type { Plan } from "../plan/plan.ts";
import { estimateTime, type RunTime } from "../registry/estimate-time.ts";
import { type Scenario, scenarioOf } from "../scenario/define.ts";
import { toPlan } from "../scenario/to-plan.ts";
import type { Answers } from "./answers.ts";
import type { Goal } from "./goals/goal.ts";
import { GOALS, goalOf } from "./goals/goals.ts";
import type { Surroundings } from "./question.ts";
import { filesBeside, scenarioName } from "./questions.ts";
import { evaluate } from "./source/evaluate.ts";
import { formatFile, type ScenarioFile } from "./source/format.ts";
import { WIZARD_TARGETS, type WizardTarget, wizardTargetOf } from "./targets.ts";

/** Converts complete answers to scenarios. */

/** A file that the wizard writes. */
export interface WrittenFile {
  readonly path: string;
  readonly text: string;
}

/** Converts complete answers to the scenario that the text of {@link formatScenario} defines. */
export function toScenario(answers: Answers): Scenario {
  const { fields } = compose(answers);
  return scenarioOf(Object.fromEntries(fields.map(({ name, value }) => [name, evaluate(value)])));
}

/** Returns the text of the scenario's file. */
export function formatScenario(answers: Answers): string {
  return formatFile(compose(answers));
}

/** Returns the files to write: the scenario, and a second one for a comparison in two runs. */
export function filesOf(answers: Answers): WrittenFile[] {
  const { save = "" } = answers;
  const other = formatOther(answers);
  const [path] = filesBeside(save, answers);
  const first = { path: save, text: formatScenario(answers) };
  return other === undefined || path === undefined ? [first] : [first, { path, text: other }];
}

function formatOther(answers: Answers): string | undefined {
  const { save = "" } = answers;
  const other = chosenGoal(answers).other?.(answers, chosenTarget(answers));
  if (other === undefined) return undefined;
  const base = basename(save);
  return formatFile({
    title: `The same as ${base}, ${other.place}.`,
    base: `./${base}`,
    fields: [
      { name: "name", value: `${scenarioName(answers)}-other` },
      { name: "target", value: other.target },
    ],
  });
}

/** Returns the time of the scenarios' runs; undefined if their data or the server decides. */
export function timeOf(answers: Answers, around: Surroundings): RunTime | undefined {
  const plan = planOf(answers);
  const time = chosenGoal(answers).time?.(answers, plan, around) ?? estimateTime(plan);
  if (time === undefined || formatOther(answers) === undefined) return time;
  const runs = 2 * (plan.repeat?.atLeast ?? 1);
  return { leastMs: runs * time.leastMs, mostMs: runs * time.mostMs, parts: `${runs} runs of ${time.parts}` };
}

/** Returns the plan of the scenario. */
export function planOf(answers: Answers): Plan {
  return toPlan(toScenario(answers), process.cwd());
}

function compose(answers: Answers): ScenarioFile {
  const { title, fields } = chosenGoal(answers).compose(answers, chosenTarget(answers));
  return { title, fields: [{ name: "name", value: scenarioName(answers) }, ...fields] };
}

function chosenGoal(answers: Answers): Goal {
  return goalOf(answers) ?? (GOALS["curve"] as Goal);
}

function chosenTarget(answers: Answers): WizardTarget {
  return wizardTargetOf(answers) ?? (WIZARD_TARGETS["triton"] as WizardTarget);
}
