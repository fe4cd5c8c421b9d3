import type { CreateClient } from "./client.ts";
import { GrpcCallClient } from "./grpc/call-client.ts";
import { GrpcStreamClient } from "./grpc/stream-client.ts";
import { GrpcUnaryClient } from "./grpc/unary-client.ts";
import type { Endpoint } from "./request.ts";
import type { ReadStreamed } from "./streamed-responses.ts";

/**
 * Returns a factory for gRPC clients: for calls of any method, for streams, or for unary requests.
 * @param readStreamed reads the messages of a service's streams. Absent: the service has no streams
 */
export function createGrpc(isCall: boolean, endpoint: Endpoint, readStreamed?: ReadStreamed): CreateClient {
  if (isCall) return (options) => new GrpcCallClient(endpoint, options);
  if (readStreamed === undefined) return (options) => new GrpcUnaryClient(endpoint, options);
  return (options) => new GrpcStreamClient(endpoint, options, readStreamed);
}
