import { packEntries } from "../../inputs/held-entries.ts";
import { toPayload } from "../../inputs/payload-entry.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import type { FailedRequest, RequestRecord } from "../../result/request-record.ts";
import type { RunResult } from "../../result/run-result.ts";
import { startPlan } from "../../run/run-plan.ts";
import { LLM_ENDPOINTS, type LlmEndpointName } from "../../service/openai/endpoints.ts";
import { createPayload } from "../../service/openai/payload.ts";
import { type Response, readResponse } from "../../service/openai/response-text.ts";

/** A question. */
export interface Question {
  readonly text: string;
  readonly model: string;
  readonly endpoint: LlmEndpointName;
  readonly maxTokens: number;
}

/** The response to a question, with the times of its pieces. */
export interface TimedResponse {
  readonly response: Response;
  /** Time of each read, in nanoseconds after the send. */
  readonly offsetsNs: readonly number[];
  /** Longest time by which this client was late to look at what had arrived, in nanoseconds. */
  readonly clientLateNs: number;
}

/** The outcome of a question: a response, or a failed request. */
export interface Asked {
  /** Absent if the request failed. */
  readonly answered?: TimedResponse;
  readonly failed?: FailedRequest;
  readonly result: RunResult;
}

/**
 * Sends a question as the only request of a plan, over the client and the protocol that a measurement uses.
 * @param onSlowServer hears that the server has not responded for some seconds
 */
export async function ask(
  plan: Plan,
  { text, model, endpoint, maxTokens }: Question,
  onSlowServer: (url: string) => void,
): Promise<Asked> {
  const { format, responses } = LLM_ENDPOINTS[endpoint];
  const settings = { format, models: [model], modelSelection: "round_robin", seed: 0, isStreaming: true } as const;
  const { body } = createPayload({ texts: [text], maxTokens }, 0, {
    ...settings,
    asksUsage: true,
    hasExactOutput: false,
    extra: {},
  });
  const held = packEntries([{ payload: toPayload(body), fields: {} }]);
  const decoder = new TextDecoder();
  let received: { readonly reads: readonly string[]; readonly offsetsNs: readonly number[] } | undefined;
  let failed: FailedRequest | undefined;
  const observer = {
    onSlowServer,
    onRecord: ({ responses: { outputs, offsetsNs } }: RequestRecord) => {
      const reads = outputs.map((output) => (output instanceof Uint8Array ? decoder.decode(output) : ""));
      received = { reads, offsetsNs };
    },
    onFailed: (one: FailedRequest) => {
      failed = one;
    },
  };
  const running = startPlan(plan, {
    openObserver: () => Promise.resolve(observer),
    held,
  });
  const result = await running.result;
  const asked = { result, ...defined({ failed }) };
  if (received === undefined) return asked;
  const { reads, offsetsNs } = received;
  const clientLateNs = Math.max(0, ...result.levels.map(({ window }) => window.health.loopLagMaxNs));
  return { ...asked, answered: { response: readResponse(responses, reads), offsetsNs, clientLateNs } };
}
