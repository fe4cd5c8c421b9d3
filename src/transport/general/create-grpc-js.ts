import type { CreateClient } from "../client.ts";
import type { Endpoint } from "../request.ts";
import type { ReadStreamed } from "../streamed-responses.ts";
import { GrpcJsCallClient } from "./grpc-js-call-client.ts";
import { GrpcJsClient } from "./grpc-js-client.ts";

/** Returns a factory for grpc-js clients: for calls of any method, or for unary requests and streams. @param readStreamed for streams */
export function createGrpcJs(isCall: boolean, endpoint: Endpoint, readStreamed?: ReadStreamed): CreateClient {
  if (isCall) return (options) => new GrpcJsCallClient(endpoint, options);
  return (options) => new GrpcJsClient(endpoint, options, readStreamed);
}
