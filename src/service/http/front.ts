import { createAnswerReader } from "../answer-reader.ts";
import type { Service, ServiceFront } from "../service.ts";
import { createHttpCodec } from "./codec.ts";
import type { HttpTargetPlan } from "./target.ts";

/** Creates a target's service without queries, because requests define what the server takes. */
export function createHttpFront(target: HttpTargetPlan): ServiceFront {
  return { setUp: async () => describeService(target), listModels: async () => [] };
}

function describeService(target: HttpTargetPlan): Service {
  const answerReader = createAnswerReader(target, readJson);
  return {
    model: { name: target.path, version: "", maxBatchSize: 0, inputs: [], outputs: [] },
    codec: createHttpCodec(target),
    wire: "http",
    batchSize: 1,
    isSequence: false,
    isDecoupled: false,
    warnings: [],
    ...(answerReader === undefined ? {} : { answerReader }),
  };
}

const SHOWN_CHARACTERS = 60;

/** Decodes an answer that must be JSON. @throws Error with the reason when it is not */
function readJson(bodies: readonly Uint8Array[]): unknown {
  const [body = new Uint8Array(0)] = bodies;
  if (bodies.length > 1)
    throw new Error("the answer is a stream of events, of which success and extract can read none");
  const text = new TextDecoder().decode(body);
  if (text.trim() === "") throw new Error("the answer is empty, so success and extract have nothing to read");
  try {
    return JSON.parse(text);
  } catch {
    const start = JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
    throw new Error(`the answer is not JSON, which success and extract read: it begins with ${start}`);
  }
}
