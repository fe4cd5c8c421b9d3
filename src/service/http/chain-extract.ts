import { parseJson } from "../../plan/objects.ts";
import { decoder } from "../../runtime/text.ts";
import type { Header } from "../../transport/request.ts";
import { NOT_JSON } from "../response-faults.ts";
import { parseResponseQuery } from "../response-query.ts";
import type { ChainCallPlan, ChainExtractPlan } from "./chain-plan.ts";
import { type ChainValue, placesIn, toPath } from "./chain-texts.ts";

/** Extracts values for a chain from the responses to its requests. */

/** Bytes that headers cannot contain. */
const NO_HEADER_VALUE = /[^\t\x20-\x7e]/;

/** Extracts a value from a response. */
export interface Extract {
  readonly name: string;
  /** Returns the value, or the reason why there is none. */
  take(response: ReadResponse): ChainValue | NoValue;
}

/** The reason why a response lacks a value. */
export class NoValue {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** A response, parsed once. */
export interface ReadResponse {
  /** Returns its JSON, or the reason why there is none. */
  readonly data: () => unknown;
  readonly headers: readonly Header[];
}

/**
 * Returns the extractors of a call's values.
 * @param all the calls of its chain, whose use of a value determines its form
 * @throws UserError for a wrong expression
 */
export function extractsOf({ extract = {} }: ChainCallPlan, all: readonly ChainCallPlan[]): Extract[] {
  const inHeaders = new Set(all.flatMap(({ headers = [] }) => headers.flatMap(([, text]) => placesIn(text))));
  const asPaths = new Set(all.flatMap(({ path = "" }) => (path.startsWith("{{") ? placesIn(path).slice(0, 1) : [])));
  return Object.entries(extract).map(([name, from]) => {
    const find = finderOf(from, name);
    return {
      name,
      take: (response) => {
        const found = find(response);
        if (found instanceof NoValue) return found;
        if (inHeaders.has(name) && NO_HEADER_VALUE.test(String(found)))
          return new NoValue("its value has a character that no header can have");
        if (asPaths.has(name) && toPath(String(found)) === undefined)
          return new NoValue("its value is not a path or URL");
        return found;
      },
    };
  });
}

function finderOf(from: ChainExtractPlan, name: string): Extract["take"] {
  if (typeof from !== "string") {
    if ("header" in from)
      return ({ headers }) =>
        valuesOf(headers, from.header)[0] ?? new NoValue(`the response has no header ${from.header}`);
    return ({ headers }) =>
      findCookie(headers, from.cookie) ?? new NoValue(`the response sets no cookie ${from.cookie}`);
  }
  const query = parseResponseQuery(from, `inputs.extract.${name}`);
  return ({ data }) => {
    const read = data();
    return read instanceof NoValue ? read : checkFound(query.find(read), from);
  };
}

function checkFound(found: unknown, text: string): ChainValue | NoValue {
  if (found === null) return new NoValue(`${text} finds nothing in the response`);
  if (typeof found === "object")
    return new NoValue(`${text} finds ${Array.isArray(found) ? "a list" : "an object"}, not a text or number`);
  // JSON.parse has rounded it.
  if (typeof found === "number" && Number.isInteger(found) && !Number.isSafeInteger(found))
    return new NoValue(`${text} finds a number with more digits than are kept: the server has to send it as text`);
  return found as ChainValue;
}

function valuesOf(headers: readonly Header[], name: string): string[] {
  return headers.flatMap(([given, value]) => (given.toLowerCase() === name.toLowerCase() ? [value] : []));
}

function findCookie(headers: readonly Header[], name: string): string | undefined {
  const pairs = valuesOf(headers, "set-cookie").map((cookie) => (cookie.split(";")[0] ?? "").trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

export function readJson(bodies: readonly Uint8Array[]): unknown {
  const [body = new Uint8Array(0)] = bodies;
  if (bodies.length > 1) return new NoValue("the response is a stream of events, not JSON");
  if (body.length === 0) return new NoValue("the response has no body");
  const json = parseJson(decoder.decode(body));
  return json === undefined ? new NoValue(NOT_JSON) : json;
}
