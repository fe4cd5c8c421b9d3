import protobuf from "protobufjs";
import "protobufjs/ext/descriptor/index.js";
import { findMethods } from "../../service/dynamic-grpc/methods.ts";
import {
  REFLECTION_REQUEST,
  REFLECTION_RESPONSE,
  REFLECTION_SERVICES,
  reflectionPathOf,
} from "../../service/dynamic-grpc/reflection-messages.ts";
import { decodeMessage, encodeMessage, type ProtoObject } from "../../service/protobuf/message.ts";
import type { MockMethod } from "./service.ts";

/** gRPC server reflection, versions 1 and 1 alpha, for parsed `.proto` files. */

const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;

/** A field as protobufjs describes it. */
interface FieldDescriptor {
  readonly name: string;
  typeName?: string;
}

interface MessageDescriptor {
  name: string;
  readonly field: readonly FieldDescriptor[];
  readonly nestedType: readonly MessageDescriptor[];
}

interface FileDescriptor {
  readonly name: string;
  readonly package: string;
  dependency: string[];
  readonly messageType: readonly MessageDescriptor[];
}

/** protobufjs adds these methods when its descriptor extension is loaded; its types lack them. */
interface WithDescriptors {
  toDescriptor(edition: string): { readonly file: readonly FileDescriptor[] };
}

/** Returns the methods that describe all services of the files, by path. */
export function reflectionMethods(root: protobuf.Root): Record<string, MockMethod> {
  const describe = describeServices(root);
  return Object.fromEntries(REFLECTION_SERVICES.map((service) => [reflectionPathOf(service), describe]));
}

function describeServices(root: protobuf.Root): MockMethod {
  const files = describeFiles(root);
  const services = [...new Set(findMethods(root).map(({ name }) => name.slice(0, name.indexOf("/"))))];
  const all = { file_descriptor_response: { file_descriptor_proto: [...files.values()] } };
  const answer = (request: ProtoObject): ProtoObject => {
    const { list_services: list, file_containing_symbol: symbol, file_by_filename: name } = request;
    if (list !== undefined)
      return {
        list_services_response: { service: [...services, ...REFLECTION_SERVICES].map((one) => ({ name: one })) },
      };
    if (symbol !== undefined) return root.lookup(String(symbol)) === null ? missing(String(symbol)) : all;
    if (name === undefined) return { error_response: { error_code: UNIMPLEMENTED, error_message: "not supported" } };
    const file = files.get(String(name));
    return file === undefined ? missing(String(name)) : { file_descriptor_response: { file_descriptor_proto: [file] } };
  };
  return async function* (messages) {
    for await (const bytes of messages) {
      const request = decodeMessage(REFLECTION_REQUEST, bytes);
      yield encodeMessage(REFLECTION_RESPONSE, { original_request: request, ...answer(request) });
    }
  };
}

function missing(what: string): ProtoObject {
  return { error_response: { error_code: NOT_FOUND, error_message: `${what} is not known` } };
}

/** Returns encoded `FileDescriptorProto` messages by name, one for each package. */
function describeFiles(root: protobuf.Root): Map<string, Uint8Array> {
  const { file: files } = (root as unknown as WithDescriptors).toDescriptor("proto3");
  const fileType = fileDescriptorType();
  const byPackage = new Map(files.map((file) => [file.package, file]));
  for (const file of files) {
    const used = new Set<string>();
    for (const described of file.messageType) completeTypes(root, file.package, described, used);
    file.dependency = [...used].flatMap((name) => {
      const other = packageOf(name, byPackage);
      return other === undefined || other === file ? [] : [other.name];
    });
    file.dependency = [...new Set(file.dependency)];
  }
  return new Map(files.map((file) => [file.name, fileType.encode(file as typeof file & protobuf.Message).finish()]));
}

function fileDescriptorType(): protobuf.Type {
  return (protobuf as typeof protobuf & { readonly descriptor: { readonly FileDescriptorProto: protobuf.Type } })
    .descriptor.FileDescriptorProto;
}

/** Completes the names of fields' types, which protobufjs leaves relative, and collects them. */
function completeTypes(root: protobuf.Root, scope: string, described: MessageDescriptor, used: Set<string>): void {
  const path = scope === "" ? described.name : `${scope}.${described.name}`;
  const type = root.lookupType(path);
  for (const field of described.field) {
    const { resolvedType, map } = type.fields[field.name] ?? { resolvedType: null, map: false };
    // Only descriptors contain the entry types of maps.
    const entry = map ? described.nestedType.find(({ name }) => name === field.typeName) : undefined;
    if (resolvedType !== null) {
      const named = entry === undefined ? field : entry.field[1];
      if (named !== undefined) named.typeName = resolvedType.fullName;
      used.add(resolvedType.fullName);
    }
    if (entry === undefined) continue;
    // The name that protoc uses.
    entry.name = `${entry.name}Entry`;
    field.typeName = `.${path}.${entry.name}`;
  }
  for (const nested of described.nestedType)
    if (type.get(nested.name) !== null) completeTypes(root, path, nested, used);
}

function packageOf(typeName: string, byPackage: ReadonlyMap<string, FileDescriptor>): FileDescriptor | undefined {
  for (let name = typeName.slice(1); name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const file = byPackage.get(name);
    if (file !== undefined) return file;
  }
  return byPackage.get("");
}
