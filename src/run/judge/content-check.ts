import { type FunctionPlan, functionOf } from "../../plan/functions.ts";
import type { Plan } from "../../plan/plan.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";
import {
  type CheckResponse,
  createScenarioResponse,
  type ResponseSource,
  type ScenarioResponse,
} from "../../service/scenario-response.ts";
import type { Tensor } from "../../service/tensor.ts";
import { describeUserError } from "../../service/user-defined/user-error.ts";
import type { Failure } from "../../transport/failure.ts";

/** A response to check. */
export type GivenResponse = Omit<ResponseSource, "kind">;

/** Checks a response; returns the failure if it is wrong. */
export type ContentCheck = (given: GivenResponse) => Failure | undefined;

/** Maximum number of characters of a wrong response in a report. */
const SHOWN_CHARACTERS = 400;

/**
 * Creates the check that runs a scenario's function on responses. A wrong response is a failed request. @param plan plan of the target
 * @param named the function
 */
export function createContentCheck(plan: Plan, named: FunctionPlan): ContentCheck {
  const check = functionOf<CheckResponse>(named);
  const kind = plan.measurement.tokens?.responses as ResponseKind | undefined;
  return (given) => {
    const response = createScenarioResponse({ ...given, kind });
    const message = explain(check, response);
    return message === undefined ? undefined : { kind: "check", message, excerpt: excerptOf(given, response) };
  };
}

/** Returns why a response is wrong; undefined when it is right. */
function explain(check: CheckResponse, response: ScenarioResponse): string | undefined {
  try {
    const verdict: unknown = check(response);
    if (verdict === true || verdict === undefined) return undefined;
    if (verdict === false) return "the scenario's check returned false";
    if (typeof verdict === "string") return verdict;
    if (verdict instanceof Promise) verdict.catch(() => {});
    return "the scenario's check returned neither true, false nor text; it must not be asynchronous";
  } catch (error) {
    return `the scenario's check throws: ${describeUserError(error)}`;
  }
}

/** Returns the beginning of a response as text: the text of a language model, tensors, or the body. */
function excerptOf({ tensors, parts }: GivenResponse, response: ScenarioResponse): string {
  const text = tensors.length > 0 ? tensors.map(describeTensor).join(", ") : response.content || joinTexts(parts);
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}

function joinTexts(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  let text = "";
  for (const part of parts) {
    if (text.length > SHOWN_CHARACTERS) break;
    text += decoder.decode(part.subarray(0, 4 * SHOWN_CHARACTERS));
  }
  const byteCount = parts.reduce((sum, { length }) => sum + length, 0);
  return text.includes("\0") ? `${byteCount} bytes` : text;
}

function describeTensor({ name, datatype, shape, bytes }: Tensor): string {
  const MOST_BYTES = 64; // per tensor, so that the names of all tensors are shown
  const isNumeric = datatype !== "BYTES";
  const shown = isNumeric ? bytes.subarray(0, MOST_BYTES) : bytes;
  const tensor = createScenarioResponse({
    parts: [],
    tensors: [{ name, datatype, shape, bytes: shown }],
    request: [],
    tags: {},
  }).tensors[name];
  const values = tensor?.values() ?? [];
  const list = values.slice(0, 8).map(String);
  const more = shown.length < bytes.length || list.length < values.length ? ", …" : "";
  return `${name} ${datatype} [${shape.join(",")}]: ${list.join(", ")}${more}`;
}
