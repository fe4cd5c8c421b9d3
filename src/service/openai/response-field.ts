import { parseResponseQuery, type ResponseQuery } from "../response-query.ts";

/** A JMESPath expression (jmespath.org) that finds the text in a response. */
export type ResponseField = ResponseQuery;

const HINT = "Write a path such as choices[0].text, data[*].text or a.b || c; see jmespath.org for the syntax.";

/**
 * Compiles the expression.
 * @param path the setting, for the error
 * @throws UserError for a syntax error, an unknown function or a wrong number of arguments
 */
export function parseResponseField(text: string, path = "response_field"): ResponseField {
  return parseResponseQuery(text, path, HINT);
}
