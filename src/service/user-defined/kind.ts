import { ANY_ANSWER } from "../../transport/answer-check.ts";
import type { SampleAnswer } from "../../transport/sink/sample-answer.ts";
import { describeBytes, explainStatus } from "../explain-error.ts";
import { describeServer, registerServerSecrets, serverUrls } from "../server-target.ts";
import type { PayloadCodec, Service, ServiceKind } from "../service.ts";
import { createOwnReader, originOf } from "./reader.ts";
import { type OwnTargetPlan, ownTargetSchema, wireOf } from "./target.ts";

/** Servers of any protocol over HTTP or gRPC calls that a scenario encodes and decodes itself. */

const DEFAULT_PORTS = { http: 8000, grpc: 8001 } as const;

export const ownKind: ServiceKind<OwnTargetPlan> = {
  schema: ownTargetSchema,
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

function describeService(target: OwnTargetPlan): Service {
  const { model } = target;
  const answerReader = createOwnReader(target);
  return {
    model: { name: model, version: "", maxBatchSize: 0, inputs: [], outputs: [] },
    codec,
    wire: wireOf(target),
    batchSize: 1,
    isSequence: false,
    isDecoupled: false,
    warnings: answerReader === undefined ? [] : [describeUserCode(target)],
    answerReader,
  };
}

function describeUserCode({ decode, check, extract = {} }: OwnTargetPlan): string {
  const names = Object.entries({ decode, check }).flatMap(([name, given]) => (given === undefined ? [] : [name]));
  const all = [...names, ...(Object.keys(extract).length > 0 ? ["extract"] : [])].join(", ");
  return `The scenario's own code (${all}) reads every answer, after its latency is taken: its time is work of this client.`;
}

const SAMPLE: SampleAnswer = { parts: [new Uint8Array(0)] };

const codec: PayloadCodec = {
  encode: (content) => originOf(content).request,
  // Answers are checked by the scenario's own functions, if it has any.
  answerChecks: () => () => ANY_ANSWER,
  decode: (body) => ({ outputs: body, describe: () => describeBytes(body) }),
  explain: explainStatus,
  describe: ({ payload }) => describeBytes(payload),
  sampleAnswer: () => SAMPLE,
};
