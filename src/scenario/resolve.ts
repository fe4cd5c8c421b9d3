import { UserError } from "../plan/problem.ts";
import { defineScenario, type Scenario, type ScenarioDefinition } from "./define.ts";
import type { ParameterValue } from "./params/parameter.ts";
import { toFieldProblem } from "./scenario-error.ts";

/** Fields that are no part of a plan. */
const OTHER_FIELDS: ReadonlySet<string> = new Set(["params"]);

/** What the fields of a scenario may depend on. */
export interface FieldContext {
  readonly values: Readonly<Record<string, ParameterValue>>;
  /** As the user typed it. */
  readonly file: string;
  /** Absolute path of the scenario. */
  readonly path: string;
}

/**
 * Calls the fields that are functions. Returns the scenario with their results.
 * @throws UserError with an error of each field that throws
 */
export function resolveFields({ definition }: Scenario, { values, file, path }: FieldContext): Scenario {
  const problems = [];
  const fields: [string, unknown][] = [];
  for (const [name, field] of Object.entries(definition) as [string, unknown][]) {
    if (OTHER_FIELDS.has(name)) continue;
    try {
      fields.push([name, typeof field === "function" ? (field(values) as unknown) : field]);
    } catch (error) {
      problems.push(toFieldProblem(error, name, file, path));
    }
  }
  if (problems.length > 0) throw new UserError(problems);
  // The schema of a scenario checks it later.
  return defineScenario(Object.fromEntries(fields) as unknown as ScenarioDefinition);
}
