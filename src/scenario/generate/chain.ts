import * as v from "valibot";
import { type RequestBody, toBodyPlan } from "../../inputs/request-bodies.ts";
import { nearestName } from "../../plan/nearest-name.ts";
import { defined } from "../../plan/objects.ts";
import { flagSchema, hinted, listSchema, recordSchema } from "../../plan/schema.ts";
import { registerHeaders } from "../../plan/secrets.ts";
import type { ChainCallPlan } from "../../service/http/chain-plan.ts";
import { fillPath, placesIn, textsIn } from "../../service/http/chain-texts.ts";
import { HEADER_NAME, HEADER_VALUE, HTTP_METHODS, REQUEST_PATH, REQUEST_PATH_RULE } from "../../transport/request.ts";
import { refuseMore, withFields } from "../arguments.ts";
import { countSchema, expressionSchema, nameSchema, spreadSchema, strictOptions, toThinkPlan } from "../fields.ts";
import { inputBuilder } from "../input-builder.ts";
import type { Inputs } from "../input-data.ts";
import type { ChainCall, CheckedCalls } from "./chain-types.ts";

/** Options of {@link chain}. */
export interface ChainOptions<U extends string = string> {
  /** Number of chains for a load without `for`. Default: 100, or the number of users if that is larger. */
  readonly count?: number;
  /**
   * Values for the users, such as their logins: each user gets one entry, in turn; with `sessionRate`, each chain does. Default:
   * none.
   */
  readonly users?: readonly Readonly<Record<U, string | number | boolean>>[];
  /** Whether exports and messages show extracted values. Default: false; they show `***`. */
  readonly showValues?: boolean;
}

/**
 * Requests that depend on each other, such as a login and the requests after it, for the target `http`. Each user of the load `sessions`
 * or `sessionRate` sends the calls one after another, and then starts over. A call that fails, or whose response lacks a value, ends the
 * chain.
 * @example
 * input.chain([
 *   { name: "log in", path: "/login", body: { user: "a" }, extract: { token: "token" }, once: true },
 *   { name: "profile", path: "/me", headers: { Authorization: "Bearer {{token}}" } },
 * ])
 */
export function chain<const S extends readonly ChainCall[], const U extends string = never>(
  calls: S & CheckedCalls<S, U>,
  options: ChainOptions<U> = {},
): Inputs<"chains"> {
  refuseMore("input.chain(calls, options)", arguments);
  return { kind: "chain", files: [], options: withFields(options, { calls }) };
}

const PLACE_NAME = /^[\w-]+$/;
const NAME_RULE = "must be a name of letters, digits, _ and -";

function callSchema() {
  const header = v.pipe(v.string("must be text"), v.regex(HEADER_VALUE, "must have no line breaks"));
  const body = v.custom<RequestBody>(
    (input) => input === undefined || toBodyPlan(input, "/") !== undefined,
    "must be text, bytes, an object or a list, fileBody(…) or multipart(…)",
  );
  const path = v.check(
    (text: string) => REQUEST_PATH.test(fillPath(text, (_, write) => write("/value"))),
    REQUEST_PATH_RULE,
  );
  const extract = v.union(
    [
      expressionSchema(),
      strictOptions({ header: v.pipe(v.string(), v.regex(HEADER_NAME)) }),
      strictOptions({ cookie: nameSchema("a cookie") }),
    ],
    'must be a JMESPath expression (jmespath.org), { header: "Location" } or { cookie: "sid" }',
  );
  return strictOptions({
    name: v.optional(nameSchema("a name")),
    method: v.optional(v.picklist(HTTP_METHODS, `must be one of ${HTTP_METHODS.join(", ")}`)),
    path: v.optional(v.pipe(v.string("must be text"), path)),
    headers: v.optional(recordSchema(v.pipe(v.string(), v.regex(HEADER_NAME, "must be the name of a header")), header)),
    body: v.optional(body),
    extract: v.optional(recordSchema(v.pipe(v.string(), v.regex(PLACE_NAME, NAME_RULE)), extract)),
    once: v.optional(flagSchema()),
    thinkTime: v.optional(
      v.pipe(
        spreadSchema(),
        v.check(
          hinted((time) => toThinkPlan(time).meanMs > 0, 'Write a longer time, such as "1 s".'),
          "must be longer than 0",
        ),
      ),
    ),
  });
}

