import * as v from "valibot";
import { customFactsEntries, expressionSchema } from "../plan/assertions.ts";
import { type FunctionPlan, functionOf, functionSchema } from "../plan/functions.ts";
import { word } from "../plan/messages.ts";
import { collect, messageOf, type Problem } from "../plan/problem.ts";
import { type EntriesOf, filledSchema } from "../plan/schema.ts";
import { unreadable } from "../transport/response-check.ts";
import type { AnsweredContent, ExtractedName, ResponseReader } from "./content.ts";
import type { ResponseKind } from "./openai/response-kind.ts";
import { isTruthy, parseResponseQuery } from "./response-query.ts";
import { createScenarioResponse, type ScenarioResponse } from "./scenario-response.ts";
import { describeUserError, toPlainValue } from "./user-defined/user-error.ts";

/**
 * A target's rules for its responses: an expression that must be true, and values to extract. Responses are decoded only for this
 * purpose.
 */

export type ResponseRulesPlan = Readonly<EntriesOf<typeof responseRulesEntries>>;

/** Returns the schemas of the rules, as an object's entries. */
export function responseRulesEntries() {
  return {
    /** JMESPath expression that is true for successful responses. Absent: the protocol's status is enough. */
    successWhere: v.exactOptional(expressionSchema()),
    ...extractEntries(),
  };
}

export type ExtractPlan = NonNullable<EntriesOf<typeof extractEntries>["extract"]>;

/** Returns the schema of the values to extract, as an object's entry. */
export function extractEntries() {
  const value = v.union([expressionSchema(), functionSchema()]);
  const one = v.union([value, v.object({ value, ...customFactsEntries() })]);
  /**
   * Values to extract by name: JMESPath expressions, or functions of the scenario; alone, or with the meaning of their numbers. Absent:
   * none.
   */
  return { extract: v.exactOptional(v.record(filledSchema("must have a name"), one)) };
}

interface ExtractedValue extends ExtractedName {
  readonly value: string | FunctionPlan;
}

export function listExtracted(extract: ExtractPlan = {}): ExtractedValue[] {
  return Object.entries(extract).map(([name, given]) =>
    typeof given === "string" || "function" in given ? { name, value: given } : { name, ...given },
  );
}

/** Returns the names of extracted values, with the meaning of their numbers. */
export function namesOf(values: readonly ExtractedValue[]): ExtractedName[] {
  return values.map(({ value: _, ...named }) => named);
}

/** Returns all problems with the expressions of a target. */
export function checkResponseRules(rules: ResponseRulesPlan): Problem[] {
  const problems: Problem[] = [];
  for (const [place, text] of placesOf(rules)) collect(problems, () => parseResponseQuery(text, place));
  return problems;
}

/** Returns why an expression is not valid; undefined if it is. */
export function explainExpression(text: string): string | undefined {
  const [found] = checkResponseRules({ successWhere: text });
  return found && word(found.message);
}

function placesOf({ successWhere, extract }: ResponseRulesPlan): [place: string, text: string][] {
  const places = listExtracted(extract).flatMap(({ name, value }): [string, string][] =>
    typeof value === "string" ? [[`target.extract.${name}`, value]] : [],
  );
  return successWhere === undefined ? places : [["target.success.where", successWhere], ...places];
}

interface ReadResponse {
  /** Returns plain data for expressions. */
  document(): unknown;
  response(): ScenarioResponse;
}

/**
 * Creates the reader; undefined if there are no rules.
 * @param decode returns a response as plain data, for expressions; throws an error with the reason if it cannot be read
 * @param kindOf returns the kind of a response, for its text. Default: not a response of a language model
 * @throws UserError if an expression is not valid
 */
export function createResponseReader(
  { successWhere, extract }: ResponseRulesPlan,
  decode: (bodies: readonly Uint8Array[], answered: AnsweredContent) => unknown,
  kindOf: (bodies: readonly Uint8Array[]) => ResponseKind | undefined = () => undefined,
): ResponseReader | undefined {
  const success = successWhere === undefined ? undefined : parseResponseQuery(successWhere, "target.success.where");
  const values = listExtracted(extract);
  if (success === undefined && values.length === 0) return undefined;
  const finders = values.map(createFinder);
  return {
    names: namesOf(values),
    read: (bodies, answered = NOTHING_KNOWN) => {
      const read = once(bodies, answered, decode, kindOf);
      try {
        if (success !== undefined && !isTruthy(success.find(read.document())))
          return { kind: "validation", message: `the response is not a success: ${successWhere} is not true` };
        return finders.map((find) => find(read));
      } catch (error) {
        if (error instanceof ExtractError) return { kind: "validation", message: error.message };
        return unreadable(messageOf(error));
      }
    },
  };
}

/** Content for a response whose request is not known. */
const NOTHING_KNOWN: AnsweredContent = { request: [], tags: {}, tensors: () => [] };

/** Error of a scenario's function. */
class ExtractError extends Error {}

function createFinder({ name, value }: ExtractedValue): (read: ReadResponse) => unknown {
  if (typeof value === "string") {
    const query = parseResponseQuery(value, `target.extract.${name}`);
    return (read) => query.find(read.document());
  }
  const call = functionOf<(response: ScenarioResponse) => unknown>(value);
  return (read) => {
    const response = read.response();
    try {
      return toPlainValue(call(response));
    } catch (error) {
      throw new ExtractError(`extract.${name} throws: ${describeUserError(error)}`);
    }
  };
}

/** Returns a function that decodes a response when it is first read, and only once. */
function once(
  bodies: readonly Uint8Array[],
  answered: AnsweredContent,
  decode: (bodies: readonly Uint8Array[], answered: AnsweredContent) => unknown,
  kindOf: (bodies: readonly Uint8Array[]) => ResponseKind | undefined,
): ReadResponse {
  let decoded: { readonly document: unknown } | undefined;
  let response: ScenarioResponse | undefined;
  return {
    document: () => {
      decoded ??= { document: decode(bodies, answered) };
      return decoded.document;
    },
    response: () => {
      const { request, tags } = answered;
      const tensors = answered.tensors().at(-1) ?? [];
      response ??= createScenarioResponse({ parts: bodies, tensors, request, tags, kind: kindOf(bodies) });
      return response;
    },
  };
}
