import * as v from "valibot";
import { parseLatency } from "../../mock/latency.ts";
import { durationHint } from "../../plan/nearest-name.ts";
import { flagSchema, hinted, recordSchema, type Schema, withHint } from "../../plan/schema.ts";
import { registerSecret } from "../../plan/secrets.ts";
import type { Duration } from "../../plan/units.ts";
import { HEADER_NAME } from "../../transport/request.ts";
import { isSet, nameSchema } from "../fields.ts";
import { CODE_HINT } from "../renamed/hints.ts";
import { landing } from "./target-field.ts";
import { type TlsOptions, tlsSchema, toTlsPlan } from "./tls.ts";

/** A latency of the embedded target: constant, or drawn from a distribution: `"uniform:1ms:9ms"`, `"normal:5ms:1ms"` (mean and deviation), `"exponential:5ms"`. */
export type MockLatency =
  | Duration
  | `uniform:${Duration}:${Duration}`
  | `normal:${Duration}:${Duration}`
  | `exponential:${Duration}`;

/** Returns the schema of a latency of the embedded target. */
export function latencySchema(): Schema<MockLatency> {
  const latency = v.custom<MockLatency>(
    (input) => typeof input === "string" && parseLatency(input) !== undefined,
    'must be a duration of 10 min at most such as "5 ms", or "uniform:1ms:9ms", "normal:5ms:1ms" or "exponential:5ms"',
  );
  return withHint(latency, (given) => durationHint(given, ""));
}

/** Returns the schema of optional headers. */
export function headersSchema() {
  const value = v.pipe(v.string("must be text"), v.regex(/^[^\r\n\0]*$/, "must not contain a line break"), isSet());
  return v.optional(
    recordSchema(
      v.pipe(v.string(), v.regex(HEADER_NAME, "must be a header's name, such as X-Team")),
      value,
      "must be texts by the header's name",
    ),
  );
}

/** The parts of a validated target that all builders share. */
export interface TargetAddress {
  readonly kind: string;
  /** Address; empty: the run starts its own server. */
  readonly url: string;
  readonly moreUrls?: readonly string[] | undefined;
}

/** Returns the schemas of a target's addresses, as an object's entries. @param example example call of its builder */
export function serverEntries(example: string) {
  return {
    url: nameSchema("host:port or a URL", (given) => {
      if (given === undefined) return `${CODE_HINT}${example}.`;
      if (typeof given === "number") return `Write "localhost:${given}".`;
      return typeof given === "object" ? `Write the address first: ${example}.` : undefined;
    }),
    moreUrls: v.optional(v.array(nameSchema("host:port or a URL"))),
  };
}

/** Returns the addresses for a plan. */
export function toServerPlan({ url, moreUrls = [] }: TargetAddress): { url: string; moreUrls?: string[] } {
  return { url, ...(moreUrls.length > 0 ? { moreUrls: [...moreUrls] } : {}) };
}

/** Options of any target with an address. */
export interface SecuredOptions {
  /** Whether to use TLS; `true` trusts the authorities of the runtime. Default: false, or true for `https://`. */
  readonly tls?: boolean | TlsOptions;
}

/** Options of a server of any kind. */
export interface HeaderOptions extends SecuredOptions {
  /** HTTP headers or gRPC metadata of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of a server with models. */
export interface ModelOptions extends HeaderOptions {
  /** Name of the model. */
  readonly model: string;
}

/** Options of a server that requires a key. */
export interface KeyOptions {
  /**
   * Environment variable with an API key, sent as `Authorization: Bearer …`. Plans and reports do not contain the key. Default:
   * none.
   */
  readonly apiKeyEnv?: string;
}

/** Returns the option in {@link SecuredOptions}. */
export function tlsField() {
  return landing(v.optional(tlsSchema()), "tls", toTlsPlan);
}

/** Returns the option `headers`. */
export function headersField() {
  return landing(headersSchema(), "headers", listHeaders);
}

/** Returns the headers of a plan. */
export function listHeaders(headers: Readonly<Record<string, string>> = {}): [name: string, value: string][] {
  return Object.entries(headers);
}

/** Returns the option `model`. */
export function modelField() {
  return landing(nameSchema("a model's name"), "model");
}

/** Returns the option in {@link KeyOptions}. */
export function apiKeyField() {
  const isName = hinted((given: string) => {
    const isRight = /^[A-Za-z_][A-Za-z0-9_]*$/.test(given);
    // The value may be the key itself, which errors must not show.
    if (!isRight) registerSecret(given);
    return isRight;
  }, 'Put the key into a variable of the environment, and write its name: apiKeyEnv: "LLM_KEY".');
  const name = v.pipe(v.string("must be text"), v.check(isName, "must be the name of a variable"));
  return landing(v.optional(name), "apiKeyEnv");
}

/** Returns the option `streaming`. */
export function streamingField() {
  return landing(v.optional(flagSchema()), "isStreaming", (isStreaming = false) => isStreaming);
}

/** Returns the option `protocol`. */
export function protocolField() {
  const schema = v.optional(v.picklist(["http", "grpc"], 'must be "http" or "grpc"'));
  return landing(schema, "protocol", (protocol = "http") => protocol);
}

interface WithProtocol {
  readonly options: { readonly protocol?: "http" | "grpc" | undefined };
}

/** Returns the check that an option is given only with gRPC. */
export function needsGrpc<T extends WithProtocol>(option: string) {
  const hint = 'Add protocol: "grpc", or leave it out.';
  return needsOther<T>(option, "protocol", (protocol) => protocol === "grpc", ['needs protocol: "grpc"', hint]);
}

/**
 * Returns the check that an option is given only with some values of another one. A check of two options also runs for targets without an
 * options object.
 */
export function needsOther<T>(
  option: string,
  other: string,
  isRight: (value: unknown) => boolean,
  [message, hint]: [message: string, hint?: string],
) {
  const isFine = ({ options }: { readonly options?: Readonly<Record<string, unknown>> | null }): boolean =>
    !options?.[option] || isRight(options[other]);
  const paths = [
    ["options", option],
    ["options", other],
  ];
  const check = v.partialCheck(paths as never, (hint === undefined ? isFine : hinted(isFine, hint)) as never, message);
  return v.forward(check as never, ["options", option] as never) as v.GenericPipeAction<T, T>;
}
