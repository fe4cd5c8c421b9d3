import { messageOf, type Problem, UserError } from "../../plan/problem.ts";
import type { Json, JsonObject } from "./prompt-entry.ts";

const FLAG = "--extra-inputs";

/**
 * What `--extra-inputs` adds to every body, from its values in order: `name:value` with the value's type seen from its text (`true`, `12`,
 * `0.7`, `null`, else a string), `name` alone for null, or a JSON object.
 * @throws UserError with everything that cannot be read or is given twice
 */
export function parseExtraInputs(texts: readonly string[]): JsonObject {
  const extra = new Map<string, Json>();
  const problems: Problem[] = [];
  for (const text of texts) {
    for (const [name, value] of parseOne(text.trim(), problems)) {
      if (extra.has(name)) {
        problems.push({
          path: FLAG,
          message: `'${name}' is given twice`,
          value: text,
          hint: "Give each input once.",
        });
      }
      extra.set(name, value);
    }
  }
  if (problems.length > 0) throw new UserError(problems);
  return Object.fromEntries(extra);
}

function parseOne(text: string, problems: Problem[]): [string, Json][] {
  if (text.startsWith("{")) return parseObject(text, problems);
  const colon = text.indexOf(":");
  const name = colon < 0 ? text : text.slice(0, colon);
  const value = colon < 0 ? null : text.slice(colon + 1);
  if (name === "" || value === "") {
    problems.push({
      path: FLAG,
      message: "has an empty name or value",
      value: text,
      hint: `Type name:value, as ${FLAG} temperature:0.7.`,
    });
    return [];
  }
  return [[name, value === null ? null : parseValue(value)]];
}

function parseObject(text: string, problems: Problem[]): [string, Json][] {
  try {
    return Object.entries(JSON.parse(text) as JsonObject);
  } catch (error) {
    problems.push({
      path: FLAG,
      message: `is no JSON object: ${messageOf(error)}`,
      value: text,
      hint: `Quote it for the shell, as ${FLAG} '{"top_p": 0.9}'.`,
    });
    return [];
  }
}

function parseValue(text: string): Json {
  const lower = text.toLowerCase();
  if (lower === "true" || lower === "false") return lower === "true";
  if (lower === "null") return null;
  return /^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}
