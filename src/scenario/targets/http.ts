import * as v from "valibot";
import {
  FileBody,
  type FileOptions,
  type FormFields,
  MultipartBody,
  type RequestBody,
  type RequestOfScenario,
  toBodyPlan,
} from "../../inputs/request-bodies.ts";
import { type PlannedFunction, toFunctionPlan } from "../../plan/functions.ts";
import type { InputsPlan, TargetPlan } from "../../plan/plan.ts";
import { ONLY_ONE, type Problem, problem } from "../../plan/problem.ts";
import { atLeast, hinted, isWhole, numberSchema, type OutputOf } from "../../plan/schema.ts";
import { HTTP_METHODS, type HttpMethod, REQUEST_PATH, REQUEST_PATH_RULE } from "../../transport/request.ts";
import { refuseMore, refuseOthers } from "../arguments.ts";
import { countSchema, expressionSchema, strictOptions } from "../fields.ts";
import { serverForm } from "../form.ts";
import type { Inputs } from "../input-data.ts";
import { type ExtractOptions, extractField } from "./extract.ts";
import { splitUrls, type Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, formOf, inner, landed, landing, schemasOf } from "./target-field.ts";
import {
  apiKeyField,
  headersSchema,
  type KeyOptions,
  listHeaders,
  type SecuredOptions,
  serverEntries,
  type TargetAddress,
  tlsField,
  toServerPlan,
} from "./target-fields.ts";

/** Conditions for a successful response. A missing part is not checked. */
export interface SuccessRule {
  /** Statuses of successful responses. Default: 200 to 299. */
  readonly status?: number | readonly number[];
  /** JMESPath expression (jmespath.org) over a JSON response, which must be true: `"error == null"`. Default: none. */
  readonly where?: string;
}

/** Options of {@link http}. */
export interface HttpOptions<E extends string = string> extends SecuredOptions, KeyOptions, ExtractOptions<E> {
  /** Method of the requests. Default: `"POST"` with a body, `request` or `inputs`, otherwise `"GET"`. */
  readonly method?: HttpMethod;
  /** Path and query. Default: those in the URL, or `/`. */
  readonly path?: string;
  /** Headers of every request. They can also replace Rampart's own. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Body of the requests: text, bytes (`Uint8Array`), a list or an object, which is sent as JSON, {@link fileBody} or {@link multipart}. A
   * function of the request's number, from 0, makes a different body for each request. Default: none.
   */
  readonly body?: RequestBody | ((requestNumber: number) => RequestBody);
  /**
   * Makes each request by its number, from 0: `{ method, path, headers, body }`, or some of these. Omitted fields are taken from the
   * target. Default: all requests are the same.
   */
  readonly request?: (requestNumber: number) => RequestOfScenario;
  /**
   * Number of different requests that a function makes. They are made before the load begins, kept in memory, and sent in turn: request
   * number `n` is the function's `n % distinct`. Default: the number of requests of the load, up to 100,000; 1000 if the load has none.
   */
  readonly distinct?: number;
  /** Conditions for a successful response. Default: a status from 200 to 299. Redirects are not followed. */
  readonly success?: SuccessRule;
}

/**
 * Any HTTP server, such as a model server with its own REST API.
 * @param url `host:port` (default port: 80), or an `http://` or `https://` URL, with path and query. With several addresses, requests go to
 * each one in turn.
 * @example
 * http("localhost:8080/predict", {
 *   body: (n) => ({ text: `question ${n}` }),
 *   success: { where: "error == null" },
 *   extract: { tokens: "usage.total_tokens" },
 * })
 */
export function http<const E extends string = never>(
  url: string | readonly string[],
  options: HttpOptions<E> = {},
): Target<"http", "plain", `extracted: ${E}`> {
  refuseMore("http(url, options)", arguments);
  return { kind: "plain-http", ...splitUrls(url), options: options as { readonly protocol?: "http" } };
}

/**
 * The bytes of a file, as a body or in a form. A relative path starts at the scenario's folder.
 * @example
 * http("localhost:8080/predict", { body: fileBody("./cat.jpg") })
 */
