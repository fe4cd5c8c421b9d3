import * as v from "valibot";
import { nameHint } from "../../plan/nearest-name.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { showValue } from "../../plan/show-value.ts";
import { listCalls } from "../form.ts";
import { copyPlainData } from "../plain-data.ts";
import { optionsSchema, PARAMETER_KINDS, type ParameterData } from "./kinds.ts";
import type { Parameter } from "./parameter.ts";

/** Checks `params` of a scenario. */

/** A valid parameter. */
export interface NamedParameter extends Parameter {
  readonly name: string;
  /** The environment variable that sets it. */
  readonly variable: string;
  readonly options: ParameterData;
}

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
/** The message says how to correct it. */
const NO_HINT = "";

/** Returns the valid parameters in order. @param problems receives the problems with the others */
export function checkTable(params: unknown, problems: Problem[]): NamedParameter[] {
  const given = copyPlainData(params ?? {});
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const hint = "Write params: { users: param.integer(16) }.";
    problems.push(problem("invalid-value", "params", "must be parameters by name", hint, showValue(params)));
    return [];
  }
  const checked: NamedParameter[] = [];
  for (const [name, parameter] of Object.entries(given)) {
    const found = checkParameter(name, parameter);
    problems.push(...found);
    if (found.length === 0) checked.push({ ...(parameter as NamedParameter), name, variable: variableOf(name) });
  }
  problems.push(...findSharedVariables(checked));
  return checked;
}

export const VARIABLE_PREFIX = "RAMPART_";

/** Returns the environment variable of a parameter: `RAMPART_MAX_USERS` for `maxUsers`. */
function variableOf(name: string): string {
  return `${VARIABLE_PREFIX}${name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()}`;
}

function checkParameter(name: string, parameter: unknown): Problem[] {
  const path = `params.${name}`;
  const problems: Problem[] = [];
  if (!NAME.test(name)) {
    const message = "is not a name of letters, digits and _ that begins with a letter";
    problems.push(problem("invalid-value", path, message, "Rename it."));
  }
  const kind = PARAMETER_KINDS[(parameter as Parameter | null)?.kind as Parameter["kind"]];
  if (kind === undefined) {
    const message = `must be ${listCalls(Object.values(PARAMETER_KINDS))}`;
    return [...problems, problem("invalid-value", path, message, hintFor(parameter), showValue(parameter))];
  }
  const { initial, options } = parameter as Parameter;
  const parsed = v.safeParse(optionsSchema(kind.options), options);
  if (!parsed.success) return [...problems, ...parsed.issues.map((issue) => toProblem(path, issue, kind.options))];
  if (initial !== undefined && !kind.accepts(initial, options))
    problems.push(
      problem("invalid-value", path, `its default must be ${kind.describe(options)}`, NO_HINT, showValue(initial)),
    );
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = options as ParameterData;
  if (min > max)
    problems.push(problem("invalid-value", path, "its min is above its max", NO_HINT, `${min} and ${max}`));
  return problems;
}

/** Returns the parameter that was probably meant by a default given alone. */
function hintFor(given: unknown): string {
  const builder = { number: "number", string: "text", boolean: "flag" }[
    typeof given as "number" | "string" | "boolean"
  ];
  return builder === undefined
    ? NO_HINT
    : `Write param.${Number.isInteger(given) ? "integer" : builder}(${JSON.stringify(given)}).`;
}

function toProblem(path: string, issue: v.BaseIssue<unknown>, names: readonly string[]): Problem {
  const keys = (issue.path ?? []).map(({ key }) => String(key));
  if (issue.type !== "strict_object" || issue.expected !== "never")
    return problem("invalid-value", [path, ...keys].join("."), issue.message, NO_HINT, showValue(issue.input));
  const known = ["description", ...names].filter((name) => name !== "values");
  const hint = nameHint(keys.at(-1) ?? "", known, `The options are ${known.join(", ")}.`);
  return problem("unknown-name", [path, ...keys].join("."), "is not an option here", hint);
}

function findSharedVariables(parameters: readonly NamedParameter[]): Problem[] {
  return parameters.flatMap(({ name, variable }, index) => {
    const first = parameters.findIndex((other) => other.variable === variable);
    if (first === index) return [];
    const message = `has the environment variable ${variable} of the parameter ${parameters[first]?.name}`;
    return [problem("conflict", `params.${name}`, message, "Rename one of them.")];
  });
}
