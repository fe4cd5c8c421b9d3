import * as v from "valibot";
import { thinkTimeSchema } from "../../plan/load-options.ts";
import type { PlanOf } from "../../plan/schema.ts";
import { canBeSecret, isSecretName, MASK } from "../../plan/secrets.ts";
import type { Failure } from "../../transport/failure.ts";
import { type Header, HTTP_METHODS, REQUEST_PATH } from "../../transport/request.ts";
import type { Payload } from "../content.ts";
import { parseResponseQuery } from "../response-query.ts";
import type { Conversation } from "../service.ts";
import { type BodyPlan, bodySchema } from "./requests-plan.ts";

/** Chains of HTTP requests: a step takes values from its response, and later steps of the same user have them in path, headers and body. */

/** Chains of requests in a plan. */
export type ChainInputsPlan = PlanOf<typeof chainSchema>;

/** A step of a chain in a plan. */
export type ChainStepPlan = PlanOf<typeof stepSchema>;

/** Where a value is in a response: a JMESPath expression over its JSON, a header, or a cookie that it sets. */
export type ExtractPlan = PlanOf<typeof extractSchema>;

/** A value that goes into requests. */
export type ChainValue = string | number | boolean;

function extractSchema() {
  const name = v.pipe(v.string(), v.nonEmpty("must not be empty"));
  return v.union([name, v.strictObject({ header: name }), v.strictObject({ cookie: name })]);
}

function stepSchema() {
  return v.object({
    /** Value of the tag `step` of its requests. */
    name: v.pipe(v.string(), v.nonEmpty("must not be empty")),
    method: v.picklist(HTTP_METHODS),
    path: v.exactOptional(v.string()),
    headers: v.exactOptional(v.array(v.tuple([v.string(), v.string()]))),
    body: v.exactOptional(bodySchema()),
    /** By the names of the values. */
    extract: v.exactOptional(v.record(v.string(), extractSchema())),
    /** Set: each user sends it once. Absent: in each chain. */
    isOnce: v.exactOptional(v.literal(true)),
    /** Absent: the next step is sent at the response. */
    thinkTime: v.exactOptional(thinkTimeSchema()),
  });
}

