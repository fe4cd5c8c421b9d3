import { message } from "../protobuf/message.ts";

/**
 * The messages of gRPC server reflection (grpc/reflection/v1/reflection.proto), for the client and the mock. To find a mistake that both
 * share, the client is also tested with the servers of gRPC's libraries.
 */

/** Both versions have the same messages. Some servers have only the older version. */
export const REFLECTION_SERVICES = [
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
] as const;

/** Returns the path of the reflection method of a service of {@link REFLECTION_SERVICES}. */
export function reflectionPathOf(service: string): string {
  return `/${service}/ServerReflectionInfo`;
}

/** `ServerReflectionRequest`. */
export const REFLECTION_REQUEST = message(() => ({
  host: [1, "string"],
  file_by_filename: [3, "string"],
  file_containing_symbol: [4, "string"],
  list_services: [7, "string"],
}));

const NAMED = message(() => ({ name: [1, "string"] }));

/** `ServerReflectionResponse`. */
export const REFLECTION_RESPONSE = message(() => ({
  original_request: [2, REFLECTION_REQUEST],
  file_descriptor_response: [4, message(() => ({ file_descriptor_proto: [1, "bytes", "repeated"] }))],
  list_services_response: [6, message(() => ({ service: [1, NAMED, "repeated"] }))],
  error_response: [7, message(() => ({ error_code: [1, "int32"], error_message: [2, "string"] }))],
}));
