import { compile, type JSONValue, TreeInterpreter } from "@jmespath-community/jmespath";
import { messageOf, userError } from "../plan/problem.ts";

/** A JMESPath expression (jmespath.org) over a JSON response. */
export interface ResponseQuery {
  readonly text: string;
  /** Returns the result of the expression; null if there is none, or if a function gets a value of the wrong type. */
  find(data: unknown): unknown;
}

const DEFAULT_HINT =
  "Write an expression such as usage.total_tokens, outputs[0].label or error == null; see jmespath.org.";

/**
 * Compiles a JMESPath expression, such as `choices[0].text` or `join('', parts[?type=='text'].content)`.
 * @param path the setting, for the error
 * @throws UserError for a syntax error, with its position; for an unknown function or a wrong number of arguments
 */
export function parseResponseQuery(text: string, path: string, hint = DEFAULT_HINT): ResponseQuery {
  const expression = compileExpression(text, path, hint);
  return {
    text,
    find: (data) => {
      try {
        return TreeInterpreter.search(expression, data as JSONValue) ?? null;
      } catch {
        return null;
      }
    },
  };
}

/** Whether JMESPath counts a value as true: any value except null, false, and an empty string, list or object. */
export function isTruthy(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

type Expression = ReturnType<typeof compile>;

/** Python's library still accepts `word` for `"word"`. */
const OPTIONS = { enable_legacy_literals: true };

function compileExpression(text: string, path: string, hint: string): Expression {
  let expression: Expression;
  try {
    expression = compile(text, OPTIONS);
  } catch (error) {
    const reason = messageOf(error).replace(/^syntax( error)?[:,] */i, "");
    throw userError("invalid-value", path, `is not a JMESPath expression: ${reason}${describePlace(text)}`, hint, text);
  }
  try {
    checkFunctions(expression);
  } catch (error) {
    throw userError("invalid-value", path, `is not a JMESPath expression: ${messageOf(error)}`, hint, text);
  }
  return expression;
}

/** Longer expressions get no position, because finding it takes quadratic time. */
const MAX_PLACED_CHARACTERS = 2000;

/**
 * Describes the place of a syntax error, which the library does not report: after the longest beginning that could still become valid.
 */
function describePlace(text: string): string {
  if (text.length > MAX_PLACED_CHARACTERS) return "";
  let end = text.length;
  while (end > 0 && !canContinue(text.slice(0, end))) end--;
  if (text.slice(end).trim() === "") return ", at its end";
  return `, at character ${end + 1}`;
}

function canContinue(start: string): boolean {
  if (start.trim() === "") return true;
  try {
    compile(start, OPTIONS);
    return true;
  } catch (error) {
    return messageOf(error).includes("EOF");
  }
}

/**
 * Checks the functions of an expression, which the library looks up only when they are called. Calls each one without values, so that
 * only unknown names and wrong numbers of arguments are errors.
 */
function checkFunctions(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  for (const child of Object.values(node)) checkFunctions(child);
  if (!("type" in node && node.type === "Function" && "children" in node && Array.isArray(node.children))) return;
  const children = node.children.map(() => ({ type: "Literal", value: null }));
  try {
    TreeInterpreter.search({ ...node, children } as Expression, null);
  } catch (error) {
    if (/^(Unknown function|Invalid arity)/.test(messageOf(error))) throw error;
  }
}
