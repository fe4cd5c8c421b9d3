import { checkAudio } from "../inputs/media/synthetic-audio.ts";
import { needsOf, needsTokens } from "../measure/metrics/catalogue.ts";
import { type Problem, problem } from "../plan/problem.ts";
import { LLM_ENDPOINTS, type LlmEndpointName } from "../service/openai/endpoints.ts";
import { hasText } from "../service/openai/response-kind.ts";
import type { RequestForm } from "../service/service.ts";
import type { Assertion } from "./assertion.ts";
import { callOf } from "./form.ts";
import type { Inputs } from "./input-data.ts";
import { describeInputs, inputBuilderOf, promptOptionsOf } from "./inputs.ts";
import type { Load } from "./loads/load.ts";
import { holdsSessions, loadCallOf } from "./loads/table.ts";
import { type PromptsData, toAudioPlan } from "./prompts.ts";
import { exampleOf } from "./renamed/hints.ts";
import { responseTypeOf } from "./targets/llm-content.ts";
import { targetBuilderOf } from "./targets/table.ts";
import type { AnyTarget, TargetBuilder } from "./targets/target-builder.ts";

interface Parts {
  readonly target: AnyTarget;
  readonly load: { readonly kind: Load["kind"] };
  readonly inputs?: Inputs | undefined;
  readonly assert?: readonly Pick<Assertion, "metric">[];
}

/** Returns conflicts between a target and options of generative models, which the types prevent for typed callers. */
export function checkLlm({ target, load, inputs, assert = [] }: Parts): Problem[] {
  const builder = targetBuilderOf(target);
  const content = builder.content?.(target, "");
  if (content === undefined && builder.takes !== undefined)
    return checkOwnRequests(builder, builder.takes, inputs, assert);
  if (content === undefined) return checkTensors(callOf(builder), inputs, assert);
  const problems: Problem[] = [];
  const prompts = inputs && promptOptionsOf(inputs);
  const given = inputs && inputBuilderOf(inputs);
  if (given?.makes.includes("payloads") !== true || given.isPlain === true) {
    const hint = exampleOf(["inputs"]) ?? "";
    problems.push(
      problem("conflict", "inputs", "the target takes input.prompts(…) or input.payloads(…)", hint, inputs?.kind),
    );
  }
  if (prompts !== undefined)
    problems.push(...checkPrompts(prompts, content.endpointName), ...checkSessions(prompts, load.kind));
  const responseType = responseTypeOf(content);
  for (const [index, { metric }] of assert.entries()) {
    if (!needsTokens(metric)) continue;
    const path = `assert.${index}`;
    if (responseType === "vectors") {
      const message = `responses of ${content.endpointName} have no tokens`;
      problems.push(problem("unsupported", path, message, "Look at latencies and throughput."));
    } else if (responseType === "text")
      for (const name of [metric.key, ...Object.keys(metric.limits ?? {})])
        if (needsOf({ key: name }).includes("streams")) {
          const message = "only streamed responses have this metric";
          problems.push(problem("conflict", path, message, "Set streaming: true in the target's options.", name));
        }
  }
  return problems;
}

/** Endpoints whose requests can have images, and endpoints whose requests can have several texts. */
const WITH_IMAGES: readonly LlmEndpointName[] = [
  "multimodal",
  "responses",
  "messages",
  "huggingfaceGenerate",
  "nvclip",
  "imageRetrieval",
];
const WITH_AUDIO: readonly LlmEndpointName[] = ["multimodal"];
const WITH_BATCHES: readonly LlmEndpointName[] = ["embeddings", "nvclip", "rankings", "cohereRankings", "teiRankings"];

