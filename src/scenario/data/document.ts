import { dirname, resolve } from "node:path";
import { type Document, type ErrorCode, isMap, isScalar, isSeq, type Node } from "yaml";
import { readYaml, type YamlFault } from "../../plan/document/read-yaml.ts";
import { formatKeys, messageOf, movePath, type Problem, problem, UserError, userError } from "../../plan/problem.ts";
import { findFileName } from "../definition/code-places.ts";
import { copyPlainData } from "../plain-data.ts";
import { CODE_HINT, exampleOf, hintForData } from "../renamed/hints.ts";
import { type Family, inputFamily, loadFamily, parameterFamily, targetFamily } from "./families.ts";

/** The text of a scenario in YAML or JSON, and the positions of its parts. */

/** A parsed file. */
export interface DataDocument {
  /** Plain objects and lists. */
  readonly data: unknown;
  /**
   * Adds line and column to a problem with a part of the scenario, and uses the part's name in the file. Other problems
   * are unchanged.
   */
  place(problem: Problem): Problem;
}

/**
 * Parses a file.
 * @param file name as the user typed it
 * @throws UserError with all syntax errors, each with line and column
 */
export function parseData(text: string, file: string): DataDocument {
  const { document, faults, at } = readYaml(text, { merge: true });
  const positionAt = (offset: number): string => `${file}:${at(offset)}`;
  const isJson = /\.json$/i.test(file);
  const parameter = faults.length > 0 ? findBareParameter(text) : undefined;
  if (parameter !== undefined) {
    const message = "a parameter's value needs quotes in YAML";
    throw userError("invalid-value", `${file}:${parameter.at}`, message, `Write "${parameter.text}".`, parameter.text);
  }
  if (faults.length > 0)
    throw new UserError(
      withoutEchoes(faults).map(({ at: position, message, code }) => {
        const lines = text.split("\n");
        const hint =
          (isJson ? undefined : hintOf(code, message, lines[Number.parseInt(position, 10) - 1] ?? "")) ??
          "Correct the file.";
        const key = code === "DUPLICATE_KEY" ? `, ${keyAt(position, lines)}` : "";
        return problem(isJson ? "not-json" : "invalid-value", `${file}:${position}${key}`, lowerFirst(message), hint);
      }),
    );
  if (isJson) checkJson(text, file);
  const fileAt = (path: string): number | undefined => findFileName(text, path, dirname(resolve(file)));
  return {
    data: toData(document, { text, file }),
    place: (found) => placeProblem(found, document, positionAt, fileAt),
  };
}

/** Finds a parameter without quotes inside braces. The parser takes its braces for an object: `{ hold: ${users} }`. */
function findBareParameter(text: string): { readonly at: string; readonly text: string } | undefined {
  for (const [index, line] of text.split("\n").entries()) {
    const [, before, found] = /^([^#"']*?[{,[:]\s*)(\$\{\w*\})/.exec(line) ?? [];
    if (before !== undefined && found !== undefined) return { at: `${index + 1}:${before.length + 1}`, text: found };
  }
  return undefined;
}

const INDENTATION =
  "Check the indentation of this line and of the lines around it: fields of one object start in the same column";
/** Hints for syntax errors whose message does not explain the correction. */
const YAML_HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  BLOCK_AS_IMPLICIT_KEY: `${INDENTATION}. Or put a text with a colon in quotes.`,
  BAD_INDENT: `${INDENTATION}.`,
  TAB_AS_INDENT: "Indent with spaces.",
  DUPLICATE_KEY: "Leave one of the two out.",
  MULTIPLE_DOCS: "Write each scenario into a file of its own: --- begins another document.",
};

/** A field whose text contains a colon. */
const WITH_COLON = /^\s*(?:- )?([\w-]+):\s+([^\s"'[{].*:\s.*?)\s*$/;

/** Returns a hint on how to correct a syntax error in its line. */
function hintOf(code: ErrorCode | undefined, message: string, line: string): string | undefined {
  const [, key, value] = code === "BLOCK_AS_IMPLICIT_KEY" ? (WITH_COLON.exec(line) ?? []) : [];
  if (key !== undefined) return `Put the text in quotes: ${key}: "${value}".`;
  const [, bracket] = /must .*end with a ([}\]])/.exec(message) ?? [];
  if (bracket !== undefined) return `Add the missing ${bracket} above.`;
  if (code === "MISSING_CHAR" && /quote/.test(message)) return "Add the closing quote.";
  return code === undefined ? undefined : YAML_HINTS[code];
}

function keyAt(position: string, lines: readonly string[]): string {
  const [line = 1, column = 1] = position.split(":").map(Number);
  return /^[^:,}\s]*/.exec((lines[line - 1] ?? "").slice(column - 1))?.[0] ?? "";
}

