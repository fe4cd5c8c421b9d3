import * as v from "valibot";
import { word } from "../plan/messages.ts";
import { messageOf, type Problem, UserError } from "../plan/problem.ts";
import type { EntriesOf } from "../plan/schema.ts";
import type { Failure } from "../transport/failure.ts";
import { unreadable } from "../transport/response-check.ts";
import { isTruthy, parseResponseQuery, type ResponseQuery } from "./response-query.ts";

/** A target's rules for its responses: an expression that must be true, and values to extract. Responses are decoded only for these. */

/** The rules in a plan. */
export type ResponseRulesPlan = Readonly<EntriesOf<typeof responseRulesEntries>>;

/** Reads the responses of a target with rules. */
export interface ResponseReader {
  /** The names of the extracted values. */
  readonly names: readonly string[];
  /**
   * Reads the response to one request.
   * @param bodies its responses, in order
   * @param content of the request
   * @returns the extracted values in the order of `names`, null where there is none; or the failure
   */
  read(bodies: readonly Uint8Array[], content?: object): readonly unknown[] | Failure;
}

/** Returns the schemas of the rules, as an object's entries. */
export function responseRulesEntries() {
  const expression = v.pipe(v.string(), v.nonEmpty("must be a JMESPath expression"));
  return {
    /** JMESPath expression that is true for successful responses. Absent: the protocol's status is enough. */
    successWhere: v.exactOptional(expression),
    /** JMESPath expressions of the values to extract, by name. Absent: none. */
    extract: v.exactOptional(v.record(v.pipe(v.string(), v.nonEmpty("must have a name")), expression)),
  };
}

/** Returns what is wrong with the expressions, all at once. @param path the setting that has them */
export function checkResponseRules(rules: ResponseRulesPlan, path = "target"): Problem[] {
  const problems: Problem[] = [];
  for (const [place, text] of placesOf(rules, path)) {
    try {
      parseResponseQuery(text, place);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(...error.problems);
    }
  }
  return problems;
}

/** Returns why an expression is not valid; undefined when it is. */
export function explainExpression(text: string): string | undefined {
  const [found] = checkResponseRules({ successWhere: text });
  return found && word(found.message);
}

function placesOf({ successWhere, extract = {} }: ResponseRulesPlan, path: string): [place: string, text: string][] {
  const places = Object.entries(extract).map(([name, text]): [string, string] => [`${path}.extract.${name}`, text]);
  return successWhere === undefined ? places : [[`${path}.success.where`, successWhere], ...places];
}

/**
 * Creates the reader; undefined when there are no rules.
 * @param decode returns a response as plain data; throws an error that says why it cannot be read
 * @throws UserError when an expression is not valid
 */
export function createResponseReader(
  rules: ResponseRulesPlan,
  decode: (bodies: readonly Uint8Array[]) => unknown,
): ResponseReader | undefined {
  const { successWhere, extract = {} } = rules;
  const success = successWhere === undefined ? undefined : parseResponseQuery(successWhere, "target.success.where");
  const queries = Object.entries(extract).map(([name, text]) => parseResponseQuery(text, `target.extract.${name}`));
  if (success === undefined && queries.length === 0) return undefined;
  return {
    names: Object.keys(extract),
    read: (bodies) => {
      let response: unknown;
      try {
        response = decode(bodies);
      } catch (error) {
        return unreadable(messageOf(error));
      }
      return success !== undefined && !isTruthy(success.find(response))
        ? { kind: "validation", message: `the response is not a success: ${successWhere} is not true` }
        : queries.map((query: ResponseQuery) => query.find(response));
    },
  };
}
