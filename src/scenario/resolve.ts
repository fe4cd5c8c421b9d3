import { type Problem, problem, UserError, userError } from "../plan/problem.ts";
import { type Scenario, scenarioOf } from "./define.ts";
import { type ParameterValue, parameterHint } from "./params/parameter.ts";
import { toFieldProblem, withPlace } from "./scenario-error.ts";

/** Fields that are not part of a plan. */
const OTHER_FIELDS: ReadonlySet<string> = new Set(["params", "setup", "teardown"]);

/** Fields whose functions do not take the parameters. */
const FUNCTION_FIELDS: ReadonlySet<string> = new Set(["tags", "check", "onRecord"]);

/** Values on which the fields of a scenario may depend. */
export interface FieldContext {
  readonly values: Readonly<Record<string, ParameterValue>>;
  /** The result of `setup`. Absent: `setup` was not called. */
  readonly started?: { readonly value: unknown };
  /** File name as the user typed it. */
  readonly file: string;
  /** Absolute path of the scenario. */
  readonly path: string;
}

type FieldFunction = (values: FieldContext["values"], started: unknown) => unknown;

function isCalled(name: string, field: unknown): field is FieldFunction {
  return typeof field === "function" && !FUNCTION_FIELDS.has(name);
}

/** Whether a field is a function of the result of `setup`. */
function needsSetup(name: string, field: unknown): boolean {
  return isCalled(name, field) && field.length > 1;
}

/** Returns the fields that are functions of the result of `setup`. */
export function fieldsAfterSetup({ definition }: Scenario): string[] {
  const fields = Object.entries(definition) as [string, unknown][];
  return fields.flatMap(([name, field]) => (!OTHER_FIELDS.has(name) && needsSetup(name, field) ? [name] : []));
}

/** Returns the values of the parameters. Reading an unknown name is an error. */
function refuseUnknown(values: FieldContext["values"]): FieldContext["values"] {
  return new Proxy(values, {
    get: (given, name) => {
      if (typeof name === "symbol" || Object.hasOwn(given, name) || name === "toJSON") return Reflect.get(given, name);
      const hint = parameterHint(name, Object.keys(given));
      throw userError("unknown-name", `params.${name}`, "there is no parameter of this name", hint);
    },
  });
}

/** Whether an error is from a builder that was given instead of its call, and received the arguments of a field. */
function refusesArguments({ problems: [first] }: UserError, field: unknown): boolean {
  return String(first?.path).includes(`${(field as FieldFunction).name}(`);
}

/** Whether a load's builder was given instead of its call, and received the values of the parameters as its first argument. */
function hasTaken(value: unknown, given: object): boolean {
  // A long text is not spread, because it would get as many fields as characters.
  const values = typeof value === "object" ? (value as { readonly values?: unknown } | null)?.values : undefined;
  return values === given || (Array.isArray(values) && values[0] === given);
}

function notCalled(name: string, field: unknown): Problem {
  const hint = `Write ${(field as FieldFunction).name}(…).`;
  return problem("invalid-value", name, "is a function that is not called", hint);
}

/**
 * Calls the fields that are functions. Returns the scenario with their results. Without `started`, the fields that need it are left
 * out.
 * @throws UserError with the error of each field that throws
 */
export function resolveFields({ definition }: Scenario, { values, started, file, path }: FieldContext): Scenario {
  const problems: Problem[] = [];
  const fields: [string, unknown][] = [];
  const given = refuseUnknown(values);
  for (const [name, field] of Object.entries(definition) as [string, unknown][]) {
    if (OTHER_FIELDS.has(name) || (started === undefined && needsSetup(name, field))) continue;
    try {
      const value = isCalled(name, field) ? field(given, started?.value) : field;
      if (hasTaken(value, given)) problems.push(notCalled(name, field));
      else fields.push([name, value]);
    } catch (error) {
      // Builders, and the fields of scenarios in YAML and JSON, report their own problems.
      if (error instanceof UserError && refusesArguments(error, field)) problems.push(notCalled(name, field));
      else if (error instanceof UserError) problems.push(...withPlace(error, file, path));
      else problems.push(toFieldProblem(error, name, file, path));
    }
  }
  if (problems.length > 0) throw new UserError(problems);
  return scenarioOf(Object.fromEntries(fields));
}
