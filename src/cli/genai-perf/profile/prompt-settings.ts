import { parseSequenceMix } from "../../../inputs/prompts/lengths.ts";
import { DEFAULT_PROMPTS, type PromptSettings, parseInputFile } from "../../../inputs/prompts/settings.ts";
import type { PayloadSettings } from "../../../service/openai/payload.ts";
import type { GenaiSettings } from "../settings.ts";
import { formatOf } from "./endpoint-formats.ts";

/** From settings to what requests are made of. */

/** What the prompts are. Throws `UserError` for a mix of lengths that is none. */
export function toPromptSettings({ endpoint, input, perfAnalyzer, rampart }: GenaiSettings): PromptSettings {
  const { outputTokens, prefixPrompt, sessions } = input;
  const { turns, turnDelay } = sessions;
  const delayMs = { mean: turnDelay.meanMs, stddev: turnDelay.stddevMs };
  const hasSessions = perfAnalyzer.stimulus.kind === "session_concurrency";
  return {
    source: toSource(input.file, hasSessions),
    seed: input.randomSeed,
    entryCount: input.datasetEntries,
    inputTokens: input.syntheticTokens,
    ...(outputTokens.mean === null ? {} : { outputTokens: { mean: outputTokens.mean, stddev: outputTokens.stddev } }),
    ...(rampart.sequenceMix === "" ? {} : { mix: parseSequenceMix(rampart.sequenceMix, "--sequence-mix") }),
    textsPerRequest: input.textBatchSize,
    imagesPerRequest: input.image.batchSize,
    audioPerRequest: input.audio.batchSize,
    ...(prefixPrompt.count === 0 ? {} : { prefix: prefixPrompt }),
    ...(rampart.systemPromptTokens === 0 ? {} : { systemTokens: rampart.systemPromptTokens }),
    ...(sessions.count === 0 ? {} : { sessions: { count: sessions.count, turns, delayMs } }),
    delayRatio: turnDelay.ratio,
    isRanking: endpoint.type === "rankings",
  };
}

/** Of conversations that are not held only the first turns are sent. */
function toSource(file: string, hasSessions: boolean): PromptSettings["source"] {
  const source = file === "" ? DEFAULT_PROMPTS.source : parseInputFile(file);
  return source.kind === "conversations" ? { ...source, isMultiTurn: hasSessions } : source;
}

/** How they are laid out as request bodies. */
export function toPayloadSettings({ endpoint, input, modelNames }: GenaiSettings): PayloadSettings {
  const format = formatOf(endpoint);
  if (format === undefined) throw new Error(`no format for ${endpoint.type}`);
  return {
    format: format.payload,
    models: modelNames,
    modelSelection: endpoint.modelSelection,
    seed: input.randomSeed,
    isStreaming: endpoint.isStreaming,
    hasExactOutput: input.outputTokens.isDeterministic,
    extra: (input.extra ?? {}) as PayloadSettings["extra"],
  };
}