/** Returns the schema of inputs that are chains. */
export function chainSchema() {
  const value = v.union([v.string(), v.number(), v.boolean()]);
  return v.object({
    kind: v.literal("http-chain"),
    /** Number of chains of a load that sends each once. Absent: 100, or as many as the load has users. */
    count: v.exactOptional(v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more"))),
    steps: v.pipe(v.array(stepSchema()), v.minLength(1, "must have a step")),
    /** Values of the users, who have them in turn. Absent: they have none. */
    users: v.exactOptional(v.pipe(v.array(v.record(v.string(), value)), v.minLength(1, "must have a user"))),
    /** Set: exports and messages show extracted values. Absent: they are hidden. */
    showsValues: v.exactOptional(v.literal(true)),
  });
}

/** A value in a text: `{{token}}`. */
const PLACE = /\{\{\s*([\w-]+)\s*\}\}/g;
/** A JSON text that is a value and nothing else, and no key. */
const JSON_PLACE = /"\{\{\s*([\w-]+)\s*\}\}"(?!\s*:)/g;

/** Returns the names of the values that a text needs. */
export function placesIn(text: string): string[] {
  return [...text.matchAll(PLACE)].map(([, name = ""]) => name);
}

/** Returns the texts of a body into which values can go. Files and bytes are sent as they are. */
export function textsIn(body: BodyPlan): string[] {
  if (body.form === "multipart") return body.parts.flatMap(({ value }) => (value.form === "text" ? [value.text] : []));
  return body.form === "json" || body.form === "text" ? [body.text] : [];
}

/** Returns the value of a name as it stands in a request. @param write formats it for its place */
export type Put = (name: string, write: (value: ChainValue) => string) => string;

/** Puts values into a text as they are. */
export function fillText(text: string, put: Put): string {
  return text.replace(PLACE, (_, name: string) => put(name, String));
}

/** Puts values into JSON: a text that is only `{{name}}` becomes the value, with its type. */
export function fillJson(text: string, put: Put): string {
  const inText = (value: ChainValue): string => JSON.stringify(String(value)).slice(1, -1);
  const filled = text.replace(JSON_PLACE, (_, name: string) => put(name, (value) => JSON.stringify(value)));
  return filled.replace(PLACE, (_, name: string) => put(name, inText));
}

/** Puts values into a path. One at its beginning is a path, or a URL of which the path is taken; others are parts of it. */
export function fillPath(path: string, put: Put): string {
  return path.replace(PLACE, (_, name: string, offset: number) =>
    put(name, (value) => (offset === 0 ? (toPath(String(value)) ?? "/") : encodePart(value))),
  );
}

/** Encodes a value as a part of a path. Half of a character has no encoding. */
function encodePart(value: ChainValue): string {
  return encodeURIComponent(String(value).toWellFormed());
}

/** Returns the path of a path or URL; undefined when it is none. */
function toPath(value: string): string | undefined {
  const path = /^https?:\/\/[^/?#]*([^#]*)/i.exec(value)?.[1] ?? value.replace(/#.*/, "");
  const whole = path === "" || path.startsWith("?") ? `/${path}` : path;
  return REQUEST_PATH.test(whole) ? whole : undefined;
}

/** Bytes that no header has. */
const NO_HEADER_VALUE = /[^\t\x20-\x7e]/;

/** What the conversation needs of a step. */
export interface ChainTurn {
  readonly name: string;
  readonly isOnce: boolean;
  readonly extracts: readonly Extract[];
  /** Returns the request with these values. */
  fill(put: Put): Payload;
  readonly users: ChainInputsPlan["users"];
  readonly showsValues: boolean;
}

/** Takes a value from a response. */
interface Extract {
  readonly name: string;
  /** Returns the value, or why there is none. */
  take(response: ReadResponse): ChainValue | NoValue;
}

/** Why a response has no such value. */
class NoValue {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** A response, parsed once. */
interface ReadResponse {
  /** Its JSON, or why there is none. */
  readonly data: () => unknown;
  readonly headers: readonly Header[];
}

/**
 * Returns how a step takes its values.
 * @param all the steps of its chain, which decide what a value must be
 * @throws UserError for a wrong expression
 */
export function extractsOf({ extract = {} }: ChainStepPlan, all: readonly ChainStepPlan[]): Extract[] {
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

function finderOf(from: ExtractPlan, name: string): Extract["take"] {
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

const decoder = new TextDecoder();

function readJson(bodies: readonly Uint8Array[]): unknown {
  const [body = new Uint8Array(0)] = bodies;
  if (bodies.length > 1) return new NoValue("the response is a stream of events, not JSON");
  if (body.length === 0) return new NoValue("the response has no body");
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    return new NoValue("the response is not JSON");
  }
}

/** What a user keeps from one chain to the next. */
interface ChainUser {
  readonly number: number;
  /** Values of steps that are sent once. */
  readonly kept: Map<string, ChainValue>;
  readonly done: Set<ChainTurn>;
}

/** Returns what starts chains of the users of a run, each of whom keeps the values of steps that are sent once. */
export function createChains(): (user: number) => Conversation {
  const users = new Map<number, ChainUser>();
  return (number) => {
    const user = users.get(number) ?? { number, kept: new Map(), done: new Set() };
    users.set(number, user);
    return new Chain(user);
  };
}

/** A server that refuses a token does so with this status. */
const UNAUTHORIZED = 401;

/** A chain of a user. */
class Chain implements Conversation {
  private readonly user: ChainUser;
  private readonly values = new Map<string, ChainValue>();
  /** The step under way. */
  private turn: ChainTurn | undefined;

  constructor(user: ChainUser) {
    this.user = user;
  }

  skips({ origin }: Payload): boolean {
    return this.user.done.has(origin as ChainTurn);
  }

  nextRequest({ origin }: Payload): Payload {
    const turn = origin as ChainTurn;
    this.turn = turn;
    const sent = turn.fill((name, write) => write(this.valueOf(name) ?? ""));
    if (sent.isFixed === true || turn.showsValues || this.secrets().length === 0) return sent;
    const shown = turn.fill((name, write) => {
      const value = this.valueOf(name) ?? "";
      return this.isSecret(name, value) ? hideText(write(value)) : write(value);
    });
    return { ...sent, shown: shown.bytes };
  }

  takeValues(bodies: readonly Uint8Array[], headers: readonly Header[]): string | undefined {
    const { turn } = this;
    if (turn === undefined) return undefined;
    let data: unknown;
    const response: ReadResponse = {
      data: () => {
        data ??= readJson(bodies);
        return data;
      },
      headers,
    };
    const reasons: string[] = [];
    for (const { name, take } of turn.extracts) {
      const found = take(response);
      if (found instanceof NoValue) reasons.push(`no value for {{${name}}}: ${found.reason}`);
      else (turn.isOnce ? this.user.kept : this.values).set(name, found);
    }
    if (!turn.showsValues) for (const body of bodies) hideIn(body, this.secrets());
    if (reasons.length > 0) return `step "${turn.name}": ${reasons.join("; ")}`;
    if (turn.isOnce) this.user.done.add(turn);
    return undefined;
  }

  addResponse(): undefined {
    return undefined;
  }

  /** A user whose token is refused needs another one. */
  endTurn(failure: Failure): Failure {
    const secrets = this.turn?.showsValues === true ? [] : this.secrets();
    if (failure.status === UNAUTHORIZED) {
      this.user.done.clear();
      this.user.kept.clear();
    }
    if (secrets.length === 0) return failure;
    const hide = (text: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
    const { message, response, excerpt } = failure;
    return {
      ...failure,
      message: hide(message),
      ...(response === undefined ? {} : { response: hide(response) }),
      ...(excerpt === undefined ? {} : { excerpt: hide(excerpt) }),
    };
  }

  private valueOf(name: string): ChainValue | undefined {
    return this.values.get(name) ?? this.user.kept.get(name) ?? this.given[name];
  }

  /** The values that the scenario gives the user. */
  private get given(): Readonly<Record<string, ChainValue>> {
    const users = this.turn?.users;
    return users?.[this.user.number % users.length] ?? {};
  }

  private isSecret(name: string, value: ChainValue): boolean {
    const isExtracted = this.values.has(name) || this.user.kept.has(name);
    return (isExtracted || isSecretName(name)) && canBeSecret(String(value));
  }

  /** Returns the secret values in all forms in which requests have them, the longest first. */
  private secrets(): string[] {
    const values = [...Object.entries(this.given), ...this.user.kept, ...this.values];
    const forms = values.flatMap(([name, value]) => {
      if (!this.isSecret(name, value)) return [];
      const text = String(value);
      return [text, JSON.stringify(text).slice(1, -1), encodePart(text)];
    });
    return [...new Set(forms)].sort((one, other) => other.length - one.length);
  }
}

/** Returns asterisks of the same size, so that sizes in exports are those of what was sent. */
function hideText(text: string): string {
  return "*".repeat(Buffer.byteLength(text));
}

const ASTERISK = 42;

/** Overwrites secrets in place. */
function hideIn(body: Uint8Array, secrets: readonly string[]): void {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  for (const secret of secrets) {
    const { length } = Buffer.from(secret);
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + length))
      bytes.fill(ASTERISK, at, at + length);
  }
}
