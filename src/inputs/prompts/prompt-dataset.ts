import type { Text } from "../../plan/messages.ts";
import { defined } from "../../plan/objects.ts";
import { userError } from "../../plan/problem.ts";
import type { PromptsPlan } from "../../plan/prompts.ts";
import { createPayload, type PayloadFormat, type PayloadSettings } from "../../service/openai/payload.ts";
import type { JsonObject, PromptEntry } from "../../service/openai/prompt-entry.ts";
import { loadTokenizer } from "../../tokenize/load-tokenizer.ts";
import type { DataOrder, DataStep, Dataset } from "../dataset.ts";
import { toPayload, toPayloadStep } from "../payload-entry.ts";
import { groupBySession } from "../payload-list.ts";
import { createEntries } from "./prompt-sources.ts";
import { DEFAULT_PROMPTS, type PromptSettings } from "./settings.ts";

/**
 * Creates all requests of a plan's prompts, before the run.
 * @param order `in-sessions`: each session becomes a stream; otherwise sessions are an error
 * @throws UserError if the tokenizer is not found, a file cannot be read, or prompts cannot be generated
 */
export async function makePromptDataset(plan: PromptsPlan, order: DataOrder): Promise<Dataset> {
  const { tokenizer: name, revision } = plan;
  const tokenizer = name === "none" ? undefined : await loadTokenizer(name, { revision });
  const layout = toPayloadSettings(plan);
  const steps: DataStep[] = [];
  for await (const entry of createEntries(toPromptSettings(plan, order), tokenizer)) {
    checkSession(plan, entry, order);
    const { body, isTensors: _, ...facts } = createPayload(entry, steps.length, layout);
    const place = plan.file === "" ? {} : { place: `${plan.file}, request ${steps.length}` };
    steps.push(toPayloadStep(toPayload(body), { ...place, ...facts }));
  }
  if (order === "at-times") {
    checkTimes(steps, plan.file);
    steps.sort((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0));
  }
  const warnings: Text[] = plan.isApproximate === true ? [{ say: "approximate-lengths", tokenizer: name }] : [];
  return { streams: order === "in-sessions" ? groupBySession(steps) : [steps], isFromJson: true, warnings };
}

/** @throws UserError if a request of a trace has no time */
function checkTimes(steps: readonly DataStep[], file: string): void {
  const untimed = steps.find(({ timestampMs }) => timestampMs === undefined);
  if (steps.length > 0 && untimed === undefined) return;
  const [message, hint] =
    untimed === undefined
      ? ["has no requests", "Write at least one line."]
      : ["has no timestamp", 'Write "timestamp": 250, in milliseconds, in every line.'];
  throw userError("missing", untimed?.place ?? file, message, hint);
}

/** Returns the source of prompts. Without sessions, only the first turns of conversations are sent. */
function sourceOf({ file, isTrace, fileFormat }: PromptsPlan, order: DataOrder): PromptSettings["source"] {
  if (file === "") return DEFAULT_PROMPTS.source;
  if (fileFormat === "conversations") return { kind: fileFormat, path: file, isMultiTurn: order === "in-sessions" };
  if (fileFormat === "mooncake") return { kind: "payload", path: file };
  if (isTrace !== true) return { kind: "file", path: file };
  return { kind: file.endsWith(".csv") ? "trace" : "payload", path: file };
}

/** Checks that turns have a load of sessions, which keeps their order and delays, and that such a load has only turns. */
function checkSession({ file }: PromptsPlan, entry: PromptEntry, order: DataOrder): void {
  const isTurn = entry.sessionId !== undefined || entry.delayMs !== undefined;
  if (isTurn === (order === "in-sessions")) return;
  const [message, hint]: readonly [string, Text] = isTurn
    ? ["has requests with sessions or delays", { say: "use-sessions" }]
    : ["has requests without a session", { say: "no-sessions" }];
  throw userError("unsupported", "inputs", message, hint, file === "" ? undefined : file);
}

function toPayloadSettings({ format, model, isStreaming, seed, isUsageLeftOut, extra }: PromptsPlan): PayloadSettings {
  return {
    format: format as PayloadFormat,
    models: [model],
    modelSelection: "round_robin",
    seed,
    isStreaming,
    asksUsage: isUsageLeftOut !== true,
    hasExactOutput: false,
    extra: extra as JsonObject,
  };
}

/** Converts a plan's prompts to the settings of the generator. @param order order in which the load sends them */
export function toPromptSettings(plan: PromptsPlan, order: DataOrder): PromptSettings {
  const { images, audio, prefix, osl, mix, sessions, delayRatio } = plan;
  return {
    ...DEFAULT_PROMPTS,
    source: sourceOf(plan, order),
    seed: plan.seed,
    entryCount: plan.count,
    isl: plan.isl,
    ...(osl === null ? {} : { osl }),
    ...(mix.length === 0 ? {} : { mix }),
    textsPerRequest: plan.textsPerRequest,
    imagesPerRequest: images?.count ?? DEFAULT_PROMPTS.imagesPerRequest,
    ...(images === null ? {} : { images }),
    audioPerRequest: audio?.count ?? DEFAULT_PROMPTS.audioPerRequest,
    ...defined({ audio }),
    ...(prefix === null ? {} : { prefix }),
    ...(sessions && {
      sessions: {
        count: sessions.count,
        turns: sessions.turns,
        delayMs: { mean: sessions.delayMs, stddev: sessions.delayStddevMs ?? 0 },
      },
    }),
    ...defined({ delayRatio }),
    ...(plan.systemTokens === 0 ? {} : { systemTokens: plan.systemTokens }),
    isRanking: plan.format.endsWith("rankings"),
  };
}
