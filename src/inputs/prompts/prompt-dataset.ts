import { UserError } from "../../plan/problem.ts";
import type { PromptsPlan } from "../../plan/prompts.ts";
import { createPayload, type PayloadFormat, type PayloadSettings } from "../../service/openai/payload.ts";
import type { JsonObject } from "../../service/openai/prompt-entry.ts";
import { loadTokenizer } from "../../tokenize/load-tokenizer.ts";
import type { DataStep, Dataset } from "../dataset.ts";
import { toPayloadInputs } from "../payload-list.ts";
import { createEntries } from "./entries.ts";
import { DEFAULT_PROMPTS, type PromptSettings } from "./settings.ts";

/** Requests for whose answer nobody waits in order: those of sessions are not. */
const SESSIONS = "has requests of sessions or with delays, which are not supported yet";

/**
 * Makes all requests of a plan's prompts, before the run.
 * @throws UserError for a tokenizer that is not found, files that cannot be read, and prompts that cannot be made
 */
export async function makePromptDataset(plan: PromptsPlan): Promise<Dataset> {
  const { tokenizer: name, revision } = plan;
  const tokenizer = name === "none" ? undefined : await loadTokenizer(name, { revision });
  const layout = toPayloadSettings(plan);
  const steps: DataStep[] = [];
  for await (const entry of createEntries(toPromptSettings(plan), tokenizer)) {
    if (entry.sessionId !== undefined || entry.delayMs !== undefined)
      throw new UserError([
        { path: "inputs", message: SESSIONS, value: plan.file, hint: "Leave out session_id and delay." },
      ]);
    const { body } = createPayload(entry, steps.length, layout);
    const place = plan.file === "" ? undefined : `${plan.file}, request ${steps.length}`;
    const { timestampMs } = entry;
    steps.push({
      inputs: toPayloadInputs(body),
      expected: new Map(),
      ...(place === undefined ? {} : { place }),
      ...(timestampMs === undefined ? {} : { timestampMs }),
    });
  }
  return { streams: [steps], isFromJson: true, warnings: [] };
}

function toPayloadSettings({ format, model, isStreaming, seed, extra }: PromptsPlan): PayloadSettings {
  return {
    format: format as PayloadFormat,
    models: [model],
    modelSelection: "round_robin",
    seed,
    isStreaming,
    hasExactOutput: false,
    extra: extra as JsonObject,
  };
}

function toPromptSettings(plan: PromptsPlan): PromptSettings {
  const { images, prefix, outputTokens, mix } = plan;
  return {
    ...DEFAULT_PROMPTS,
    source: plan.file === "" ? DEFAULT_PROMPTS.source : { kind: "file", path: plan.file },
    seed: plan.seed,
    entryCount: plan.count,
    inputTokens: plan.inputTokens,
    ...(outputTokens === null ? {} : { outputTokens }),
    ...(mix.length === 0 ? {} : { mix }),
    textsPerRequest: plan.textsPerRequest,
    imagesPerRequest: images?.count ?? DEFAULT_PROMPTS.imagesPerRequest,
    ...(images === null ? {} : { images }),
    ...(prefix === null ? {} : { prefix }),
    ...(plan.systemTokens === 0 ? {} : { systemTokens: plan.systemTokens }),
    isRanking: plan.format.endsWith("rankings"),
  };
}
