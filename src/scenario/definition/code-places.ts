import { basename, dirname, isAbsolute, relative } from "node:path";
import { formatKeys, movePath, type Problem } from "../../plan/problem.ts";
import { MOST_SETTINGS_BYTES, readFileText } from "../../runtime/files.ts";
import { definitionSchema } from "./definition-schema.ts";

/**
 * Positions of the parts of a scenario in its code. Only brackets and names of fields are parsed: a part from another file or from a
 * function gets the position where this file uses it.
 */

/** A field, or its function as a plan names it, before a part of its result: `tags (tags) #1, input 0`. */
const FIELD = /^([\w$.]+)(?:(?: \([\w$ ]+\))? #\d+)?(?=, |$)/;

/**
 * Adds line and column to a problem with a field of a scenario, with its function, with a setting of its plan, or with a file that it
 * names. Writes the name of the field as in code: `assert[0].where`. Other problems are unchanged.
 * @param path absolute path of the file @param file name as the user typed it @param given the fields of the scenario
 */
export function placeInCode(found: Problem, path: string, file: string, given: object): Problem {
  if (typeof found.path === "object" && "setting" in found.path) {
    const keys = found.path.setting.split(".");
    const text = readText(path);
    const offset = Object.hasOwn(given, keys[0] ?? "") ? findPart(maskTexts(text), keys) : undefined;
    return offset === undefined ? found : { ...found, path: [`${file}:${lineAndColumn(text, offset)}, `, found.path] };
  }
  return movePath(found, (whole) => {
    if (found.code === "unreadable" && isAbsolute(whole)) {
      const text = readText(path);
      const offset = findFileName(text, whole, dirname(path));
      return offset === undefined ? whole : `${file}:${lineAndColumn(text, offset)}: ${whole}`;
    }
    const [named = whole, field = whole] = FIELD.exec(whole) ?? [];
    const keys = field.split(".");
    const [name = ""] = keys;
    if (field === basename(file)) return whole;
    if (!Object.hasOwn(given, name) && !Object.hasOwn(definitionSchema().entries, name)) return whole;
    const text = readText(path);
    const offset = findPart(maskTexts(text), keys);
    const at = offset === undefined ? "" : `:${lineAndColumn(text, offset)}`;
    return `${file}${at}, ${formatKeys(keys)}${whole.slice(named.length)}`;
  });
}

/**
 * Returns the position at which a text names a file; undefined if it does not. @param path absolute @param folder base of
 * relative paths
 */
export function findFileName(text: string, path: string, folder: string): number | undefined {
  const names = [path, relative(folder, path)].map((name) => name.replace(/[^\w/-]/g, "\\$&"));
  return new RegExp(`(?<![\\w./-])(?:\\./)?(?:${names.join("|")})(?![\\w./-])`).exec(text)?.index;
}

/** The file may have been deleted since it was loaded. */
function readText(path: string): string {
  try {
    return readFileText(path, MOST_SETTINGS_BYTES);
  } catch {
    return "";
  }
}

function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1) ?? "").length + 1}`;
}

/** A comment, a string, a template without nested ones, or a regular expression in a place where one can begin. */
const TEXTS =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?<=(?:^|[=(,:[!&|?{};>]|return)\s*)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g;

/**
 * Replaces everything but code by blanks, so that only brackets and names of code are left, at their positions. Names of fields in quotes
 * are kept.
 */
function maskTexts(text: string): string {
  return text.replace(TEXTS, (part, at: number) => {
    const isField = /^["']/.test(part) && /^\s*:/.test(text.slice(at + part.length));
    if (isField) return ` ${part.slice(1, -1)} `;
    const blank = part.replace(/[^\n]/g, " ");
    return part.startsWith("/") ? blank : blank.replace(" ", '"');
  });
}

/** A part of the code. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the position of a part, or of the nearest part around it; undefined if the file does not call `defineScenario`. */
function findPart(code: string, keys: readonly string[]): number | undefined {
  const call =
    /\bexport\s+default\s+defineScenario\s*\(/.exec(code) ?? /(?<!function\s+)\bdefineScenario\s*\(/.exec(code);
  if (call === null) return undefined;
  const open = call.index + call[0].length;
  let range: Range = { start: open, end: endOfPart(code, open, ")") };
  let offset = call.index + call[0].search(/defineScenario/);
  const isIndex = (key: string | undefined): boolean => key !== undefined && /^\d+$/.test(key);
  for (const [index, key] of keys.entries()) {
    const found = isIndex(key) ? findItem(code, range, Number(key)) : findField(code, range, key);
    // An argument of a function has no name in the code: `input.chain([…])`.
    if (found === undefined && index > 0 && isIndex(keys[index + 1])) continue;
    if (found === undefined) break;
    offset = found.at;
    range = resolveName(code, found.value);
  }
  return offset;
}

interface Found {
  readonly at: number;
  readonly value: Range;
}

/** Finds a field of an object, at the lowest bracket depth. */
function findField(code: string, range: Range, name: string): Found | undefined {
  const escaped = name.replace(/[^\w$]/g, "\\$&");
  const pattern = new RegExp(`(?<![\\w$.])${escaped}(?![\\w$])(?=\\s*[:,}(])`, "g");
  return nearest(code, range, pattern, (at) => {
    if (!isInObject(code, range.start, at)) return undefined;
    const end = at + name.length;
    const colon = /^\s*:\s*/.exec(code.slice(end));
    const start = colon === null ? at : end + colon[0].length;
    return { at, value: { start, end: endOfPart(code, start, ",") } };
  });
}

/** Finds an item of a list, at the lowest bracket depth. */
function findItem(code: string, range: Range, index: number): Found | undefined {
  return nearest(code, range, /(?<![\w$)\]]\s*)\[/g, (at) => {
    let start = at + 1;
    for (let count = 0; ; count++) {
      start += /^\s*/.exec(code.slice(start))?.[0].length ?? 0;
      const end = endOfPart(code, start, ",");
      if (end === start && code[end] !== ",") return undefined;
      if (count === index) return { at: start, value: { start, end } };
      if (code[end] !== ",") return undefined;
      start = end + 1;
    }
  });
}

/** Returns the result for the match at the lowest bracket depth that has a result. */
function nearest(
  code: string,
  { start, end }: Range,
  pattern: RegExp,
  make: (at: number) => Found | undefined,
): Found | undefined {
  const matches = [...code.slice(start, end).matchAll(pattern)].map(({ index }) => start + index);
  const ranked = matches.map((at) => ({ at, depth: depthAt(code, start, at) }));
  for (const { at } of ranked.toSorted((a, b) => a.depth - b.depth)) {
    const found = make(at);
    if (found !== undefined) return found;
  }
  return undefined;
}

const OPEN = "([{";
const CLOSE = ")]}";

function depthAt(code: string, start: number, at: number): number {
  let depth = 0;
  for (let index = start; index < at; index++) {
    const character = code[index] as string;
    if (OPEN.includes(character)) depth++;
    else if (CLOSE.includes(character)) depth--;
  }
  return depth;
}

/** Whether the innermost bracket around a position belongs to an object. */
function isInObject(code: string, start: number, at: number): boolean {
  let depth = 0;
  for (let index = at - 1; index >= start; index--) {
    const character = code[index] as string;
    if (CLOSE.includes(character)) depth++;
    else if (OPEN.includes(character) && depth-- === 0) return character === "{";
  }
  return false;
}

/** Returns the end of an expression: the closing bracket around it, or the next separator outside of its brackets. */
function endOfPart(code: string, start: number, separator: string): number {
  let depth = 0;
  for (let index = start; index < code.length; index++) {
    const character = code[index] as string;
    if (depth === 0 && (character === separator || CLOSE.includes(character))) return index;
    if (OPEN.includes(character)) depth++;
    else if (CLOSE.includes(character)) depth--;
  }
  return code.length;
}

/** Returns the definition of a name if the file defines it, otherwise the range itself. */
function resolveName(code: string, range: Range): Range {
  const name = /^([A-Za-z_$][\w$]*)\s*$/.exec(code.slice(range.start, range.end))?.[1];
  const found =
    name === undefined ? null : new RegExp(`\\bconst\\s+${name.replaceAll("$", "\\$")}\\s*(?::[^=]*)?=\\s*`).exec(code);
  if (found === null) return range;
  const start = found.index + found[0].length;
  return { start, end: endOfPart(code, start, ";") };
}
