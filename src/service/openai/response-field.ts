import { UserError } from "../../plan/problem.ts";
import { setting } from "../../plan/setting-names.ts";

/** A path into answers, in the part of JMESPath (jmespath.org) that finds values: no filters, functions or new objects. */
export interface ResponseField {
  readonly text: string;
  /** What the path finds; null when there is nothing. */
  find(data: unknown): unknown;
}

type Step =
  | { readonly kind: "key"; readonly name: string }
  | { readonly kind: "index"; readonly at: number }
  | { readonly kind: "slice"; readonly from: number | undefined; readonly to: number | undefined }
  /** All elements of a list, or all values of an object. */
  | { readonly kind: "each"; readonly of: "list" | "object" }
  /** All elements of a list, those of lists within it one by one. */
  | { readonly kind: "flatten" };

const TOKEN = /\s*(?:([A-Za-z_]\w*)|"((?:[^"\\]|\\.)*)"|(\|\||[.|*@])|\[\s*(-?\d+|\*|-?\d*\s*:\s*-?\d*)?\s*\])/y;
const PATH = setting("target.responseField");

/**
 * Reads a path such as `choices[0].text`, `data[*].text`, `a.b || c`.
 * @throws UserError where it is none, or more than is supported
 */
export function parseResponseField(text: string): ResponseField {
  const alternatives = text.split("||").map((one) => one.split("|").map((piped) => parseSteps(piped.trim(), text)));
  const find = (data: unknown): unknown => {
    for (const pipes of alternatives) {
      const found = pipes.reduce<unknown>((value, steps) => walk(steps, value), data);
      if (!isNothing(found)) return found;
    }
    return null;
  };
  return { text, find };
}

function parseSteps(piece: string, whole: string): Step[] {
  const steps: Step[] = [];
  TOKEN.lastIndex = 0;
  let needsName = true;
  while (TOKEN.lastIndex < piece.length) {
    const at = TOKEN.lastIndex;
    const [matched, name, quoted, sign, bracket] = TOKEN.exec(piece) ?? [];
    if (matched === undefined) throw notPath(whole, piece.slice(at));
    const isName = name !== undefined || quoted !== undefined || sign === "*" || sign === "@";
    const isBracket = matched.trimStart().startsWith("[");
    if (isName !== needsName && !isBracket) throw notPath(whole, piece.slice(at));
    if (isBracket && needsName && at > 0) throw notPath(whole, piece.slice(at));
    needsName = sign === ".";
    if (name !== undefined) steps.push({ kind: "key", name });
    else if (quoted !== undefined) steps.push({ kind: "key", name: JSON.parse(`"${quoted}"`) as string });
    else if (sign === "*") steps.push({ kind: "each", of: "object" });
    else if (isBracket) steps.push(toStep(bracket));
  }
  if (needsName) throw notPath(whole, "its end");
  return steps;
}

function toStep(bracket: string | undefined): Step {
  if (bracket === undefined) return { kind: "flatten" };
  if (bracket === "*") return { kind: "each", of: "list" };
  if (!bracket.includes(":")) return { kind: "index", at: Number(bracket) };
  const [from, to] = bracket.split(":").map((side) => (side.trim() === "" ? undefined : Number(side)));
  return { kind: "slice", from, to };
}

/** What follows a step that finds several values is looked for in each of them; a flattening takes all that was found before it. */
function walk(steps: readonly Step[], data: unknown): unknown {
  const last = steps.findLastIndex(({ kind }) => kind === "flatten");
  if (last >= 0) {
    const found = walk(steps.slice(0, last), data);
    return Array.isArray(found) ? walkEach(steps.slice(last + 1), found.flat()) : null;
  }
  let value = data;
  for (const [index, step] of steps.entries()) {
    switch (step.kind) {
      case "key":
        value = isObject(value) ? value[step.name] : null;
        break;
      case "index":
        value = Array.isArray(value) ? value.at(step.at) : null;
        break;
      case "slice":
        return Array.isArray(value) ? walkEach(steps.slice(index + 1), value.slice(step.from, step.to)) : null;
      case "each": {
        const all = step.of === "list" ? value : isObject(value) ? Object.values(value) : null;
        return Array.isArray(all) ? walkEach(steps.slice(index + 1), all) : null;
      }
    }
    if (value === undefined || value === null) return null;
  }
  return value;
}

function walkEach(steps: readonly Step[], values: readonly unknown[]): unknown[] {
  return values.map((value) => walk(steps, value)).filter((value) => value !== null && value !== undefined);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As JMESPath's `||` sees it. */
function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function notPath(text: string, at: string): UserError {
  return new UserError([
    {
      path: PATH,
      message: `is not a path into an answer: it cannot be read at ${at}`,
      value: text,
      hint: "Write names, dots, [0], [1:2], [*], [], * and ||, for example choices[0].text; filters and functions are not supported.",
    },
  ]);
}
