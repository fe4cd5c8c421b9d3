import { compile, type JSONValue, TreeInterpreter } from "@jmespath-community/jmespath";
import { messageOf, userError } from "../../plan/problem.ts";

/** A JMESPath expression (jmespath.org) that finds the text in a response. */
export interface ResponseField {
  readonly text: string;
  /** Returns what the expression finds; null for nothing, or when a function gets a value of the wrong type. */
  find(data: unknown): unknown;
}

/**
 * Compiles a JMESPath expression, such as `choices[0].text` or `join('', parts[?type=='text'].content)`.
 * @param path the setting, for the error
 * @throws UserError for a syntax error, an unknown function or a wrong number of arguments
 */
export function parseResponseField(text: string, path = "response_field"): ResponseField {
  const expression = compileExpression(text, path);
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

type Expression = ReturnType<typeof compile>;

function compileExpression(text: string, path: string): Expression {
  try {
    // Python's library still accepts `word` for `"word"`.
    const expression = compile(text, { enable_legacy_literals: true });
    checkFunctions(expression);
    return expression;
  } catch (error) {
    const hint = "Write a path such as choices[0].text, data[*].text or a.b || c; see jmespath.org for the syntax.";
    const message = `is not a JMESPath expression: ${messageOf(error).replace(/^syntax( error)?[:,] */i, "")}`;
    throw userError("invalid-value", path, message, hint, text);
  }
}

/**
 * The library looks up functions when they are called. Calls each one without values, so that only unknown names and arities are errors.
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
