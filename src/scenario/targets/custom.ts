import * as v from "valibot";
import type { CustomInputsPlan } from "../../inputs/kinds/user-defined.ts";
import { type PlannedFunction, toFunctionPlan } from "../../plan/functions.ts";
import type { InputsPlan, TargetPlan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { OutputOf } from "../../plan/schema.ts";
import type {
  CustomGrpcRequest,
  CustomHttpRequest,
  CustomResponse,
  MakeInputs,
} from "../../service/user-defined/functions.ts";
import { wireOf } from "../../service/user-defined/target.ts";
import { refuseMore, withFields } from "../arguments.ts";
import { countSchema, nameSchema, strictOptions } from "../fields.ts";
import type { Inputs } from "../input-data.ts";
import { type ExtractedValue, extractFunctionsField } from "./extract.ts";
import { type Protocol, splitUrls, type Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, inner, landed, landing, schemasOf } from "./target-field.ts";
import {
  type HeaderOptions,
  headersField,
  protocolField,
  serverEntries,
  streamingField,
  tlsField,
  toServerPlan,
} from "./target-fields.ts";

/** The requests of a protocol. */
export type CustomRequestOf<P extends Protocol> = P extends "grpc" ? CustomGrpcRequest : CustomHttpRequest;

/**
 * The argument of {@link defineTarget}. `I` is the type of inputs, `O` that of decoded responses, `E` are the names of extracted
 * values.
 */
export interface CustomTargetDefinition<I, O, P extends Protocol = "http", E extends string = string> {
  /** Name of the protocol, for reports and exports. */
  readonly name: string;
  /** Protocol of requests: HTTP/1.1, or gRPC calls. Default: `"http"`. */
  readonly protocol?: P;
  /**
   * gRPC only: whether a call may have several messages each way. `encode` returns them as `messages`, and a response has all received ones
   * as `parts`. Default: false; calls are unary.
   */
  readonly streaming?: P extends "grpc" ? boolean : false;
  /**
   * Encodes the request of an input. Called once for each input, before the first request; the bytes are sent as often as the load needs
   * them. Therefore a request cannot depend on a response, and the load cannot be `sessions(…)`. An error ends the run. May be
   * asynchronous.
   */
  readonly encode: (input: I, index: number) => CustomRequestOf<P> | Promise<CustomRequestOf<P>>;
  /**
   * Decodes a response, for `check` and `extract`; without these it is not called. An error is a failed request. Default: the
   * undecoded response.
   */
  readonly decode?: (response: CustomResponse) => O;
  /**
   * Returns the reason why a response is wrong, or false; the request has then failed. Called for every response with a successful
   * status. Default: no check.
   */
  readonly check?: (output: O, input: I) => string | boolean | undefined;
  /**
   * Values to extract from every response, by name: functions, alone or as `{ value, unit, better }`. The report has statistics of numbers,
   * and counts of all other values. `extracted(name)` asserts them. Default: none.
   */
  readonly extract?: Readonly<
    Record<E, ((output: O, input: I) => unknown) | ExtractedValue<(output: O, input: I) => unknown>>
  >;
}

/** Options of the builder that {@link defineTarget} returns. */
export interface CustomTargetOptions<I> extends HeaderOptions {
  /** The inputs: a list of at most 10,000, or a function that yields them. They repeat if the load needs more. */
  readonly inputs: readonly I[] | (() => Iterable<I> | AsyncIterable<I>);
  /** Maximum number of inputs to take from a function. Default: 1000. */
  readonly count?: number;
}

/**
 * Defines a target with a custom protocol over HTTP or gRPC. Returns a builder that takes one or several addresses, `host:port` (default
 * ports: 8000 for HTTP, 8001 for gRPC) or a URL, and options.
 * @example
 * const scores = defineTarget({
 *   name: "scores",
 *   encode: (input: { text: string }) => ({ path: "/score", body: input }),
 *   decode: (response) => response.json() as { score: number },
 *   check: ({ score }) => score >= 0 || "the score is negative",
 *   extract: { score: ({ score }) => score },
 * });
 * scores("localhost:8000", { inputs: [{ text: "good" }, { text: "bad" }] });
 */
export function defineTarget<I, O = CustomResponse, const P extends Protocol = "http", const E extends string = never>(
  definition: CustomTargetDefinition<I, O, P, E>,
): (url: string | readonly string[], options: CustomTargetOptions<I>) => Target<P, "plain", `extracted: ${E}`> {
  refuseMore("defineTarget(definition)", arguments);
  return (url, options, ...more: readonly never[]) => {
    refuseMore("a target of defineTarget(url, options)", [url, options, ...more]);
    const all = withFields(options, definition) as { readonly protocol?: P };
    return { kind: "user-defined", ...splitUrls(url), options: all };
  };
}

const DEFAULT_COUNT = 1000;

export const customBuilder: TargetBuilder<CustomTarget> = {
  form: { name: "defineTarget", isCodeOnly: true },
  call: "a target of defineTarget(…)",
  takes: "payloads",
  schema: customSchema,
  toPlan: toCustomPlan,
  inputs: toCustomInputs,
  check: checkOwn,
};

type CustomTarget = OutputOf<typeof customSchema>;

/** All options that a target can have. */
type AnyOptions = CustomTargetDefinition<unknown, unknown, Protocol> & CustomTargetOptions<unknown>;

function customFields() {
  const fn = v.custom<PlannedFunction>((input) => typeof input === "function", "must be a function");
  const inputs = v.union(
    [v.pipe(v.array(v.unknown()), v.nonEmpty("must have an input")), fn as v.CustomSchema<MakeInputs<unknown>, string>],
    "must be a list with an input, or a function that yields inputs",
  );
  const register = (name: string) => (given: PlannedFunction | undefined) =>
    given && toFunctionPlan(`target.${name}`, given);
  return {
    name: landing(nameSchema("a name"), "model"),
    protocol: protocolField(),
    streaming: streamingField(),
    encode: inner(fn),
    decode: landing(v.optional(fn), "decode", register("decode")),
    check: landing(v.optional(fn), "check", register("check")),
    extract: extractFunctionsField<PlannedFunction>(),
    inputs: inner(inputs),
    count: inner(v.optional(countSchema())),
    headers: headersField(),
    tls: tlsField(),
    // Functions in a plan have no types.
  } satisfies FieldsFor<Record<keyof AnyOptions, unknown>>;
}

function customSchema() {
  const options = strictOptions(schemasOf(customFields()));
  return v.object({ kind: v.literal("user-defined"), ...serverEntries('NAME("localhost:8000", { … })'), options });
}

function toCustomPlan({ options, ...server }: CustomTarget, folder: string): TargetPlan {
  return {
    kind: "user-defined",
    ...toServerPlan(server),
    batchSize: 1,
    ...landed(customFields(), options, folder),
  };
}

function toCustomInputs({ options }: CustomTarget): InputsPlan {
  const { inputs, encode, protocol = "http", streaming: isStreaming = false } = options;
  const isList = typeof inputs !== "function";
  return {
    kind: "user-defined",
    values: toFunctionPlan("target.inputs", isList ? () => inputs : inputs),
    encode: toFunctionPlan("target.encode", encode),
    protocol: wireOf({ protocol, isStreaming }) as CustomInputsPlan["protocol"],
    count: isList ? inputs.length : (options.count ?? DEFAULT_COUNT),
  };
}

function checkOwn({ options }: CustomTarget, inputs: Inputs | undefined): Problem[] {
  const problems: Problem[] = [];
  const refuse = (path: string, message: string, value: string): void => {
    problems.push(problem("conflict", path, message, "Leave it out.", value));
  };
  if (inputs !== undefined) refuse("inputs", "this target has its inputs in its own options", inputs.kind);
  if (options.count !== undefined && typeof options.inputs !== "function")
    refuse("target.count", "needs a function as inputs", String(options.count));
  if (options.streaming === true && options.protocol !== "grpc")
    refuse("target.streaming", 'needs protocol: "grpc"', "true");
  return problems;
}
