import { isObject } from "../../plan/objects.ts";
import { type Problem, problem, UserError, unreadable } from "../../plan/problem.ts";
import { MOST_SETTINGS_BYTES, readFileText } from "../../runtime/files.ts";
import { type Scenario, type ScenarioDefinition, type ScenarioExtras, scenarioOf } from "../define.ts";
import type { PartKind } from "../form.ts";
import { type ParameterTable, type ParameterValue, parameterHint } from "../params/parameter.ts";
import { checkFields } from "../to-plan.ts";
import { type DataDocument, parseData } from "./document.ts";
import { createReaders, WRITE_CODE } from "./readers.ts";

/** Scenarios in YAML and JSON, for users who do not write code. */

/** A scenario that was read from data, and the positions of its parts. */
export interface DataScenario {
  readonly scenario: Scenario;
  /** Adds line and column to a problem with the scenario. */
  readonly place: DataDocument["place"];
}

/** Fields that are made by builders. All other fields are plain data, in TypeScript too. */
export const FIELD_PARTS: { readonly [K in keyof ScenarioDefinition]?: PartKind } = {
  target: "target",
  load: "loads",
  inputs: "inputs",
  assert: "assertions",
};

/** Fields that are functions. */
const CODE_FIELDS: Readonly<Record<Exclude<keyof ScenarioExtras<ParameterTable, unknown>, "params">, true>> = {
  setup: true,
  teardown: true,
};

/**
 * Reads a scenario.
 * @param path absolute @param file as the user typed it
 * @throws UserError with all problems that can be found without the values of parameters, each with line and column
 */
export function loadDataScenario(path: string, file: string): DataScenario {
  const { data, place } = parseData(readText(path, file), file);
  const isReport = isObject(data) && "levels" in data && "version" in data && !("load" in data);
  if (isReport) {
    const hint = "Print it with rampart report, or compare it with rampart compare.";
    throw new UserError(problem("invalid-value", file, "is the report of a run, not a scenario", hint));
  }
  const problems: Problem[] = [];
  const scenario = toScenario(data, problems);
  if (problems.length > 0) throw new UserError(problems.map(place));
  return { scenario, place };
}

function readText(path: string, file: string): string {
  try {
    return readFileText(path, MOST_SETTINGS_BYTES);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function toScenario(data: unknown, problems: Problem[]): Scenario {
  if (!isObject(data)) {
    const hint = "Write target and load: rampart help scenarios shows how.";
    problems.push(problem("invalid-value", "the scenario", "must be fields with their values", hint));
    return scenarioOf({});
  }
  const readers = createReaders();
  const { params, $schema: _, ...rest } = data;
  const fields: [string, unknown][] = [];
  const absent: string[] = [];
  if (params !== undefined) fields.push(["params", readParams(params, problems, readers.parameter)]);
  const names = isObject(params) ? Object.keys(params) : [];
  for (const [name, value] of Object.entries(rest)) {
    if (Object.hasOwn(CODE_FIELDS, name)) {
      problems.push(problem("unsupported", name, "is a function", WRITE_CODE));
      continue;
    }
    const part = Object.hasOwn(FIELD_PARTS, name) ? FIELD_PARTS[name as keyof ScenarioDefinition] : undefined;
    const read = (given: unknown, found: Problem[]): unknown =>
      part === undefined ? given : readers[part](given, name, found);
    const earlier = problems.length;
    problems.push(...checkReferences(value, name, names));
    if (hasReferences(value)) {
      absent.push(name);
      // Tags may be a function of the input, so they cannot also be a function of the parameters.
      if (name === "tags") problems.push(problem("unsupported", name, "cannot have parameters", WRITE_CODE));
      fields.push([
        name,
        (values: Readonly<Record<string, ParameterValue>>) => readField(replaceReferences(value, values), read),
      ]);
      continue;
    }
    const made = read(value, problems);
    if (problems.length > earlier && made === undefined) absent.push(name);
    else fields.push([name, made]);
  }
  const definition = Object.fromEntries(fields);
  const scenario = scenarioOf(definition);
  if (problems.length > 0) problems.push(...problemsOfOthers(definition, absent));
  return scenario;
}

function readField(value: unknown, read: (given: unknown, found: Problem[]) => unknown): unknown {
  const problems: Problem[] = [];
  const made = read(value, problems);
  if (problems.length > 0) throw new UserError(problems);
  return made;
}

function readParams(
  params: unknown,
  problems: Problem[],
  read: (data: unknown, path: string, problems: Problem[]) => unknown,
): unknown {
  if (!isObject(params)) return params;
  return Object.fromEntries(
    Object.entries(params).map(([name, data]) => [name, read(data, `params.${name}`, problems)]),
  );
}

/** Returns the problems of the fields whose values are known, so that all problems are reported at once. */
function problemsOfOthers(definition: object, absent: readonly string[]): readonly Problem[] {
  const { params: _, ...known } = definition as { readonly params?: unknown };
  const others = Object.entries(known).filter(([name]) => !absent.includes(name));
  try {
    checkFields(scenarioOf(Object.fromEntries(others)), absent);
    return [];
  } catch (error) {
    if (error instanceof UserError) return error.problems;
    throw error;
  }
}

/** A reference to a parameter in a text of a scenario: `${users}`. `$${users}` is the literal text `${users}`. */
const REFERENCE = /\$?\$\{([^}]*)\}/g;

function isReference(mark: string): boolean {
  return !mark.startsWith("$$");
}

/** Whether the texts of a value contain references. */
function hasReferences(value: unknown): boolean {
  return textsOf(value, []).some(([, text]) => marksOf(text).length > 0);
}

/** Returns problems with references to missing parameters. @param path path of the value @param names names of the parameters */
function checkReferences(value: unknown, path: string, names: readonly string[]): Problem[] {
  return textsOf(value, [path]).flatMap(([keys, text]) =>
    marksOf(text).flatMap((name) => {
      if (names.includes(name)) return [];
      const hint = parameterHint(name, names, (near) => `\${${near}}`);
      return [
        problem("invalid-value", keys.join("."), `there is no parameter ${name || "without a name"}`, hint, text),
      ];
    }),
  );
}

/** Replaces references. A text that consists of a single reference becomes the value itself, with its type. */
function replaceReferences(value: unknown, values: Readonly<Record<string, ParameterValue>>): unknown {
  if (typeof value === "string") return replaceInText(value, values);
  if (Array.isArray(value)) return value.map((item) => replaceReferences(item, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceReferences(item, values)]));
}

function replaceInText(text: string, values: Readonly<Record<string, ParameterValue>>): ParameterValue {
  const [, only = ""] = /^\$\{([^}]*)\}$/.exec(text) ?? [];
  if (Object.hasOwn(values, only)) return values[only] as ParameterValue;
  return text.replace(REFERENCE, (mark, name: string) => (isReference(mark) ? String(values[name]) : mark.slice(1)));
}

function marksOf(text: string): string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([mark, name = ""]) => (isReference(mark) ? [name] : []));
}

type Place = readonly [keys: readonly string[], text: string];

function textsOf(value: unknown, keys: readonly string[]): Place[] {
  if (typeof value === "string") return [[keys, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => textsOf(item, [...keys, key]));
}
