import protobuf from "protobufjs";
import { messageOf } from "../../plan/problem.ts";
import type { GrpcCallType } from "../../transport/request.ts";

/** A method with its types. */
export interface GrpcMethod {
  /** `package.Service/Method`. */
  readonly name: string;
  readonly callType: GrpcCallType;
  readonly requestType: protobuf.Type;
  readonly responseType: protobuf.Type;
}

/** Returns the names of all methods, sorted. */
export function methodNames(root: protobuf.Root): string[] {
  return [...servicesIn(root)]
    .flatMap((service) => service.methodsArray.map((method) => `${fullName(service)}/${method.name}`))
    .sort();
}

/** Returns all methods, sorted by name. @throws Error if a type is missing */
export function findMethods(root: protobuf.Root): GrpcMethod[] {
  return methodNames(root).map((name) => findMethod(root, name) as GrpcMethod);
}

/** Returns the method; undefined if the service has no method of that name. @throws Error if one of its types is missing */
export function findMethod(root: protobuf.Root, name: string): GrpcMethod | undefined {
  const [serviceName = "", methodName = ""] = name.split("/");
  for (const service of servicesIn(root)) {
    const method = fullName(service) === serviceName ? service.methods[methodName] : undefined;
    if (method === undefined) continue;
    method.resolve();
    return {
      name,
      callType: callTypeOf(method),
      requestType: method.resolvedRequestType as protobuf.Type,
      responseType: method.resolvedResponseType as protobuf.Type,
    };
  }
  return undefined;
}

/** Resolves all types, so that message types are complete. @throws Error that names a missing type */
export function resolveTypes(root: protobuf.Root): void {
  try {
    root.resolveAll();
  } catch (error) {
    throw new Error(`a type is missing: ${messageOf(error)}`);
  }
}

function* servicesIn(namespace: protobuf.NamespaceBase): Generator<protobuf.Service> {
  for (const part of namespace.nestedArray) {
    if (part instanceof protobuf.Service) yield part;
    else if (part instanceof protobuf.Namespace) yield* servicesIn(part);
  }
}

/** Returns the name without protobufjs's leading dot. */
export function fullName({ fullName: name }: protobuf.ReflectionObject): string {
  return name.startsWith(".") ? name.slice(1) : name;
}

function callTypeOf({ requestStream, responseStream }: protobuf.Method): GrpcCallType {
  if (requestStream === true) return responseStream === true ? "bidi-stream" : "client-stream";
  return responseStream === true ? "server-stream" : "unary";
}