export function fileBody(path: string, options: FileOptions = {}): FileBody {
  const call = "fileBody(path, options)";
  refuseMore(call, arguments);
  refuseOthers(call, options, ["type", "name"]);
  return new FileBody(path, options);
}

/**
 * A form of type multipart/form-data. A list sends a field several times.
 * @example
 * multipart({ model: "resnet", image: fileBody("./cat.jpg") })
 */
export function multipart(fields: FormFields): MultipartBody {
  refuseMore("multipart(fields)", arguments);
  return new MultipartBody(fields);
}

const BODY_RULE =
  "must be text, bytes, an object or a list, fileBody(…), multipart(…), or a function that returns one of them";

type HttpTarget = OutputOf<typeof httpSchema>;

function httpFields() {
  const isFunction = (input: unknown): boolean => typeof input === "function";
  const isBody = (input: unknown): boolean => isFunction(input) || toBodyPlan(input, "/") !== undefined;
  const body = v.custom<HttpOptions["body"] & {}>(isBody, BODY_RULE);
  const request = v.custom<HttpOptions["request"] & {}>(isFunction, "must be a function that returns a request");
  return {
    method: inner(v.optional(v.picklist(HTTP_METHODS, `must be one of ${HTTP_METHODS.join(", ")}`))),
    path: inner(v.optional(v.pipe(v.string("must be text"), v.regex(REQUEST_PATH, REQUEST_PATH_RULE)))),
    headers: landing(requestHeadersSchema(), "headers", listHeaders),
    body: inner(v.optional(body), { part: "body" }),
    request: inner(v.optional(request), { isCodeOnly: true }),
    distinct: inner(v.optional(countSchema()), { isCodeOnly: true }),
    success: inner(v.optional(strictOptions(schemasOf(successFields())))),
    extract: extractField(),
    apiKeyEnv: apiKeyField(),
    tls: tlsField(),
  } satisfies FieldsFor<HttpOptions>;
}

function successFields() {
  const status = v.pipe(
    numberSchema("must be a status such as 200"),
    isWhole(),
    atLeast(200),
    v.maxValue(599, "must be 599 or less"),
  );
  const list = v.pipe(v.array(status), v.minLength(1, "must have a status"));
  return {
    status: landing(
      v.optional(v.union([status, list], "must be statuses from 200 to 599")),
      "successStatuses",
      (statuses) => (statuses === undefined ? undefined : [statuses].flat()),
    ),
    where: landing(v.optional(expressionSchema()), "successWhere"),
  } satisfies FieldsFor<SuccessRule>;
}

function httpSchema() {
  const options = strictOptions(schemasOf(httpFields()));
  return v.object({
    kind: v.literal("plain-http"),
    ...serverEntries('http("localhost:8080/predict", { body: { text: "hello" } })'),
    options,
  });
}

export const httpBuilder: TargetBuilder<HttpTarget> = {
  form: serverForm("http", formOf(httpFields())),
  takes: "payloads",
  schema: httpSchema,
  toPlan: toHttpPlan,
  inputs: toRequestsPlan,
  check: checkHttp,
};

/** An address without its path, and the path with its query; empty without a path. */
interface SplitUrl {
  readonly server: string;
  readonly path: string;
}

