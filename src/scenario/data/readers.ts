import * as v from "valibot";
import { nameHint, nearestName, nearHint } from "../../plan/nearest-name.ts";
import { isObject } from "../../plan/objects.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { IN_BRACKETS } from "../../plan/schema.ts";
import { registerUrl } from "../../plan/secrets.ts";
import { showValue } from "../../plan/show-value.ts";
import { parseDurationNs } from "../../plan/units.ts";
import { errorRate } from "../assertions.ts";
import type { PartKind } from "../form.ts";
import { hold } from "../loads/concurrency.ts";
import { exampleOf, guessedOption, meantName, renamedInData, renamedOption } from "../renamed/hints.ts";
import { fileBody, multipart } from "../targets/http.ts";
import { MEMBER_PARTS } from "../targets/target-builder.ts";
import { readAssertion } from "./assertion-text.ts";
import { type Entry, type Family, inputFamily, loadFamily, parameterFamily, targetFamily } from "./families.ts";
import { meantArguments, meantData } from "./meant.ts";

/** Converts data to the objects that the builders of scenarios return. */

/** Hint for a part that can be given only in code. */
export const WRITE_CODE = "Only code can say this: write a scenario in TypeScript (rampart help scenarios).";

type Data = Readonly<Record<string, unknown>>;
/** Replaces an assertion with problems. */
const STAND_IN = errorRate().is(0);

type Read = (data: unknown, path: string, problems: Problem[]) => unknown;

/** Creates the functions that convert the parts of scenarios. Each function returns undefined for a part with problems. */
export function createReaders(): Readonly<Record<PartKind | "parameter", Read>> {
  const [targets, loads, inputs] = [targetFamily(), loadFamily(), inputFamily()];
  const parameters = parameterFamily();
  const build =
    (family: Family): Read =>
    (data, path, problems) =>
      readCall(family, data, path, problems, readers);
  const load = build(loads);
  const readers: Readonly<Record<PartKind | "parameter", Read>> = {
    target: build(targets),
    load,
    loads: (data, path, problems) =>
      Array.isArray(data) ? readEach(load, hold(1))(data, path, problems) : load(data, path, problems),
    "loads-by-name": (data, path, problems) => readByName(load, data, path, problems),
    "steady-load": (data, path, problems) => load(typeof data === "number" ? { hold: data } : data, path, problems),
    inputs: build(inputs),
    parameter: build(parameters),
    assertions: (data, path, problems) => {
      if (typeof data !== "string" && !isObject(data)) return readEach(readAssertion, STAND_IN)(data, path, problems);
      const hint = readAssertion(data, path, []) === undefined ? renamedOption(["assertions"], "data") : IN_BRACKETS;
      problems.push(problem("invalid-value", path, "must be a list of assertions", hint ?? "", showValue(data)));
      return [STAND_IN];
    },
    limits: (data, path, problems) =>
      Array.isArray(data)
        ? readEach(readAssertion, STAND_IN)(data, path, problems)
        : (readAssertion(data, path, problems) ?? STAND_IN),
    members: readEach((data, path, problems) => readMember(data, path, problems, readers), {}),
    body: readBody,
  };
  return readers;
}

/**
 * A value that is not a list is left to the schema of scenarios.
 * @param standIn replaces an item with problems, so that the other items are checked too
 */
function readEach(read: Read, standIn: object): Read {
  return (data, path, problems) =>
    Array.isArray(data) ? data.map((item, index) => read(item, `${path}.${index}`, problems) ?? standIn) : data;
}

/** Reads an object whose names the user chooses. */
function readByName(read: Read, data: unknown, path: string, problems: Problem[]): unknown {
  if (isObject(data))
    return Object.fromEntries(
      Object.entries(data).map(([name, one]) => [name, read(one, `${path}.${name}`, problems) ?? hold(1)]),
    );
  const message = "must be loads by the target's name";
  problems.push(problem("invalid-value", path, message, "Write { chat: { hold: 4 } }.", showValue(data)));
  return {};
}