/** Returns options that conflict, or that the endpoint's requests do not support. */
function checkPrompts(options: PromptsData, endpoint: LlmEndpointName): Problem[] {
  const { images, audio, batch, osl, isl, lengths, count, file, fileFormat, delayFactor, sessions } = options;
  const isAnswered = hasText(LLM_ENDPOINTS[endpoint].responses);
  const rules: readonly (readonly [isBroken: boolean, option: string, message: string, hint: string])[] = [
    [
      images !== undefined && !WITH_IMAGES.includes(endpoint),
      "images",
      `requests to ${endpoint} have no images`,
      `Use one of ${WITH_IMAGES.join(", ")} as the endpoint.`,
    ],
    [
      audio !== undefined && !WITH_AUDIO.includes(endpoint),
      "audio",
      `requests to ${endpoint} have no audio`,
      `Use ${WITH_AUDIO.join(", ")} as the endpoint.`,
    ],
    [
      (images ?? audio) !== undefined && sessions !== undefined,
      images === undefined ? "audio" : "images",
      "synthetic conversations have no media",
      "Leave it or sessions out.",
    ],
    [
      images === undefined && file === undefined && endpoint === "imageRetrieval",
      "images",
      "imageRetrieval needs images",
      "Write images: { width: 512, height: 512 }.",
    ],
    [
      batch !== undefined && !WITH_BATCHES.includes(endpoint),
      "batch",
      `requests to ${endpoint} have one text`,
      `Use one of ${WITH_BATCHES.join(", ")} as the endpoint.`,
    ],
    [
      (osl !== undefined || lengths !== undefined) && !isAnswered,
      osl === undefined ? "lengths" : "osl",
      `responses of ${endpoint} have no tokens`,
      "Leave it out.",
    ],
    [
      lengths !== undefined && (isl ?? osl) !== undefined,
      "lengths",
      "has its own isl and osl",
      "Leave isl and osl out.",
    ],
    [
      file !== undefined && (isl ?? lengths ?? count ?? images ?? audio) !== undefined,
      "file",
      "already has the prompts, so none are generated",
      "Leave isl, lengths, count, images and audio out.",
    ],
    [file === undefined && fileFormat !== undefined, "fileFormat", "is that of a file", "Give file, or leave it out."],
    [
      delayFactor !== undefined && fileFormat === undefined,
      "delayFactor",
      "scales the pauses in a file of conversations",
      'Add fileFormat: "mooncake" or "conversations", or leave it out.',
    ],
  ];
  const conflicts = rules.flatMap(([isBroken, option, message, hint]) =>
    isBroken ? [problem("conflict", `inputs.${option}`, message, hint)] : [],
  );
  return audio === undefined ? conflicts : [...conflicts, ...checkAudio(toAudioPlan(audio))];
}

function checkSessions({ sessions, file, fileFormat, count }: PromptsData, load: Load["kind"]): Problem[] {
  const isLoad = holdsSessions(load);
  if (sessions === undefined) {
    if (!isLoad || (file !== undefined && fileFormat !== undefined)) return [];
    const hint =
      file === undefined
        ? "Write sessions: { count: 10, turns: 3 } in input.prompts(…)."
        : 'Add fileFormat: "mooncake" or "conversations" if the file has conversations.';
    return [problem("missing", "inputs.sessions", "is required by the loads sessions(…) and sessionRate(…)", hint)];
  }
  if (!isLoad) {
    const hint = "Use sessions(…) or sessionRate(…) as the load, or leave it out.";
    const message = "needs the load sessions(…) or sessionRate(…)";
    return [problem("conflict", "inputs.sessions", message, hint, loadCallOf({ kind: load }))];
  }
  if ((count ?? file) === undefined) return [];
  const hint = "Leave count and file out.";
  return [problem("conflict", "inputs.sessions", "already sets the number of requests", hint)];
}

/** Hints on how to give requests of a form. They end where the alternative is added. */
const OWN_HINTS: Readonly<Record<Exclude<RequestForm, "mixed">, string>> = {
  tensors: "Use input.random(), or l",
  payloads: "Use input.payloads(file), or l",
  messages: "L",
};

/** Checks a target whose responses are not those of a language model. @param form form of its requests */
function checkOwnRequests(
  builder: TargetBuilder,
  form: Exclude<RequestForm, "mixed">,
  inputs: Inputs | undefined,
  assert: readonly Pick<Assertion, "metric">[],
): Problem[] {
  const problems: Problem[] = [];
  const call = callOf(builder);
  if (inputs !== undefined && (!inputBuilderOf(inputs).makes.includes(form) || promptOptionsOf(inputs) !== undefined)) {
    const hint =
      builder.inputsHint ?? `${OWN_HINTS[form]}eave inputs out and describe the request in the target's options.`;
    problems.push(problem("conflict", "inputs", `${call} takes ${form}`, hint, describeInputs(inputs)));
  }
  for (const [index, { metric }] of assert.entries())
    if (needsTokens(metric)) {
      const hint = "Look at latencies and throughput, or at numbers that you extract.";
      problems.push(problem("unsupported", `assert.${index}`, `tokens of ${call} are not measured`, hint));
    }
  return problems;
}

function checkTensors(
  call: string,
  inputs: Inputs | undefined,
  assert: readonly Pick<Assertion, "metric">[],
): Problem[] {
  const problems: Problem[] = [];
  if (inputs !== undefined && !inputBuilderOf(inputs).makes.includes("tensors")) {
    const hint = "Use input.random(), input.zero() or input.json(…), or an openai(…) target.";
    problems.push(problem("conflict", "inputs", `${call} takes tensors`, hint, describeInputs(inputs)));
  }
  for (const [index, { metric }] of assert.entries())
    if (needsTokens(metric)) {
      const hint = "Look at latencies and throughput, or measure openai(…).";
      problems.push(problem("unsupported", `assert.${index}`, `responses of ${call} are tensors, not tokens`, hint));
    }
  return problems;
}