/** Splits an address at the beginning of its path or query. */
function splitPath(url: string): SplitUrl {
  const [, server = url, rest = ""] = /^((?:[a-z]+:\/\/)?[^/?#]*)(.*)$/is.exec(url.trim()) ?? [];
  return { server, path: rest.startsWith("?") ? `/${rest}` : rest };
}

/** Returns the addresses and the path. A path in the address is a prefix of the path in the options. */
function addressesOf({ url, moreUrls = [], options }: HttpTarget): {
  readonly servers: TargetAddress;
  readonly path: string;
} {
  const split = [url, ...moreUrls].map(splitPath);
  const [first = { server: url, path: "" }, ...others] = split;
  if (options.path !== undefined) return { servers: { kind: "plain-http", url, moreUrls }, path: options.path };
  const servers = { kind: "plain-http", url: first.server, moreUrls: others.map(({ server }) => server) };
  return { servers, path: first.path === "" ? "/" : first.path };
}

function toHttpPlan(target: HttpTarget, folder: string, inputs: Inputs | undefined): TargetPlan {
  const { options } = target;
  const { method, body, request, success = {} } = options;
  const { servers, path } = addressesOf(target);
  const hasBody = body !== undefined || request !== undefined || inputs !== undefined;
  return {
    kind: "plain-http",
    ...toServerPlan(servers),
    protocol: "http",
    isStreaming: false,
    batchSize: 1,
    method: method ?? (hasBody ? "POST" : "GET"),
    path,
    ...landed(httpFields(), options, folder),
    ...landed(successFields(), success, folder),
  };
}

const DEFAULT_DISTINCT = 1000;
const MAX_DEFAULT_DISTINCT = 100_000;

function toRequestsPlan({ options }: HttpTarget, folder: string, requestCount: number | undefined): InputsPlan {
  const { body, request, distinct } = options;
  const make = request ?? (typeof body === "function" ? body : undefined);
  if (make === undefined) {
    const plan = body === undefined ? undefined : toBodyPlan(body, folder);
    return { kind: "http-requests", requests: [plan === undefined ? {} : { body: plan }] };
  }
  const returns = request === undefined ? "body" : "request";
  const count = distinct ?? Math.min(requestCount ?? DEFAULT_DISTINCT, MAX_DEFAULT_DISTINCT);
  const by = toFunctionPlan(`target.${returns}`, make as PlannedFunction);
  return { kind: "http-requests", requests: [], made: { by, returns, folder, count } };
}

function checkHttp(target: HttpTarget, inputs: Inputs | undefined): Problem[] {
  const { url, moreUrls = [], options } = target;
  const { method, path, body, request, distinct, success, extract } = options;
  const problems: Problem[] = [];
  const refuse = (name: string, message: string, hint: string, value?: string): void => {
    problems.push(problem("conflict", `target.${name}`, message, hint, value));
  };
  const paths = [url, ...moreUrls].map((one) => splitPath(one).path);
  const inUrl = paths[0] ?? "";
  if (path !== undefined && inUrl.includes("?"))
    refuse("path", "the address already has a query", "Give the whole path in one of them.", path);
  if (path === undefined && !REQUEST_PATH.test(inUrl || "/"))
    refuse("url", `its path ${REQUEST_PATH_RULE}`, "Correct the address.", url);
  if (path === undefined && paths.slice(1).some((other) => other !== "" && other !== inUrl))
    refuse("url", "all servers must have the same path", "Give it with path.");
  if (body !== undefined && request !== undefined)
    refuse("request", "body is given too", "Return the body from request.");
  for (const name of ["body", "request"] as const)
    if (options[name] !== undefined && inputs !== undefined) refuse(name, "the scenario has inputs too", ONLY_ONE);
  if (distinct !== undefined && request === undefined && typeof body !== "function")
    refuse("distinct", "needs a function that makes the requests", "Leave it out.", String(distinct));
  const reads = success?.where !== undefined || Object.keys(extract ?? {}).length > 0;
  if (method === "HEAD" && reads)
    refuse("method", "responses to HEAD have no body for success.where and extract", "Use GET.", method);
  return problems;
}

function requestHeadersSchema() {
  return v.pipe(
    headersSchema(),
    v.check(
      hinted((headers) => findFraming(headers) === undefined, "Leave it out."),
      ({ input }) => `the client itself sets ${findFraming(input)}`,
    ),
  );
}

function findFraming(headers: Readonly<Record<string, unknown>> = {}): string | undefined {
  return Object.keys(headers).find((name) => FRAMING.has(name.toLowerCase()));
}

/** Headers that frame a message. */
const FRAMING: ReadonlySet<string> = new Set([
  "content-length",
  "transfer-encoding",
  "upgrade",
  "expect",
  "trailer",
  "te",
]);
