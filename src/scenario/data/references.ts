import { nearestName } from "../../plan/nearest-name.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { ParameterValue } from "../params/parameter.ts";

/** References to parameters in texts of a scenario: `${users}`. `$${users}` is the text `${users}`. */

const REFERENCE = /\$?\$\{([^}]*)\}/g;

function isReference(mark: string): boolean {
  return !mark.startsWith("$$");
}

/** Whether there are references in the texts of a value. */
export function hasReferences(value: unknown): boolean {
  return textsOf(value, []).some(([, text]) => marksOf(text).length > 0);
}

/** Returns problems with references to parameters that do not exist. @param path of the value @param names the parameters */
export function checkReferences(value: unknown, path: string, names: readonly string[]): Problem[] {
  return textsOf(value, [path]).flatMap(([keys, text]) =>
    marksOf(text).flatMap((name) => {
      if (names.includes(name)) return [];
      const near = nearestName(name, names);
      const known = names.length === 0 ? "The scenario has no params." : `The parameters are ${names.join(", ")}.`;
      const hint = near === undefined ? known : `Did you mean \${${near}}?`;
      return [
        problem("invalid-value", keys.join("."), `there is no parameter ${name || "without a name"}`, hint, text),
      ];
    }),
  );
}

/** Replaces references. A text that is one reference becomes the value itself, with its type. */
export function replaceReferences(value: unknown, values: Readonly<Record<string, ParameterValue>>): unknown {
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
