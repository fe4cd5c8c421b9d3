import { familyOf } from "../../report/genai-perf/layout.ts";
import { LLM_ENDPOINTS } from "../../service/openai/endpoints.ts";
import type { PayloadFormat } from "../../service/openai/payload.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";
import { ENDPOINT_TYPES } from "./endpoints.ts";
import type { GenaiSettings } from "./options/settings.ts";

interface Format {
  /** Absent: a template, a command or token ids make the bodies. */
  readonly payload?: PayloadFormat;
  readonly response: ResponseKind;
}

/** Returns the format of an endpoint's bodies and responses; undefined if it has none. */
export function formatOf({ type, backend }: GenaiSettings["endpoint"]): Format | undefined {
  const { endpoint, isTritonModel, usesTemplate, callsMethod, hasTokenIds } = ENDPOINT_TYPES[type];
  if (isTritonModel) return { payload: backend, response: "kserve" };
  if (callsMethod) return { response: "grpc" };
  if (hasTokenIds) return { response: "token-ids" };
  if (usesTemplate) return { response: "custom" };
  if (endpoint === null) return undefined;
  const { format, responses } = LLM_ENDPOINTS[endpoint];
  return { payload: format, response: responses };
}

/** Reports whether responses arrive whole and have no tokens. */
export function isTokenless(endpoint: GenaiSettings["endpoint"]): boolean {
  return familyOf(formatOf(endpoint)?.response) !== "text";
}
