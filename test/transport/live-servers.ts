import { startStub } from "../servers/stub.ts";
import { startTriton } from "../servers/triton.ts";

/**
 * Servers that are none of ours. Awaited at the top of a test file, because hooks have little time under Bun. A server that cannot
 * start fails the file.
 */

/** A server that speaks KServe v2 over both protocols on 127.0.0.1. */
export interface LiveServer {
  readonly httpPort: number;
  readonly grpcPort: number;
  stop(): Promise<void>;
}

/** The Triton that `RAMPART_TEST_TRITON_HTTP` and `RAMPART_TEST_TRITON_GRPC` (host:port) name, or a new one. */
export function openTriton(): Promise<LiveServer> {
  return named("RAMPART_TEST_TRITON") ?? startTriton();
}

/** The Go stub that `RAMPART_TEST_STUB_HTTP` and `RAMPART_TEST_STUB_GRPC` name, or a new one. */
export function openStub(): Promise<LiveServer> {
  return named("RAMPART_TEST_STUB") ?? startStub();
}

function named(prefix: string): Promise<LiveServer> | undefined {
  const [http, grpc] = [process.env[`${prefix}_HTTP`], process.env[`${prefix}_GRPC`]];
  if (http === undefined || grpc === undefined || http === "" || grpc === "") return undefined;
  return Promise.resolve({ httpPort: portOf(http), grpcPort: portOf(grpc), stop: async () => {} });
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}
