import { resolve } from "node:path";
import * as v from "valibot";
import { isObject } from "../../plan/objects.ts";
import type { InputsPlan, TargetPlan } from "../../plan/plan.ts";
import { listSchema, type OutputOf, type Schema } from "../../plan/schema.ts";
import { tensorEntries } from "../../service/target-schemas.ts";
import { METHOD_NAME } from "../../transport/request.ts";
import { refuseMore } from "../arguments.ts";
import { expressionSchema, nameSchema, strictOptions } from "../fields.ts";
import { serverForm } from "../form.ts";
import { type ExtractOptions, extractField } from "./extract.ts";
import { splitUrls, type Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, inner, landed, landing, planFields, schemasOf } from "./target-field.ts";
import { type HeaderOptions, headersField, serverEntries, tlsField, toServerPlan } from "./target-fields.ts";

/**
 * A message: an object in protobuf's JSON mapping (fields by their name in the `.proto` file, 64-bit integers as numbers, bigints or text,
 * `Uint8Array` for bytes), or an encoded message.
 */
export type GrpcMessage = Readonly<Record<string, unknown>> | Uint8Array;

/** Options of {@link grpc}. Requests are given by one of `message`, `messages`, `calls`, `file` and `generator`. */
export interface GrpcOptions<E extends string = string> extends HeaderOptions, ExtractOptions<E> {
  /** The method to call: `"package.Service/Method"`. */
  readonly method: `${string}/${string}`;
  /** The message of each call. */
  readonly message?: GrpcMessage;
  /** The messages of each call, for a method that takes a stream. */
  readonly messages?: readonly GrpcMessage[];
  /** Different calls, sent in turn: each is the message of a call, or a list of its messages. */
  readonly calls?: readonly (GrpcMessage | readonly GrpcMessage[])[];
  /** JSON file of calls, in the format of perf_analyzer's service kind dynamic_grpc: `{"data": [{"messages": [{…}]}]}`. */
  readonly file?: string;
  /** Command that writes encoded messages, each after its length (4 bytes in this machine's order). It runs in the scenario's folder. */
  readonly generator?: string;
  /** The `.proto` file or files with the method. A relative path starts at the scenario's folder. Default: the server's reflection. */
  readonly proto?: string | readonly string[];
  /** Folders that are searched first for `.proto` files and their imports. Default: the folder of each file, and those above it. */
  readonly importPaths?: readonly string[];
  /**
   * Time at which the messages of a call are sent: all at once, or each after the response to the previous one. Default:
   * `"at-once"`.
   */
  readonly pacing?: "at-once" | "after-response";
  /**
   * Condition for a successful call, besides status OK: `where` is a JMESPath expression (jmespath.org) over the response, which must be
   * true: ``"ok && score > `0.5`"``; for a method with a stream of responses, an expression over the list of responses: `"[-1].ok"`.
   * Default: nothing.
   */
  readonly success?: { readonly where: string };
  /** Compresses messages that become shorter. Default: none. */
  readonly compression?: "gzip" | "deflate";
}

/**
 * A method of any gRPC service: unary, or with streams of messages. A request is one call.
 * @param url `host:port` (default port: 8001), or an `http://` or `https://` URL. With several addresses, calls go to
 * each one in turn.
 * @example
 * grpc("localhost:50051", { method: "demo.v1.Text/Echo", message: { text: "hello" }, success: { where: "ok" } })
 */
export function grpc<const E extends string = never>(
  url: string | readonly string[],
  options: GrpcOptions<E>,
): Target<"grpc", "messages", `extracted: ${E}`> {
  refuseMore("grpc(url, options)", arguments);
  return { kind: "grpc", ...splitUrls(url), options: options as { readonly protocol?: "grpc" } };
}

const CONTENTS = ["message", "messages", "calls", "file", "generator"] as const;

export const grpcBuilder: TargetBuilder<GrpcTarget> = {
  form: serverForm("grpc"),
  protocol: "grpc",
  takes: "messages",
  schema: grpcSchema,
  toPlan: toGrpcPlan,
  inputs: toMessagesPlan,
};

type GrpcTarget = OutputOf<typeof grpcSchema>;

