import type { TestCase } from "../junit.ts";
import { installConformance } from "./conformance.ts";
import { startLlama } from "./llama.ts";
import { installPythonClients } from "./python-clients.ts";
import { startStub } from "./stub.ts";
import { startTriton } from "./triton.ts";

/** Servers that a whole run of tests shares. */

type Env = Record<string, string>;

/** A server that runs. */
interface SharedServer {
  /** Tells tests where it is. */
  readonly env: Env;
  stop(): Promise<void>;
}

/** How to start a server. */
export interface ServerKind {
  readonly name: string;
  start(): Promise<SharedServer>;
}

/** Triton for some of the tests, with the models of that name; default: all. */
export function tritonFor(tests: string, only?: readonly string[]): ServerKind {
  return {
    name: `Triton for ${tests}`,
    start: async () => {
      const { httpPort, grpcPort, metricsPort, stop } = await startTriton(only === undefined ? {} : { only });
      const metrics = { RAMPART_TEST_TRITON_METRICS: `127.0.0.1:${metricsPort}` };
      return { env: { ...addressesOf("TRITON", httpPort, grpcPort), ...metrics }, stop };
    },
  };
}

/** llama.cpp's server with a small model. */
export const llama: ServerKind = {
  name: "llama.cpp's server",
  start: async () => {
    const { port, stop } = await startLlama();
    return { env: { RAMPART_TEST_LLAMA: `127.0.0.1:${port}` }, stop };
  },
};

/** The bench's server. */
export const goStub: ServerKind = {
  name: "the Go stub",
  start: async () => {
    // One after the other, and of the same versions: Go then compiles what both are made of once.
    await installConformance().catch(() => undefined);
    const { httpPort, grpcPort, stop } = await startStub();
    return { env: addressesOf("STUB", httpPort, grpcPort), stop };
  },
};

/** The runner of the gRPC conformance suite: no server, but installed as those are, before tests with time limits need it. */
export const conformance: ServerKind = {
  name: "the runner of the gRPC conformance suite",
  start: async () => ({ env: { RAMPART_TEST_CONFORMANCE: await installConformance() }, stop: () => Promise.resolve() }),
};

/** NVIDIA's clients of perf_analyzer: no server either, but their installation takes long. */
export const pythonClients: ServerKind = {
  name: "the installation of NVIDIA's clients",
  start: async () => {
    await installPythonClients();
    return { env: {}, stop: () => Promise.resolve() };
  },
};

function addressesOf(name: string, httpPort: number, grpcPort: number): Env {
  return {
    [`RAMPART_TEST_${name}_HTTP`]: `127.0.0.1:${httpPort}`,
    [`RAMPART_TEST_${name}_GRPC`]: `127.0.0.1:${grpcPort}`,
  };
}

/** Starts servers beside each other, each of which is a test: one that does not start is a failed one. Gives the variables of those that run. */
export async function startServers(
  kinds: readonly ServerKind[],
): Promise<{ env: Env; cases: TestCase[]; stop(): Promise<void> }> {
  const started: SharedServer[] = [];
  const startOne = async ({ name, start }: ServerKind): Promise<TestCase> => {
    const startMs = Date.now();
    let failure: string | undefined;
    try {
      started.push(await start());
      console.log(`${name} is ready after ${((Date.now() - startMs) / 1000).toFixed(1)} s`);
    } catch (error) {
      failure = String(error);
    }
    return { name: `${name} starts`, failure, isSkipped: false };
  };
  const cases = await Promise.all(kinds.map(startOne));
  return {
    env: Object.assign({}, ...started.map(({ env }) => env)) as Env,
    cases,
    stop: async () => {
      await Promise.all(started.map(({ stop }) => stop()));
    },
  };
}