/** Reads `name`, `{ name: argument }` or `{ name: { arguments and options } }`. */
function readCall(
  family: Family,
  data: unknown,
  path: string,
  problems: Problem[],
  readers: Readonly<Record<PartKind, Read>>,
): unknown {
  const [name, body] = callOf(data);
  const names = [...family.entries.keys()];
  if (name === undefined) {
    const found = isObject(data) ? Object.keys(data) : [];
    const value = found.length > 0 ? found.join(", ") : typeof data === "object" ? undefined : showValue(data);
    const typed = isObject(data) ? Object.values(data).find((one) => family.entries.has(String(one))) : undefined;
    const isNamed = typed !== undefined || found.some((key) => family.entries.has(key));
    const meant = isNamed ? [] : found.flatMap((key) => guessedOption(["", key], "data") ?? []);
    const inside = typed === undefined && isObject(data) ? moveInside(data, family) : `{ ${typed}: { … } }`;
    const hint =
      meantData(data, family) ??
      (isNamed
        ? `Write options inside of it: ${inside}.`
        : (meant[0] ??
          exampleOf(path.split("."), "data") ??
          `Write { ${names[0]}: … }, with one of ${names.join(", ")}.`));
    problems.push(problem("invalid-value", path, `must be ${family.noun} by one name`, hint, value));
    return undefined;
  }
  const entry = family.entries.get(name);
  if (entry === undefined) {
    registerUrl(name);
    const hint = (typeof data === "string" ? meantData(data, family) : undefined) ?? hintOfName(name, names, family);
    problems.push(
      typeof data === "string"
        ? problem("invalid-value", path, `${name} is not ${family.noun}`, hint)
        : problem("unknown-name", `${path}.${name}`, `is not ${family.noun}`, hint),
    );
    return undefined;
  }
  const found = problems.length;
  const { given, options } = splitBody(entry, body, `${path}.${name}`, problems);
  const read = (key: string, value: unknown): unknown => {
    const part = entry.form.parts?.[key];
    const place = entry.form.takes === "by-name" ? `${path}.${name}` : `${path}.${name}.${key}`;
    return part === undefined ? value : readers[part](value, place, problems);
  };
  const readAll = (pairs: Data): Data =>
    Object.fromEntries(Object.entries(pairs).map(([k, value]) => [k, read(k, value)]));
  const values = valuesOf(entry, readAll(given));
  const made = entry.make(values, readAll(options));
  return problems.length > found ? undefined : made;
}

/** Moves options that were written beside a call into the call: `{ hold: { concurrency: 4, for: 1 s } }`. */
function moveInside(data: Data, { entries }: Family): string {
  const name = Object.keys(data).find((key) => entries.has(key)) ?? "";
  const { [name]: body, ...beside } = data;
  const [argument] = entries.get(name)?.form.args ?? [];
  const pairs = Object.entries({
    ...(argument === undefined || isObject(body) ? {} : { [argument]: body }),
    ...beside,
  });
  const inside = pairs.map(([key, value]) => `${key}: ${/^[\w. %]+$/.test(String(value)) ? String(value) : "…"}`);
  return `{ ${name}: { ${isObject(body) ? "…" : inside.join(", ")} } }`;
}

function hintOfName(name: string, names: readonly string[], { noun, entries, codeOnly }: Family): string {
  if (codeOnly.includes(name)) return WRITE_CODE;
  const renamed = renamedInData(name) ?? meantData(name, { noun, entries, codeOnly });
  if (renamed !== undefined) return renamed;
  return nameHint(name, names, guessedOption(["", name], "data") ?? `Use one of ${names.join(", ")}.`);
}

/** Returns the name and the body of a call; an empty list if the value is not a call. */
function callOf(data: unknown): readonly [name?: string, body?: unknown] {
  if (typeof data === "string") return [data, undefined];
  if (!isObject(data)) return [];
  const [first, ...more] = Object.entries(data);
  return first === undefined || more.length > 0 ? [] : first;
}

/** Splits the value after the name into arguments and options. */
function splitBody(entry: Entry, body: unknown, path: string, problems: Problem[]): { given: Data; options: Data } {
  const { form, options: schema } = entry;
  const { args = [], alone, codeOnly = [], takes } = form;
  const [first = alone] = args;
  if (takes === "by-name" && first !== undefined) return { given: { [first]: body }, options: {} };
  const all =
    body === undefined || body === null ? {} : isObject(body) ? body : first === undefined ? body : { [first]: body };
  if (!isObject(all)) {
    const message = schema === undefined ? "takes nothing" : "takes options by name";
    const time =
      namesOf(schema).includes("for") && parseDurationNs(String(body)) !== undefined ? String(body) : undefined;
    const hasLoad = form.parts?.["load"] !== undefined;
    const isSteady = form.parts?.["load"] === "steady-load" && typeof body === "number";
    const inside =
      time === undefined
        ? isSteady
          ? `{ load: ${body}, for: 1 min }`
          : "{}"
        : `{ for: ${time}${hasLoad ? ", load: { hold: 4 }" : ""} }`;
    problems.push(problem("invalid-value", path, message, `Write ${form.name}: ${inside}.`, showValue(all)));
    return { given: {}, options: {} };
  }
  for (const name of codeOnly)
    if (name in all) problems.push(problem("unsupported", `${path}.${name}`, "is a function", WRITE_CODE));
  const missing = form.isArgOptional === true ? [] : args.filter((name) => !(name in all));
  const written = missing.length > 0 && !isObject(body) ? meantArguments(form, body) : undefined;
  if (written !== undefined) {
    const message = `takes ${args.join(" and ")} by name`;
    problems.push(problem("invalid-value", path, message, `Write ${written}.`, showValue(body)));
    return { given: {}, options: {} };
  }
  if (missing.length > 0) problems.push(...findMissing(entry, missing, all, path));
  const entries = Object.entries(all);
  return {
    given: Object.fromEntries(entries.filter(([name]) => args.includes(name))),
    options: Object.fromEntries(entries.filter(([name]) => !args.includes(name))),
  };
}

