import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import type { MockHandlers } from "../../../src/mock/services/service.ts";
import { DEFAULT_MOCK, type MockPlan } from "../../../src/plan/mock.ts";
import { startGrpcRecorder } from "../../run/grpc-recorder.ts";
import { type KserveOptions, KserveServer } from "../../run/kserve-server.ts";
import { startMetricsStub } from "../../servers/metrics-stub.ts";
import { createMockServices } from "../../servers/mock-services.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { findDeadPort } from "../dead-port.ts";
import { INPUT_FILES } from "./input-files.ts";

/** What the command lines of the statements name in braces: servers that write down what they get, and files. */

/** Servers that run, and a folder of input files. */
export interface Places {
  /** What stands for a name in braces. */
  readonly values: Readonly<Record<string, string>>;
  /** A line for each request since the last call: `METHOD PATH HEADERS BODY`; of gRPC the message as JSON. */
  takeSeen(): string[];
  stop(): Promise<void>;
}

const PLAN: MockPlan = { ...DEFAULT_MOCK, llm: { ...DEFAULT_MOCK.llm, osl: 4 } };
const INT32 = { datatype: "INT32", dims: [1] };
const LATENCY_MS = 1;

/** Models of servers over HTTP, by the name of their place. Each answers after a millisecond. */
const MODELS: Readonly<Record<string, KserveOptions>> = {
  simple: {},
  text: { inputs: [{ name: "TEXT", datatype: "BYTES", dims: [2] }], outputs: [{ name: "OUT", ...INT32 }] },
  image: { inputs: [{ name: "IMAGE", datatype: "FP32", dims: [3, -1, -1] }], outputs: [{ name: "OUT", ...INT32 }] },
  grid: {
    maxBatchSize: 0,
    inputs: [{ name: "INPUT", datatype: "INT32", dims: [-1, -1] }],
    outputs: [{ name: "OUT", ...INT32 }],
  },
  sequence: {
    isSequence: true,
    inputs: [{ name: "INPUT", datatype: "BYTES", dims: [1] }],
    outputs: [{ name: "OUT", ...INT32 }],
  },
};

/** The text with its places in braces filled; others stay. */
export function fillPlaces(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([a-zA-Z]+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Starts everything. @param folder an empty one for the input files */
export async function openPlaces(folder: string): Promise<Places> {
  const lines: string[] = [];
  const proto = join(folder, "simple.proto");
  writeFileSync(proto, INPUT_FILES["simple.proto"] ?? "");
  const recorder: MockHandlers = {
    describe: () => "",
    answerHttp: ({ method, path, headers, body }) => {
      lines.push(`${method} ${path} ${JSON.stringify(headers)} ${body.toString()}`);
      return false;
    },
  };
  const services = [recorder, ...(await createMockServices(PLAN, proto))];
  const mock = await startMock(PLAN, LOOPBACK, services);
  for (const [name, text] of Object.entries(INPUT_FILES)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(
      join(folder, name),
      fillPlaces(text, { dir: folder, tiny: TINY, http: `127.0.0.1:${mock.httpPort}` }),
    );
  }
  const servers = new Map<string, KserveServer>();
  const onInfer = (): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), LATENCY_MS));
  for (const [name, options] of Object.entries(MODELS))
    servers.set(name, await new KserveServer({ ...options, onInfer }).start());
  const grpc = await startGrpcRecorder();
  const metrics = await startMetricsStub();
  const takeKserve = ({ requests }: KserveServer): string[] =>
    requests
      .splice(0)
      .map(
        ({ method, path, headers, body }) =>
          `${method} ${path} ${JSON.stringify(headers)} ${Buffer.from(body).toString()}`,
      );
  const takeGrpc = (): string[] => {
    const infers = grpc.infers().map((infer) => `CALL Infer ${formatMessage(infer)}`);
    return [...grpc.calls.splice(0).map(({ path, headers }) => `gRPC ${path} ${JSON.stringify(headers)}`), ...infers];
  };
  return {
    values: {
      ...Object.fromEntries(Array.from(servers, ([name, { url }]) => [name, url])),
      http: `127.0.0.1:${mock.httpPort}`,
      grpc: `127.0.0.1:${mock.grpcPort}`,
      grpcSimple: grpc.url,
      gpus: `127.0.0.1:${metrics.port}/metrics`,
      dead: `127.0.0.1:${await findDeadPort()}`,
      dir: folder,
      tiny: TINY,
    },
    takeSeen: () => [...lines.splice(0), ...[...servers.values()].flatMap(takeKserve), ...takeGrpc()],
    stop: async () => {
      await Promise.all([
        mock.stop(),
        grpc[Symbol.asyncDispose](),
        metrics.stop(),
        ...[...servers.values()].map((server) => server.stop()),
      ]);
    },
  };
}

function formatMessage(message: object): string {
  return JSON.stringify(message, (_, value: unknown) => {
    if (typeof value === "bigint") return Number(value);
    return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
  });
}