/** Drops the second error about a key that already has a value. */
function withoutEchoes(faults: readonly YamlFault[]): readonly YamlFault[] {
  return faults.filter(
    ({ code, at }, index) =>
      code !== "MULTILINE_IMPLICIT_KEY" ||
      faults[index - 1]?.code !== "BLOCK_AS_IMPLICIT_KEY" ||
      faults[index - 1]?.at !== at,
  );
}

/** Checks for JSON, because YAML also allows comments, and texts without quotes. */
function checkJson(text: string, file: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const hint = "Correct it, or name the file x.yaml: YAML allows comments and texts without quotes.";
    throw new UserError(problem("not-json", file, `is not JSON: ${messageOf(error)}`, hint));
  }
}

function toData(document: Document, { text, file }: { readonly text: string; readonly file: string }): unknown {
  try {
    return copyPlainData(document.toJS());
  } catch (error) {
    if (error instanceof UserError)
      throw new UserError(error.problems.map((found) => movePath(found, (path) => `${file}, ${path}`)));
    const [, alias] = /^Unresolved alias .*: (\S+)$/.exec(messageOf(error)) ?? [];
    if (alias === undefined)
      throw new UserError(problem("invalid-value", file, lowerFirst(messageOf(error)), "Correct the file."));
    const line = text.split("\n").findIndex((one) => one.includes(`*${alias}`)) + 1;
    const hint = `Write &${alias} before the value that it stands for, or "*${alias}" for a text.`;
    throw userError("invalid-value", `${file}:${line}`, `there is no anchor &${alias} above`, hint, `*${alias}`);
  }
}

function lowerFirst(text: string): string {
  return text.replace(/^./, (letter) => letter.toLowerCase()).replace(/\.$/, "");
}

const FIELD_PATH = /^[A-Za-z]\w*(?:\.[^\s.,/\\]+)*$/;

/** Problems with names. All others are problems with values. */
const OF_KEYS: readonly Problem["code"][] = ["unknown-name", "unsupported"];

function placeProblem(
  found: Problem,
  document: Document,
  positionAt: (offset: number) => string,
  fileAt: (path: string) => number | undefined,
): Problem {
  if (typeof found.path === "object" && "setting" in found.path) {
    const { valueOffset } = locate(document, found.path.setting.split("."));
    return valueOffset === 0 ? found : { ...found, path: [`${positionAt(valueOffset)}, `, found.path] };
  }
  const moved = movePath(found, (path) => {
    if (path === "the scenario") return positionAt(0);
    const offset = found.code === "unreadable" ? fileAt(path) : undefined;
    if (offset !== undefined) return `${positionAt(offset)}: ${path}`;
    if (!FIELD_PATH.test(path)) return path;
    const { keys, keyOffset, valueOffset } = locate(document, path.split("."));
    return `${positionAt(OF_KEYS.includes(found.code) ? keyOffset : valueOffset)}, ${formatKeys(keys)}`;
  });
  const { message } = moved;
  return {
    ...moved,
    hint: hintInData(found),
    ...(typeof message === "string" ? { message: toDataNames(message) } : {}),
  };
}

