import * as v from "valibot";
import { word } from "../plan/messages.ts";
import { messageOf, type Problem, UserError } from "../plan/problem.ts";
import type { EntriesOf } from "../plan/schema.ts";
import { unreadable } from "../transport/answer-check.ts";
import type { Failure } from "../transport/failure.ts";
import { type AnswerQuery, isTruthy, parseAnswerQuery } from "./answer-query.ts";

/** A target's rules for its answers: an expression that must be true, and values to extract. Answers are decoded only for these. */

/** The rules in a plan. */
export type AnswerRulesPlan = Readonly<EntriesOf<typeof answerRulesEntries>>;

/** Reads the answers of a target with rules. */
export interface AnswerReader {
  /** The names of the extracted values. */
  readonly names: readonly string[];
  /**
   * Reads the answer to one request.
   * @param bodies its responses, in order
   * @param content of the request
   * @returns the extracted values in the order of `names`, null where there is none; or the failure
   */
  read(bodies: readonly Uint8Array[], content?: object): readonly unknown[] | Failure;
}

/** Returns the schemas of the rules, as an object's entries. */
export function answerRulesEntries() {
  const expression = v.pipe(v.string(), v.nonEmpty("must be a JMESPath expression"));
  return {
    /** JMESPath expression that is true for successful answers. Absent: the protocol's status is enough. */
    successWhere: v.exactOptional(expression),
    /** JMESPath expressions of the values to extract, by name. Absent: none. */
    extract: v.exactOptional(v.record(v.pipe(v.string(), v.nonEmpty("must have a name")), expression)),
  };
}

/** Returns what is wrong with the expressions, all at once. @param path the setting that has them */
export function checkAnswerRules(rules: AnswerRulesPlan, path = "target"): Problem[] {
  const problems: Problem[] = [];
  for (const [place, text] of placesOf(rules, path)) {
    try {
      parseAnswerQuery(text, place);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(...error.problems);
    }
  }
  return problems;
}

/** Returns why an expression is not valid; undefined when it is. */
export function explainExpression(text: string): string | undefined {
  const [found] = checkAnswerRules({ successWhere: text });
  return found && word(found.message);
}

function placesOf({ successWhere, extract = {} }: AnswerRulesPlan, path: string): [place: string, text: string][] {
  const places = Object.entries(extract).map(([name, text]): [string, string] => [`${path}.extract.${name}`, text]);
  return successWhere === undefined ? places : [[`${path}.success.where`, successWhere], ...places];
}

/**
 * Creates the reader; undefined when there are no rules.
 * @param decode returns an answer as plain data; throws an error that says why it cannot be read
 * @throws UserError when an expression is not valid
 */
export function createAnswerReader(
  rules: AnswerRulesPlan,
  decode: (bodies: readonly Uint8Array[]) => unknown,
): AnswerReader | undefined {
  const { successWhere, extract = {} } = rules;
  const success = successWhere === undefined ? undefined : parseAnswerQuery(successWhere, "target.success.where");
  const queries = Object.entries(extract).map(([name, text]) => parseAnswerQuery(text, `target.extract.${name}`));
  if (success === undefined && queries.length === 0) return undefined;
  return {
    names: Object.keys(extract),
    read: (bodies) => {
      let answer: unknown;
      try {
        answer = decode(bodies);
      } catch (error) {
        return unreadable(messageOf(error));
      }
      return success !== undefined && !isTruthy(success.find(answer))
        ? { kind: "validation", message: `the answer is not a success: ${successWhere} is not true` }
        : queries.map((query: AnswerQuery) => query.find(answer));
    },
  };
}
