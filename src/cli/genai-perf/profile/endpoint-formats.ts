import type { AnswerKind } from "../../../service/openai/answer-kind.ts";
import { LLM_ENDPOINTS } from "../../../service/openai/endpoints.ts";
import type { PayloadFormat } from "../../../service/openai/payload.ts";
import { ENDPOINT_TYPES, type EndpointTypeName } from "../endpoints.ts";
import type { GenaiSettings } from "../options/settings.ts";

/** How each endpoint type is written to and read. */

interface Format {
  readonly payload: PayloadFormat | "template";
  readonly answer: AnswerKind;
  /** The original's type whose title the report has, where it is not its own. */
  readonly title?: EndpointTypeName;
}

/** Types whose reports are called after another one. */
const TITLES: Readonly<Partial<Record<EndpointTypeName, EndpointTypeName>>> = {
  vision: "multimodal",
  cohere_rankings: "rankings",
  tei_rankings: "rankings",
};

/** The format of an endpoint's bodies and answers; undefined for those that nothing serves yet. */
export function formatOf({ type, backend }: GenaiSettings["endpoint"]): Format | undefined {
  if (type === "kserve") return { payload: backend, answer: "kserve" };
  if (type === "template") return { payload: "template", answer: "custom" };
  const { endpoint } = ENDPOINT_TYPES[type];
  if (endpoint === null) return undefined;
  const { format, answers } = LLM_ENDPOINTS[endpoint];
  const title = TITLES[type];
  return { payload: format, answer: answers, ...(title === undefined ? {} : { title }) };
}