/** Returns a hint on how to correct a problem in a scenario that is data. */
function hintInData({ path, hint }: Problem): Problem["hint"] {
  if (typeof path !== "string") return hint;
  const keys = path.split(".");
  const ofData = hintForData(String(hint));
  if (ofData !== undefined) return ofData;
  if (hint === exampleOf(keys)) return exampleOf(keys, "data") ?? hint;
  // In the text of an assertion, the limit has no quotes.
  if (keys[0] === "assert" && typeof hint === "string") return toDataNames(hint.replace(", without quotes", ""));
  if (typeof hint === "string" && !hint.startsWith(CODE_HINT)) return toDataNames(hint);
  return String(hint).startsWith(CODE_HINT) ? "" : hint;
}

/** Writes builders in the form for data: `random` for `input.random()`. */
function toDataNames(text: string): string {
  return text.replace(
    /\binput\.(\w+)\(…?\)|\b(\w+)\(\[?…\]?\)/g,
    (_, input?: string, other?: string) => input ?? other ?? "",
  );
}

interface Location {
  /** Keys as in the file. */
  readonly keys: readonly string[];
  readonly keyOffset: number;
  readonly valueOffset: number;
}

/**
 * Finds a part by its path in the definition, which does not contain the builders' names. A missing part is located at the part that
 * should contain it.
 */
function locate(document: Document, path: readonly string[]): Location {
  const families = [targetFamily(), loadFamily(), inputFamily(), parameterFamily()];
  let node = document.contents as Node | null;
  let [keyOffset, valueOffset] = [0, 0];
  const keys: string[] = [];
  const rest = [...path];
  while (rest.length > 0) {
    const step = stepInto(node, rest, families);
    if (step === undefined) break;
    keys.push(step.key);
    ({ node, keyOffset, valueOffset } = step);
  }
  return { keys: [...keys, ...rest], keyOffset, valueOffset };
}

interface Step {
  readonly key: string;
  readonly node: Node | null;
  readonly keyOffset: number;
  readonly valueOffset: number;
}

/**
 * Takes the next key of a path, or the name of a builder, which is not in the path. @param rest rest of the path, which
 * is shortened
 */
function stepInto(node: Node | null, rest: string[], families: readonly Family[]): Step | undefined {
  const [key = ""] = rest;
  if (isSeq(node)) {
    const item = (node.items as (Node | null)[])[Number(key)];
    if (item === undefined) return undefined;
    rest.shift();
    const at = item?.range?.[0] ?? 0;
    return { key, node: item, keyOffset: at, valueOffset: at };
  }
  if (!isMap(node)) return undefined;
  const pairs = node.items as { key: Node; value: Node | null }[];
  const nameOf = (pair: { key: Node }): string => (isScalar(pair.key) ? String(pair.key.value) : "");
  const named = pairs.find((pair) => nameOf(pair) === key);
  const [only, ...more] = pairs;
  const call = named === undefined && more.length === 0 ? only : undefined;
  if (named !== undefined) rest.shift();
  const pair =
    named ?? (call !== undefined && families.some(({ entries }) => entries.has(nameOf(call))) ? call : undefined);
  if (pair === undefined) return undefined;
  if (named === undefined) nameArgument(nameOf(pair), pair.value, rest, families);
  const keyOffset = pair.key.range?.[0] ?? 0;
  const valueOffset = isScalar(pair.value) ? (pair.value.range?.[0] ?? keyOffset) : keyOffset;
  return { key: nameOf(pair), node: pair.value, keyOffset, valueOffset };
}

/** The path may contain the index of an argument, where the file has its name. A list given alone has no name. */
function nameArgument(name: string, body: Node | null, rest: string[], families: readonly Family[]): void {
  const { args = [], takes } = families.find(({ entries }) => entries.has(name))?.entries.get(name)?.form ?? {};
  const [key = ""] = rest;
  if (isSeq(body) && key === args[0]) rest.shift();
  if (!/^\d+$/.test(key) || !isMap(body)) return;
  const arg = takes === undefined ? args[Number(key)] : args[0];
  if (arg === undefined) return;
  const isList = takes !== undefined && isSeq(body.get(arg, true));
  rest.splice(0, 1, arg, ...(isList ? [key] : []));
}
