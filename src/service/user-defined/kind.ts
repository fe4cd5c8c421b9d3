import { ANY_RESPONSE } from "../../transport/response-check.ts";
import type { SampleResponse } from "../../transport/sink/sample-response.ts";
import { describeBytes, explainStatus } from "../explain-error.ts";
import { describeServer, registerServerSecrets, serverUrls } from "../server-target.ts";
import type { PayloadCodec, Service, ServiceKind } from "../service.ts";
import { createCustomReader, originOf } from "./reader.ts";
import { type CustomTargetPlan, customTargetSchema, wireOf } from "./target.ts";

/** Servers of any protocol over HTTP or gRPC calls that a scenario encodes and decodes itself. */

const DEFAULT_PORTS = { http: 8000, grpc: 8001 } as const;

export const customKind: ServiceKind<CustomTargetPlan> = {
  schema: customTargetSchema,
  address: (target) => {
    const { url, headers, protocol } = target;
    return { url, wire: wireOf(target), defaultPort: DEFAULT_PORTS[protocol], headers };
  },
  urls: serverUrls,
  describe: describeServer,
  subject: (target) => `${target.model} on ${describeServer(target)}`,
  throughputUnit: "requests/s",
  hasNoStatistics: true,
  takes: () => "payloads",
  hasShortRequests: true,
  exported: () => ({ serviceKind: "user-defined", endpoint: "" }),
  registerSecrets: registerServerSecrets,
  path: () => "",
  server: "a server of the scenario's own protocol",
  api: { name: "user-defined", label: "the scenario's own protocol", probes: [] },
  // Without queries, because only the scenario defines which requests are valid.
  open: async (target) => ({ setUp: async () => describeService(target), listModels: async () => [] }),
};

function describeService(target: CustomTargetPlan): Service {
  const { model } = target;
  const responseReader = createCustomReader(target);
  return {
    model: { name: model, version: "", maxBatchSize: 0, inputs: [], outputs: [] },
    codec,
    wire: wireOf(target),
    batchSize: 1,
    isSequence: false,
    isDecoupled: false,
    warnings: responseReader === undefined ? [] : [describeUserCode(target)],
    responseReader,
  };
}

function describeUserCode({ decode, check, extract = {} }: CustomTargetPlan): string {
  const names = Object.entries({ decode, check }).flatMap(([name, given]) => (given === undefined ? [] : [name]));
  const all = [...names, ...(Object.keys(extract).length > 0 ? ["extract"] : [])].join(", ");
  return `The scenario's own code (${all}) reads every response, after its latency is taken: its time is work of this client.`;
}

const SAMPLE: SampleResponse = { parts: [new Uint8Array(0)] };

const codec: PayloadCodec = {
  encode: (content) => originOf(content).request,
  // Responses are checked by the scenario's own functions, if it has any.
  responseChecks: () => () => ANY_RESPONSE,
  decode: (body) => ({ outputs: body, describe: () => describeBytes(body) }),
  explain: explainStatus,
  describe: ({ payload }) => describeBytes(payload),
  sampleResponse: () => SAMPLE,
};
