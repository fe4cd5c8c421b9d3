import * as v from "valibot";
import { parseLatency } from "../../mock/latency.ts";
import type { Schema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { HEADER_NAME } from "../../transport/request.ts";
import { nameSchema } from "../fields.ts";

/** A latency of the embedded target: constant, or drawn from a distribution: `"uniform:1ms:9ms"`, `"normal:5ms:1ms"` (mean and deviation), `"exponential:5ms"`. */
export type MockLatency =
  | Duration
  | `uniform:${Duration}:${Duration}`
  | `normal:${Duration}:${Duration}`
  | `exponential:${Duration}`;

/** Returns the schema of a latency of the embedded target. */
export function latencySchema(): Schema<MockLatency> {
  return v.custom<MockLatency>(
    (input) => typeof input === "string" && parseLatency(input) !== undefined,
    'must be a duration of 10 min at most such as "5 ms", or "uniform:1ms:9ms", "normal:5ms:1ms" or "exponential:5ms"',
  );
}

/** Returns the schema of optional headers. */
export function headersSchema() {
  const value = v.pipe(v.string("must be text"), v.regex(/^[^\r\n\0]*$/, "must not contain a line break"));
  return v.optional(
    v.record(
      v.pipe(v.string(), v.regex(HEADER_NAME, "is not a header's name")),
      value,
      "must be texts by the header's name",
    ),
  );
}

/** The parts of a validated target that all builders share. */
export interface TargetAddress {
  readonly kind: string;
  /** Empty: the run starts its own server. */
  readonly url: string;
  readonly moreUrls?: readonly string[] | undefined;
}

/** Returns the schemas of a target's addresses, as an object's entries. */
export function serverEntries() {
  return {
    url: nameSchema("host:port or a URL"),
    moreUrls: v.optional(v.array(nameSchema("host:port or a URL"))),
  };
}

/** Returns the schemas of the options `protocol` and `streaming`, as an object's entries. */
export function streamedProtocolEntries() {
  return {
    ...protocolEntry(),
    streaming: v.optional(v.boolean("must be true or false")),
  };
}

/** Returns the schema of the option `protocol`, as an object's entry. */
export function protocolEntry() {
  return { protocol: v.optional(v.picklist(["http", "grpc"], 'must be "http" or "grpc"')) };
}

/** Returns the addresses for a plan. */
export function toServerPlan({ url, moreUrls = [] }: TargetAddress): { url: string; moreUrls?: string[] } {
  return { url, ...(moreUrls.length > 0 ? { moreUrls: [...moreUrls] } : {}) };
}

/** The fields of a plan that options set, by the option's name: `{ version: "modelVersion" }`. */
type FieldNames<E> = Readonly<Record<string, keyof E & string>>;

/** Returns the schemas of options that a plan has as they are: those of its fields, where `"none"` is to leave the option out. */
export function fieldEntries<E extends v.ObjectEntries, const N extends FieldNames<E>>(fields: E, names: N) {
  const entries = Object.entries(names).map(([option, field]) => [option, v.optional(withoutNone(fields[field]))]);
  return Object.fromEntries(entries) as {
    readonly [K in keyof N]: v.OptionalSchema<Schema<Exclude<v.InferOutput<E[N[K]]>, "none">>, undefined>;
  };
}

/** Returns the fields of a plan that the given options set. */
export function fieldsOf<O extends object, const N extends Readonly<Record<string, string>>>(options: O, names: N) {
  const given = Object.entries(names).map(([option, field]) => [field, options[option as keyof O]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof N & keyof O as N[K]]?: Exclude<O[K], undefined>;
  };
}

function withoutNone(schema: v.GenericSchema | undefined): v.GenericSchema {
  const { options = [] } = schema as { readonly options?: readonly unknown[] };
  const named = options.filter((option) => option !== "none") as string[];
  if (schema === undefined || named.length === options.length) return schema ?? v.never();
  const message = `must be ${named.map((name) => `"${name}"`).join(" or ")}`;
  const [only = "", ...more] = named;
  return more.length === 0 ? v.literal(only, message) : v.picklist(named, message);
}

interface WithProtocol {
  readonly options: { readonly protocol?: "http" | "grpc" | undefined };
}

/** Returns the check that an option is given with gRPC only. A check of two options also runs for targets without an options object. */
export function needsGrpc<T extends WithProtocol>(option: string) {
  const isFine = ({ options }: { readonly options?: Readonly<Record<string, unknown>> | null }): boolean =>
    !options?.[option] || options["protocol"] === "grpc";
  const paths = [
    ["options", option],
    ["options", "protocol"],
  ];
  const check = v.partialCheck(paths as never, isFine as never, 'needs protocol: "grpc"');
  return v.forward(check as never, ["options", option] as never) as v.GenericPipeAction<T, T>;
}
