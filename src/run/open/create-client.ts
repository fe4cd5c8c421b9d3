import type { ClientPlan } from "../../plan/plan.ts";
import type { Wire } from "../../service/service.ts";
import type { ClientOptions, LoadClient } from "../../transport/client.ts";
import { Http1Client } from "../../transport/http1/client.ts";
import { createServerReuse } from "../../transport/http1/reuse-trust.ts";
import type { Endpoint } from "../../transport/request.ts";
import type { ReadStreamed } from "../../transport/streamed-responses.ts";

/** Creates clients of one kind for one server. */
export type CreateClient = (options: ClientOptions) => LoadClient;

/**
 * Loads the client that a plan requests; all except the HTTP client on first use.
 * @param readStreamed reads the messages of a service's streams; required for `grpc-stream`
 */
export async function loadClient(
  kind: ClientPlan["kind"],
  wire: Wire,
  endpoint: Endpoint,
  readStreamed?: ReadStreamed,
): Promise<CreateClient> {
  if (kind === "undici") {
    const { UndiciClient } = await import("../../transport/general/undici-client.ts");
    return (options) => new UndiciClient(endpoint, options);
  }
  if (kind === "grpc-js" && wire === "grpc-call") {
    const { GrpcJsCallClient } = await import("../../transport/general/grpc-js-call-client.ts");
    return (options) => new GrpcJsCallClient(endpoint, options);
  }
  if (kind === "grpc-js") {
    const { GrpcJsClient } = await import("../../transport/general/grpc-js-client.ts");
    return (options) => new GrpcJsClient(endpoint, options, readStreamed);
  }
  if (wire === "http") {
    const reuse = createServerReuse();
    return (options) => new Http1Client(endpoint, options, reuse);
  }
  if (wire === "grpc-call") {
    const { GrpcCallClient } = await import("../../transport/grpc/call-client.ts");
    return (options) => new GrpcCallClient(endpoint, options);
  }
  if (readStreamed !== undefined) {
    const { GrpcStreamClient } = await import("../../transport/grpc/stream-client.ts");
    return (options) => new GrpcStreamClient(endpoint, options, readStreamed);
  }
  const { GrpcUnaryClient } = await import("../../transport/grpc/unary-client.ts");
  return (options) => new GrpcUnaryClient(endpoint, options);
}
