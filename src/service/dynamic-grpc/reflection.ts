import protobuf from "protobufjs";
import { NO_BYTES } from "../../runtime/bytes.ts";
import "protobufjs/ext/descriptor/index.js";
import { messageOf } from "../../plan/problem.ts";
import { MissingCallError } from "../missing-call.ts";
import { decodeMessage, encodeMessage, formatText, message, type ProtoObject } from "../protobuf/message.ts";
import type { Ask, Query } from "../service.ts";
import { resolveTypes } from "./methods.ts";
import {
  REFLECTION_REQUEST,
  REFLECTION_RESPONSE,
  REFLECTION_SERVICES,
  reflectionPathOf,
} from "./reflection-messages.ts";

/** gRPC server reflection (grpc/reflection/v1/reflection.proto): a server describes its services. */

const OWN_SERVICE = /^grpc\.reflection\./;

/** The fields of `google.protobuf.FileDescriptorProto` that relate files to each other. */
const FILE_HEAD = message(() => ({ name: [1, "string"], dependency: [3, "string", "repeated"] }));

/** A server's description of itself. */
export interface Reflection {
  /** Names of its services, without those of reflection itself, sorted. */
  readonly services: readonly string[];
  /** Returns the types of services and of everything that they use. @throws Error if the description is not complete */
  describe(services: readonly string[]): Promise<protobuf.Root>;
}

/** Asks a server for its services. Undefined if it has no reflection. @throws RunError for other failures */
export async function openReflection(ask: Ask): Promise<Reflection | undefined> {
  for (const service of REFLECTION_SERVICES) {
    try {
      const query = toQuery(service, { list_services: "*" });
      const { list_services_response: list } = (await ask(query, "the server's services")) as ProtoObject;
      const names = (((list ?? {}) as ProtoObject)["service"] ?? []) as ProtoObject[];
      const services = names.map(({ name }) => String(name)).filter((name) => !OWN_SERVICE.test(name));
      return { services: services.sort(), describe: (wanted) => describe(service, wanted, ask) };
    } catch (error) {
      if (!(error instanceof MissingCallError)) throw error;
    }
  }
  return undefined;
}

async function describe(service: string, wanted: readonly string[], ask: Ask): Promise<protobuf.Root> {
  const files = new Map<string, Uint8Array>();
  for (const symbol of wanted) await addFiles(files, service, { file_containing_symbol: symbol }, symbol, ask);
  for (let name = missingFile(files); name !== undefined; name = missingFile(files)) {
    const before = files.size;
    await addFiles(files, service, { file_by_filename: name }, name, ask);
    if (files.size === before) throw new Error(`the server does not describe ${name}`);
  }
  return toRoot([...files.values()]);
}

async function addFiles(
  files: Map<string, Uint8Array>,
  service: string,
  request: ProtoObject,
  what: string,
  ask: Ask,
): Promise<void> {
  const response = (await ask(toQuery(service, request), `the description of ${what}`)) as ProtoObject;
  const error = response["error_response"] as ProtoObject | undefined;
  if (error !== undefined) throw new Error(`the server does not describe ${what}: ${String(error["error_message"])}`);
  const { file_descriptor_proto: found = [] } = (response["file_descriptor_response"] ?? {}) as ProtoObject;
  for (const bytes of found as Uint8Array[])
    files.set(String(decodeMessage(FILE_HEAD, bytes)["name"] ?? ""), bytes.slice());
}

/** Returns a file that another one needs and that is missing. */
function missingFile(files: ReadonlyMap<string, Uint8Array>): string | undefined {
  for (const bytes of files.values())
    for (const name of (decodeMessage(FILE_HEAD, bytes)["dependency"] ?? []) as string[])
      if (!files.has(name)) return name;
  return undefined;
}

function toQuery(service: string, request: ProtoObject): Query {
  return {
    request: {
      path: reflectionPathOf(service),
      method: "POST",
      headers: [],
      payload: encodeMessage(REFLECTION_REQUEST, request),
    },
    read: (body) => decodeMessage(REFLECTION_RESPONSE, body),
    format: (body) => formatText(REFLECTION_RESPONSE, decodeMessage(REFLECTION_RESPONSE, body)),
  };
}

/** protobufjs adds this function when its extension for descriptors is loaded; its type declarations lack it. */
type WithDescriptors = { fromDescriptor(descriptor: Uint8Array): protobuf.Root };

const SET = message(() => ({ file: [1, "bytes", "repeated"] }));

/** Returns the types of encoded `FileDescriptorProto` messages. @throws Error if they are not complete */
function toRoot(files: readonly Uint8Array[]): protobuf.Root {
  let root: protobuf.Root;
  try {
    const set = files.length === 0 ? NO_BYTES : encodeMessage(SET, { file: [...files] });
    root = (protobuf.Root as typeof protobuf.Root & WithDescriptors).fromDescriptor(set);
  } catch (error) {
    throw new Error(`the server's description cannot be read: ${messageOf(error)}`);
  }
  resolveTypes(root);
  return root;
}