/** Returns the options for the requests. */
function callFields() {
  const message = v.custom<GrpcMessage>(isObject, "must be a message: an object, or a Uint8Array");
  const messages = listSchema(message, "messages");
  const calls = listSchema(v.union([message, messages], "must be a message, or a list of messages"), "calls");
  return {
    message: inner(v.optional(message)),
    messages: inner(v.optional(messages)),
    calls: inner(v.optional(v.pipe(calls, v.minLength(1, "must have a call")))),
    file: inner(v.optional(nameSchema("a file"))),
    generator: inner(v.optional(nameSchema("a command"))),
  } satisfies FieldsFor<Pick<GrpcOptions, (typeof CONTENTS)[number]>>;
}

function grpcFields() {
  const file = nameSchema("a file");
  const inFolder = (paths: readonly string[], folder: string): string[] => paths.map((path) => resolve(folder, path));
  return {
    method: landing(methodSchema(), "method"),
    proto: landing(
      v.optional(v.union([file, v.array(file)], "must be a file or a list of files")),
      "protoFiles",
      (proto = [], folder) => inFolder([proto].flat(), folder),
    ),
    importPaths: landing(
      v.optional(listSchema(nameSchema("a folder"), "folders")),
      "importPaths",
      (paths = [], folder) => inFolder(paths, folder),
    ),
    pacing: landing(
      v.optional(v.picklist(["at-once", "after-response"], 'must be "at-once" or "after-response"')),
      "pacing",
    ),
    success: landing(
      v.optional(strictOptions({ where: expressionSchema() })),
      "successWhere",
      (success) => success?.where,
    ),
    extract: extractField(),
    headers: headersField(),
    ...planFields(tensorEntries(), { compression: "compression" }),
    tls: tlsField(),
  } satisfies FieldsFor<Omit<GrpcOptions, (typeof CONTENTS)[number]>>;
}

function methodSchema(): Schema<GrpcOptions["method"]> {
  return v.custom<GrpcOptions["method"]>(
    (input) => typeof input === "string" && METHOD_NAME.test(input),
    ({ input }) => (typeof input === "string" ? 'must be "package.Service/Method"' : "must be text"),
  );
}

function grpcSchema() {
  const checked = v.pipe(
    strictOptions(schemasOf({ ...callFields(), ...grpcFields() })),
    v.check(
      (given) => CONTENTS.filter((name) => given[name] !== undefined).length === 1,
      `must have one of ${CONTENTS.join(", ")}`,
    ),
  );
  return v.object({
    kind: v.literal("grpc"),
    ...serverEntries('grpc("localhost:50051", { method: "demo.v1.Text/Echo", message: { text: "hello" } })'),
    options: checked,
  });
}

/** Converts the target to its form in a plan. @param folder base of relative paths */
function toGrpcPlan({ options, ...server }: GrpcTarget, folder: string): TargetPlan {
  return {
    kind: "dynamic-grpc",
    ...toServerPlan(server),
    protocol: "grpc",
    model: options.method,
    batchSize: 1,
    isStreaming: false,
    compression: "none",
    ...landed(grpcFields(), options, folder),
  };
}

/** Converts the calls to inputs of a plan, whose entries are like those of a file. */
function toMessagesPlan({ options }: GrpcTarget, folder: string): InputsPlan {
  const { message, messages, calls, file, generator } = options;
  const entries = (calls ?? []).map((call) => toEntry(Array.isArray(call) ? call : [call]));
  if (message !== undefined) entries.push(toEntry([message]));
  if (messages !== undefined) entries.push(toEntry(messages));
  if (generator !== undefined) entries.push({ message_generator: generator });
  const messageFiles = file === undefined ? [] : [resolve(folder, file)];
  return { kind: "messages", messageFiles, entries, folder, isInOrder: true };
}

/** Converts a message to plain data for a plan: bytes as Base64, and integers above 2^53 as text. */
function toEntry(messages: readonly GrpcMessage[]): Record<string, unknown> {
  const isEncoded = messages.length > 0 && messages.every((message) => message instanceof Uint8Array);
  const plain = messages.map(toPlain);
  if (isEncoded) return { message_bytes: plain };
  const [message] = plain;
  return plain.length === 1 ? { message } : { messages: plain };
}

function toPlain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toPlain(part)]));
}
