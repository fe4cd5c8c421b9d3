import type { ClientPlan } from "../../plan/plan.ts";
import type { Wire } from "../../service/service.ts";
import type { ClientOptions, LoadClient } from "../../transport/client.ts";
import { Http1Client } from "../../transport/http1/client.ts";
import type { Endpoint, WireRequest } from "../../transport/request.ts";
import type { ReadStreamed } from "../../transport/streamed-responses.ts";

/** Makes clients of one kind for one server. */
export type CreateClient = (options: ClientOptions) => LoadClient;

/**
 * Loads the client a plan asks for; all but the HTTP client are loaded when asked for.
 * @param readStreamed reads the messages of a service's streams; needed for `grpc-stream`
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
  if (kind === "grpc-js") {
    const { GrpcJsClient } = await import("../../transport/general/grpc-js-client.ts");
    return (options) => new GrpcJsClient(endpoint, options, readStreamed);
  }
  if (wire === "http") return (options) => new Http1Client(endpoint, options);
  if (readStreamed !== undefined) {
    const { GrpcStreamClient } = await import("../../transport/grpc/stream-client.ts");
    return (options) => new GrpcStreamClient(endpoint, options, readStreamed);
  }
  const { GrpcUnaryClient } = await import("../../transport/grpc/unary-client.ts");
  return (options) => new GrpcUnaryClient(endpoint, options);
}

/** Tells of each request before the client sends it. */
export function traceSends(client: LoadClient, onSend: (request: WireRequest) => void): LoadClient {
  const send = client.send.bind(client);
  client.send = (slot, request, stamp) => {
    onSend(withStamp(request, stamp));
    send(slot, request, stamp);
  };
  return client;
}

/** The request with its stamp in the place left for it. */
function withStamp(request: WireRequest, stamp: Uint8Array | undefined): WireRequest {
  if (stamp === undefined || request.stampPlace === undefined) return request;
  const payload = request.payload.slice();
  payload.set(stamp, request.stampPlace.offset);
  return { ...request, payload };
}
