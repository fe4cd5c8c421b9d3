import { startOpenAiStub } from "../servers/openai-stub.ts";
import { startSimpleEcho } from "../servers/simple-echo.ts";
import { startTfServing } from "../servers/tfserving.ts";
import type { Ports } from "./runner.ts";

/** The servers of service kinds whose transcripts run with each test: `server` of a command.json, and how to start it. */

/** A running server. */
export interface KindServer {
  readonly ports: Pick<Ports, "http" | "grpc" | "metrics">;
  stop(): Promise<void>;
}

export const KIND_SERVERS: Readonly<Record<string, () => Promise<KindServer>>> = {
  openai: async () => {
    const { port, stop } = await startOpenAiStub();
    return { ports: { http: port, grpc: 0, metrics: 0 }, stop };
  },
  "dynamic gRPC": async () => {
    const { port, stop } = await startSimpleEcho();
    return { ports: { http: 0, grpc: port, metrics: 0 }, stop };
  },
  tfserving: async () => {
    const { port, stop } = await startTfServing();
    return { ports: { http: 0, grpc: port, metrics: 0 }, stop };
  },
};
