import { familyOf } from "../../report/genai-perf/layout.ts";
import { LLM_ENDPOINTS } from "../../service/openai/endpoints.ts";
import type { PayloadFormat } from "../../service/openai/payload.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";
import { ENDPOINT_TYPES, type EndpointTypeName } from "./endpoints.ts";

/** Backend that runs the model of a Triton server, which determines the format of its tensors. */
export type Backend = PayloadFormat & ("tensorrtllm" | "vllm");

/** Settings that determine the format of bodies and responses. */
export interface Endpoint {
  readonly type: EndpointTypeName;
  readonly backend: Backend;
}

interface Format {
  /** Absent: bodies come from a template, a command or token ids. */
  readonly payload?: PayloadFormat;
  readonly response: ResponseKind;
}

/** Returns the format of an endpoint's bodies and responses. */
export function formatOf({ type, backend }: Endpoint): Format {
  const { endpoint, isTritonModel, callsMethod, hasTokenIds } = ENDPOINT_TYPES[type];
  if (isTritonModel) return { payload: backend, response: "kserve" };
  if (callsMethod) return { response: "grpc" };
  if (hasTokenIds) return { response: "token-ids" };
  if (endpoint === null) return { response: "custom" };
  const { format, responses } = LLM_ENDPOINTS[endpoint];
  return { payload: format, response: responses };
}

/** Returns GenAI-Perf's name of an endpoint's request format: `openai_embeddings`. */
export function outputFormatOf({ type, backend }: Endpoint): string {
  return ENDPOINT_TYPES[type].outputFormat ?? backend;
}

/** Reports whether responses arrive whole and have no tokens. */
export function isTokenless(endpoint: Endpoint): boolean {
  return familyOf(formatOf(endpoint).response) !== "text";
}
