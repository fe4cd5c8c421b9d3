import type { AnswerKind } from "../../../service/openai/answer-kind.ts";
import { LLM_ENDPOINTS } from "../../../service/openai/endpoints.ts";
import type { PayloadFormat } from "../../../service/openai/payload.ts";
import { ENDPOINT_TYPES, type EndpointTypeName } from "../endpoints.ts";
import type { GenaiSettings } from "../options/settings.ts";

interface Format {
  readonly payload: PayloadFormat | "template";
  readonly answer: AnswerKind;
  /** GenAI-Perf's type for the report's title, if it is not this type. */
  readonly title?: EndpointTypeName;
}

/** Types whose reports use the title of another type. */
const TITLES: Readonly<Partial<Record<EndpointTypeName, EndpointTypeName>>> = {
  vision: "multimodal",
  cohere_rankings: "rankings",
  tei_rankings: "rankings",
};

/** Returns the format of an endpoint's bodies and answers; undefined if it is not supported yet. */
export function formatOf({ type, backend }: GenaiSettings["endpoint"]): Format | undefined {
  if (type === "kserve") return { payload: backend, answer: "kserve" };
  if (type === "template") return { payload: "template", answer: "custom" };
  const { endpoint } = ENDPOINT_TYPES[type];
  if (endpoint === null) return undefined;
  const { format, answers } = LLM_ENDPOINTS[endpoint];
  const title = TITLES[type];
  return { payload: format, answer: answers, ...(title === undefined ? {} : { title }) };
}
