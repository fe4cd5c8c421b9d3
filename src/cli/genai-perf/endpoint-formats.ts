import { familyOf } from "../../report/genai-perf/layout.ts";
import type { AnswerKind } from "../../service/openai/answer-kind.ts";
import { LLM_ENDPOINTS } from "../../service/openai/endpoints.ts";
import type { PayloadFormat } from "../../service/openai/payload.ts";
import { ENDPOINT_TYPES } from "./endpoints.ts";
import type { GenaiSettings } from "./options/settings.ts";

interface Format {
  /** Absent: a template, a command or token ids make the bodies. */
  readonly payload?: PayloadFormat;
  readonly answer: AnswerKind;
}

/** Returns the format of an endpoint's bodies and answers; undefined if it has none. */
export function formatOf({ type, backend }: GenaiSettings["endpoint"]): Format | undefined {
  const { endpoint, isTritonModel, usesTemplate, callsMethod, hasTokenIds } = ENDPOINT_TYPES[type];
  if (isTritonModel) return { payload: backend, answer: "kserve" };
  if (callsMethod) return { answer: "grpc" };
  if (hasTokenIds) return { answer: "token-ids" };
  if (usesTemplate) return { answer: "custom" };
  if (endpoint === null) return undefined;
  const { format, answers } = LLM_ENDPOINTS[endpoint];
  return { payload: format, answer: answers };
}

/** Reports whether answers arrive whole and have no tokens. */
export function isTokenless(endpoint: GenaiSettings["endpoint"]): boolean {
  return familyOf(formatOf(endpoint)?.answer) !== "text";
}
