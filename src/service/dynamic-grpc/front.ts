import type protobuf from "protobufjs";
import { nameHint } from "../../plan/nearest-name.ts";
import { defined } from "../../plan/objects.ts";
import { messageOf, problem, RunError, UserError } from "../../plan/problem.ts";
import { listNames } from "../../plan/show-value.ts";
import { createResponseReader } from "../response-reader.ts";
import {
  type Ask,
  type ListedModel,
  type MessageForm,
  type ModelInfo,
  modelNamed,
  SEPARATE_REQUESTS,
  type Service,
  type ServiceFront,
} from "../service.ts";
import { createGrpcCallCodec } from "./codec.ts";
import { encodeMessageJson } from "./json-to-message.ts";
import { decodeToJson } from "./message-to-json.ts";
import { findMethod, findMethods, type GrpcMethod, methodNames } from "./methods.ts";
import { readProtoFiles } from "./proto-files.ts";
import { openReflection, type Reflection } from "./reflection.ts";
import type { GrpcTargetPlan } from "./target.ts";

/** Creates the front of a method. @throws UserError when a `.proto` file is not valid */
export async function createGrpcFront(target: GrpcTargetPlan): Promise<ServiceFront> {
  const { protoFiles, importPaths } = target;
  const root = protoFiles.length === 0 ? undefined : readProtoFiles(protoFiles, importPaths);
  return {
    setUp: async (ask) => {
      const known = root === undefined ? await reflect(target, ask) : { method: inFiles(target, root), warnings: [] };
      return describeService(target, known.method, known.warnings);
    },
    listModels: (ask) => listMethods(root, ask),
  };
}

function describeService(target: GrpcTargetPlan, method: GrpcMethod | undefined, warnings: readonly string[]): Service {
  // Without a description, calls may have any number of messages each way, like in perf_analyzer.
  const { callType = "bidi-stream", requestType, responseType } = method ?? {};
  const { method: name, pacing } = target;
  const hasStream = callType === "client-stream" || callType === "bidi-stream";
  if (pacing === "after-response" && callType !== "bidi-stream") {
    const message = `${name} is ${DESCRIBED[callType]}, so its messages cannot wait for responses`;
    throw new UserError([problem("conflict", { setting: "target.pacing" }, message, "Leave it out.")]);
  }
  const hasManyResponses = callType === "server-stream" || callType === "bidi-stream";
  const responseReader = createResponseReader(target, (bodies) => readResponse(responseType, bodies, hasManyResponses));
  if (responseReader !== undefined && responseType === undefined) {
    throw new RunError("unsupported", { say: "unknown-responses", method: name }, { say: "describe-method" });
  }
  return {
    model: toModel(target.model, toForm(hasStream, requestType)),
    codec: createGrpcCallCodec({ method: name, callType, pacing, responseType }),
    wire: "grpc-call",
    ...SEPARATE_REQUESTS,
    hasManyResponses,
    ...defined({ responseReader }),
    warnings,
  };
}

/**
 * Returns the response as plain data, or the list of responses if the method streams them. @throws Error if one is not of the type
 */
function readResponse(type: protobuf.Type | undefined, bodies: readonly Uint8Array[], isList: boolean): unknown {
  const responses = type === undefined ? [] : bodies.map((body) => decodeToJson(type, body));
  return isList ? responses : responses[0];
}

const DESCRIBED = {
  unary: "a unary method",
  "client-stream": "a method with one response",
  "server-stream": "a method with one request message",
  "bidi-stream": "a method with streams each way",
} as const;

function toForm(isStream: boolean, type: protobuf.Type | undefined): MessageForm {
  return { isStream, ...(type === undefined ? {} : { encode: (value) => encodeMessageJson(type, value) }) };
}

function toModel(name: string, messages?: MessageForm): ModelInfo {
  return { ...modelNamed(name), ...defined({ messages }) };
}

/** @throws UserError if the files lack the method */
function inFiles({ method }: GrpcTargetPlan, root: protobuf.Root): GrpcMethod {
  return findMethod(root, method) ?? refuseMethod(method, methodNames(root), "the .proto files have");
}

/** @throws UserError if the server lacks the method @throws RunError if it cannot be reached */
async function reflect(
  { method: name }: GrpcTargetPlan,
  ask: Ask,
): Promise<{ readonly method: GrpcMethod | undefined; readonly warnings: readonly string[] }> {
  const unknown = (warnings: readonly string[]) => ({ method: undefined, warnings });
  const opened = await openReflection(ask).catch((error: unknown) => {
    // A server may protect its reflection; its method may still be open.
    if (error instanceof RunError && error.code === "refused" && error.facts.failure?.kind === "grpc")
      return messageOf(error);
    throw error;
  });
  if (opened === undefined) return unknown([]);
  if (typeof opened === "string") return unknown([`the server's reflection is not used: ${opened}.`]);
  const [serviceName = ""] = name.split("/");
  if (!opened.services.includes(serviceName)) return refuseMethod(name, await namesOf(opened), "the server has");
  let root: protobuf.Root;
  try {
    root = await opened.describe([serviceName]);
  } catch (error) {
    if (error instanceof RunError) throw error;
    return unknown([`the server's reflection is not used: ${messageOf(error)}.`]);
  }
  return { method: findMethod(root, name) ?? refuseMethod(name, methodNames(root), "the service has"), warnings: [] };
}

/** Returns the names of a server's methods, or of its services if it does not describe them. */
function namesOf({ services, describe }: Reflection): Promise<readonly string[]> {
  return describe(services).then(methodNames, () => services);
}

/** @throws UserError with the names that exist */
function refuseMethod(name: string, names: readonly string[], whoHas: string): never {
  const known = names.length === 0 ? `${whoHas} no methods` : `${whoHas} ${listNames(names)}`;
  const hint = nameHint(name, names, "Give one of them.");
  throw new UserError([
    problem("unknown-name", { setting: "target.method" }, `there is no such method: ${known}`, hint, name),
  ]);
}

/** Returns all methods that can be measured, as a list of models. */
async function listMethods(root: protobuf.Root | undefined, ask: Ask): Promise<ListedModel[]> {
  if (root !== undefined) return findMethods(root).map(({ name }) => ({ ...toModel(name), refusal: "" }));
  const opened = await openReflection(ask);
  if (opened === undefined)
    throw new RunError("unsupported", "the server has no reflection, so its methods are not known", "Type the method.");
  const described = await opened.describe(opened.services);
  return methodNames(described).map((name) => ({ ...toModel(name), refusal: "" }));
}
