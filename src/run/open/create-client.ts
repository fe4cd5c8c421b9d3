import type { ClientPlan } from "../../plan/plan.ts";
import type { Wire } from "../../service/service.ts";
import type { CreateClient } from "../../transport/client.ts";
import { Http1Client } from "../../transport/http1/client.ts";
import { createServerReuse } from "../../transport/http1/connection-reuse.ts";
import type { Endpoint } from "../../transport/request.ts";
import type { ReadStreamed } from "../../transport/streamed-responses.ts";

/**
 * Loads the client that a plan requests. Libraries are loaded on demand, and so is gRPC: it takes 1.5 ms of a start over
 * HTTP.
 * @param readStreamed reads the messages of a service's streams; required for `grpc-stream`
 */
export async function loadClient(
  kind: ClientPlan["kind"],
  wire: Wire,
  endpoint: Endpoint,
  readStreamed?: ReadStreamed,
): Promise<CreateClient> {
  const isCall = wire === "grpc-call";
  if (kind === "undici") {
    const { UndiciClient } = await import("../../transport/general/undici-client.ts");
    return (options) => new UndiciClient(endpoint, options);
  }
  if (kind === "grpc-js") {
    const { createGrpcJs } = await import("../../transport/general/create-grpc-js.ts");
    return createGrpcJs(isCall, endpoint, readStreamed);
  }
  if (wire === "http") {
    const reuse = createServerReuse();
    return (options) => new Http1Client(endpoint, options, reuse);
  }
  const { createGrpc } = await import("../../transport/create-grpc.ts");
  return createGrpc(isCall, endpoint, readStreamed);
}
