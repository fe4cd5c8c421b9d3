import { type FunctionPlan, functionOf } from "../../plan/functions.ts";
import { joinBytes } from "../../runtime/bytes.ts";
import { decoder } from "../../runtime/text.ts";
import { ANY_RESPONSE } from "../../transport/response-check.ts";
import type { SampleResponse } from "../../transport/sink/sample-response.ts";
import type { PayloadCodec, ResponseReader } from "../content.ts";
import { describeBytes, explainStatus } from "../explain-error.ts";
import { listExtracted, namesOf } from "../response-reader.ts";
import { describeServer, OF_SERVERS } from "../server-target.ts";
import { modelNamed, SEPARATE_REQUESTS, type Service, type ServiceKind } from "../service.ts";
import type { CustomOrigin } from "./encode.ts";
import type { CheckOutput, CustomResponse, DecodeResponse, ExtractValue } from "./functions.ts";
import { type CustomTargetPlan, customTargetSchema, wireOf } from "./target.ts";
import { describeUserError, refusePromise, toPlainValue } from "./user-error.ts";

/** Servers of any protocol over HTTP or gRPC calls that a scenario encodes and decodes itself. */

const DEFAULT_PORTS = { http: 8000, grpc: 8001 } as const;

export const customKind: ServiceKind<CustomTargetPlan> = {
  schema: customTargetSchema,
  address: (target) => {
    const { url, headers, protocol } = target;
    return { url, wire: wireOf(target), defaultPort: DEFAULT_PORTS[protocol], headers };
  },
  ...OF_SERVERS,
  subject: (target) => `${target.model} on ${describeServer(target)}`,
  throughputUnit: "requests/s",
  hasNoStatistics: true,
  takes: () => "payloads",
  hasShortRequests: true,
  exported: () => ({ serviceKind: "user-defined", endpoint: "" }),
  path: () => "",
  server: "a server of the scenario's own protocol",
  api: { name: "user-defined", label: "the scenario's own protocol", probes: [] },
  // Sends no queries, because only the scenario defines which requests are valid.
  open: async (target) => ({ setUp: async () => describeService(target), listModels: async () => [] }),
};

function describeService(target: CustomTargetPlan): Service {
  const { model } = target;
  const responseReader = createCustomReader(target);
  return {
    model: modelNamed(model),
    codec,
    wire: wireOf(target),
    ...SEPARATE_REQUESTS,
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
  // The scenario's functions check responses, if it has any.
  responseChecks: () => () => ANY_RESPONSE,
  decode: (body) => ({ outputs: body, describe: () => describeBytes(body) }),
  explain: explainStatus,
  describe: ({ payload }) => describeBytes(payload),
  sampleResponse: () => SAMPLE,
};

/** Creates the reader of a target's responses; undefined if neither `check` nor `extract` needs their content. */
function createCustomReader(target: CustomTargetPlan): ResponseReader | undefined {
  const extracted = listExtracted(target.extract);
  if (target.check === undefined && extracted.length === 0) return undefined;
  const decode = target.decode && functionOf<DecodeResponse<unknown>>(target.decode);
  const check = target.check && functionOf<CheckOutput<unknown, unknown>>(target.check);
  const values = extracted.map(({ name, value }) => ({
    name,
    find: functionOf<ExtractValue<unknown, unknown>>(value as FunctionPlan),
  }));
  return {
    names: namesOf(extracted),
    read: (bodies, answered) => {
      const { input } = originOf(answered?.request);
      let stage = "decode";
      try {
        const response = createResponse(bodies);
        const output = decode === undefined ? response : refusePromise(decode(response));
        stage = "check";
        const problem = refusePromise(check?.(output, input));
        if (typeof problem === "string") return { kind: "validation", message: problem };
        if (problem === false) return { kind: "validation", message: "the scenario's check returned false" };
        return values.map(({ name, find }) => {
          stage = `extract.${name}`;
          return toPlainValue(find(output, input));
        });
      } catch (error) {
        const message = `${stage} of ${target.model} throws: ${describeUserError(error)}`;
        return { kind: stage === "decode" ? "unreadable" : "validation", message };
      }
    },
  };
}

/** Returns the source of such a target's payload. */
function originOf(content: object | undefined): CustomOrigin {
  return (content as { readonly origin?: unknown } | undefined)?.origin as CustomOrigin;
}

/** Creates the response for a scenario's functions. It stays valid: the run does not reuse its memory. */
function createResponse(parts: readonly Uint8Array[]): CustomResponse {
  const [first = new Uint8Array(0)] = parts;
  const bytes = parts.length > 1 ? joinBytes([...parts]) : first;
  const text = (): string => decoder.decode(bytes);
  return { bytes, parts, text, json: () => JSON.parse(text()) as unknown };
}
