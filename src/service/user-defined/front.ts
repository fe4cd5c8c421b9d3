import { ANY_ANSWER } from "../../transport/answer-check.ts";
import type { SampleAnswer } from "../../transport/sink/sample-answer.ts";
import { describeBytes, explainStatus } from "../explain-error.ts";
import type { PayloadCodec, Service, ServiceFront } from "../service.ts";
import { createOwnReader, originOf } from "./reader.ts";
import { type OwnTargetPlan, wireOf } from "./target.ts";

/** Creates a target's service without queries, because only the scenario defines which requests are valid. */
export function createOwnFront(target: OwnTargetPlan): ServiceFront {
  return { setUp: async () => describeService(target), listModels: async () => [] };
}

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