function namesOf(schema: Entry["options"]): string[] {
  const { entries = {} } = (schema ?? {}) as { readonly entries?: object };
  return Object.keys(entries);
}

/** Returns a problem for each missing argument and for each unknown name: without the arguments, the options are not checked. */
function findMissing(entry: Entry, missing: readonly string[], all: Data, path: string): Problem[] {
  const { form, options, values } = entry;
  const known = [...(form.args ?? []), ...(form.codeOnly ?? []), ...namesOf(options)];
  const meant = new Map<string, string>();
  const [only = "", ...more] = missing;
  const numbers = Object.entries(all).filter(([key, value]) => typeof value === "number" && !known.includes(key));
  const [given, ...others] = more.length === 0 ? numbers : [];
  const isClear = given !== undefined && others.length === 0 && values !== undefined && v.is(values, [1]);
  const unknown = Object.keys(all)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const keys = [...path.split("."), key];
      const near = nearestName(key, known);
      if (near !== undefined) meant.set(near, key);
      if (near === undefined && isClear && key === given[0]) {
        meant.set(only, key);
        return problem("unknown-name", keys.join("."), "is not an option here", `Write ${only}: ${String(given[1])}.`);
      }
      const list = `Remove it or correct its name. The options are ${known.join(", ")}.`;
      const renamed = meantName(keys);
      if (renamed !== undefined) meant.set(renamed, key);
      const guessed = near === undefined ? guessedOption(keys, "data") : renamedOption(keys, "data", known);
      const hint = guessed ?? nearHint(near, list);
      return problem("unknown-name", keys.join("."), "is not an option here", hint);
    });
  const absent = missing
    .filter((name) => !meant.has(name))
    .map((name) =>
      problem("missing", `${path}.${name}`, "is missing", exampleOf([...path.split("."), name], "data") ?? "Add it."),
    );
  return [...unknown, ...absent];
}

/** Returns the arguments of a builder in order. */
function valuesOf({ form: { args = [], takes } }: Entry, given: Data): readonly unknown[] {
  const values = args.flatMap((name) => (name in given ? [given[name]] : []));
  const [only] = values;
  return takes !== undefined && Array.isArray(only) ? (only as unknown[]) : values;
}

function readMember(
  data: unknown,
  path: string,
  problems: Problem[],
  readers: Readonly<Record<PartKind, Read>>,
): unknown {
  if (!isObject(data)) return data;
  const read = (part: PartKind | undefined, name: string, value: unknown): unknown =>
    part === undefined ? value : readers[part](value, `${path}.${name}`, problems);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, read(MEMBER_PARTS[name], name, value)]));
}

/** Reads a body: `{ $file: path }`, `{ $multipart: fields }`, or data that is sent unchanged. */
function readBody(data: unknown, path: string, problems: Problem[]): unknown {
  if (!isObject(data)) return data;
  const [[name, value] = [], ...more] = Object.entries(data);
  if (more.length > 0) return data;
  if (name === "$file") return readFileBody(value, `${path}.$file`, problems);
  if (name !== "$multipart" || !isObject(value)) return data;
  const readField = (field: unknown, key: string): unknown =>
    Array.isArray(field)
      ? field.map((one) => readField(one, key))
      : readBody(field, `${path}.$multipart.${key}`, problems);
  const fields = Object.entries(value).map(([key, field]) => [key, readField(field, key)] as const);
  return multipart(Object.fromEntries(fields) as Parameters<typeof multipart>[0]);
}

function readFileBody(value: unknown, path: string, problems: Problem[]): unknown {
  const { path: name, ...options } = isObject(value) ? value : { path: value };
  if (typeof name === "string" && name !== "") return fileBody(name, options);
  problems.push(problem("invalid-value", path, "must be a file", "Write { $file: cat.jpg }.", showValue(name)));
  return undefined;
}
