import type { Server } from "node:http";
import type { Http2Server, Http2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { SettingPath } from "../plan/messages.ts";
import type { MockPlan } from "../plan/mock.ts";
import { messageOf, userError } from "../plan/problem.ts";
import { runtimeName } from "../runtime/runtime.ts";
import { createGrpcServer } from "./grpc-server.ts";
import { createHttpServer } from "./http-server.ts";
import { MockLlm } from "./llm.ts";
import { MockModel } from "./model.ts";
import type { MockHandlers } from "./services/service.ts";
import { createMockTokens } from "./tokens.ts";

/** Address of the mock. Port 0 selects a free port. */
export interface MockAddress {
  readonly host: string;
  readonly httpPort: number;
  readonly grpcPort: number;
}

/** A listening mock. */
export interface MockServer extends AsyncDisposable {
  readonly httpPort: number;
  readonly grpcPort: number;
  stop(): Promise<void>;
}

/** Free loopback ports. */
export const LOOPBACK: MockAddress = { host: "127.0.0.1", httpPort: 0, grpcPort: 0 };

/**
 * Starts a KServe v2 server over HTTP and gRPC, and an OpenAI server over HTTP.
 * @param services additional services on the same ports. Default: none
 * @throws UserError when a port is in use or the tokenizer cannot be used; RunError when the tokenizer cannot be fetched
 */
export async function startMock(
  plan: MockPlan,
  address: MockAddress,
  services: readonly MockHandlers[] = [],
): Promise<MockServer> {
  const model = new MockModel(plan);
  const http = createHttpServer(model, new MockLlm(plan, await createMockTokens(plan.llm?.tokenizer)), services);
  const grpc = createGrpcServer(model, Object.assign({}, ...services.map(({ methods }) => methods)));
  const sessions = new Set<Http2Session>();
  grpc.on("session", (session) => {
    // Deno 2.9 aborts the process when it replies to a client's GOAWAY.
    if (runtimeName === "deno") session.goaway = () => {};
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  const httpPort = await listen(http, address.host, address.httpPort, "mock.httpPort");
  const grpcPort = await listen(grpc, address.host, address.grpcPort, "mock.grpcPort");
  const stop = async (): Promise<void> => {
    for (const session of sessions) session.destroy();
    http.closeAllConnections?.();
    await Promise.all([close(http), close(grpc)]);
  };
  return { httpPort, grpcPort, stop, [Symbol.asyncDispose]: stop };
}

function listen(server: Server | Http2Server, host: string, port: number, setting: SettingPath): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      reject(
        userError(
          "invalid-value",
          { setting },
          `cannot listen on ${host}:${port}: ${messageOf(error)}`,
          "Choose another port, or 0 for a free one.",
        ),
      );
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function close(server: Server | Http2Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