type CallData = v.InferOutput<ReturnType<typeof callSchema>>;

/** A value that a field needs and that no earlier call extracts. */
interface Missing {
  readonly index: number;
  readonly field: "path" | "headers" | "body";
  readonly message: string;
  /** Text to write instead. */
  readonly expected: string;
}

/** Returns the values that calls need and that are missing. @param given names of the values of all users */
function findMissing(calls: readonly CallData[], given: readonly string[]): Missing[] {
  const known = new Set(given);
  return calls.flatMap(({ path = "", headers = {}, body, extract = {} }, index) => {
    const plan = body === undefined ? undefined : toBodyPlan(body, "/");
    const texts = { path: [path], headers: Object.values(headers), body: plan === undefined ? [] : textsIn(plan) };
    const missing = (["path", "headers", "body"] as const).flatMap((field): Missing[] => {
      const names = new Set(texts[field].flatMap(placesIn).filter((name) => !known.has(name)));
      return [...names].map((name) => {
        const near = nearestName(name, [...known]);
        const expected = near === undefined ? `extract: { ${name}: "…" } in a call before it` : `{{${near}}}`;
        return { index, field, message: `needs {{${name}}}, which no call before it extracts`, expected };
      });
    });
    for (const name of Object.keys(extract)) known.add(name);
    return missing;
  });
}

function chainOptionsSchema() {
  const value = v.union([v.string(), v.number(), v.boolean()], "must be text, a number, true or false");
  const user = recordSchema(v.pipe(v.string(), v.regex(PLACE_NAME, NAME_RULE)), value, "must be values by name");
  const calls = v.pipe(
    listSchema(callSchema(), "calls"),
    v.minLength(1, "must have a call"),
    v.check(
      (all) => all.length === 0 || all.some(({ once }) => once !== true),
      "must have a call that is sent in each chain: leave once out of one",
    ),
  );
  const options = strictOptions({
    calls,
    count: v.optional(countSchema()),
    users: v.optional(v.pipe(listSchema(user, "users"), v.minLength(1, "must have a user"))),
    showValues: v.optional(flagSchema()),
  });
  return v.pipe(
    options,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const { calls: list, users = [] } = dataset.value;
      const given = Object.keys(users[0] ?? {}).filter((name) => users.every((one) => Object.hasOwn(one, name)));
      for (const { index, field, ...missing } of findMissing(list, given)) {
        const call = list[index] as CallData;
        const item = { type: "object", origin: "value" } as const;
        addIssue({
          ...missing,
          input: field === "path" ? call.path : undefined,
          path: [
            { ...item, input: dataset.value, key: "calls", value: list },
            { type: "array", origin: "value", input: list, key: index, value: call },
            { ...item, input: call, key: field, value: call[field] },
          ],
        });
      }
    }),
  );
}

export const chainBuilder = inputBuilder({
  form: { name: "chain", space: "input", alone: "calls" },
  options: chainOptionsSchema,
  makes: ["payloads"],
  isPlain: true,
  needsTarget: { name: "http", without: ["method"] },
  toPlan: ({ options: { calls, count, users, showValues } }, folder) => ({
    kind: "http-chain",
    ...defined({ count }),
    calls: calls.map((call, index) => toCallPlan(call, index, folder)),
    ...defined({ users }),
    ...(showValues === true ? { showsValues: true } : {}),
  }),
});

function toCallPlan(call: CallData, index: number, folder: string): ChainCallPlan {
  const { name = String(index + 1), path, headers, body, extract, once, thinkTime } = call;
  const { method = body === undefined ? "GET" : "POST" } = call;
  const plan = body === undefined ? undefined : toBodyPlan(body, folder);
  // A text with placeholders for values of responses is not a secret itself.
  registerHeaders(Object.entries(headers ?? {}).filter(([, text]) => placesIn(text).length === 0));
  const think = thinkTime === undefined ? undefined : toThinkPlan(thinkTime);
  return {
    name,
    method,
    ...defined({ path, headers: headers && Object.entries(headers), body: plan, extract: extract && { ...extract } }),
    ...(once === true ? { isOnce: true } : {}),
    ...defined({ thinkTime: think }),
  };
}
