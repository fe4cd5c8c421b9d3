import { GOODPUT_NAMES } from "../../../measure/tokens/goodput.ts";
import { nearestName } from "../../../plan/nearest-name.ts";
import { findLoadSweep } from "../analyze/points.ts";
import { ENDPOINT_TYPES, endpointPath, TOKENLESS_TYPES } from "../endpoints.ts";
import { isPayloadFile } from "../input-format.ts";
import { isDefault } from "../options/defaults.ts";
import type { GenaiSettings, SettingPath } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { warnOfSessions } from "./session-rules.ts";

/** What the settings say to no effect. Whole sentences. */
export function warnTogether(settings: GenaiSettings, given: GivenSettings): string[] {
  const warnings: string[] = [];
  const { input, endpoint, perfAnalyzer, rampart } = settings;
  if (settings.subcommand === "process-export-files") {
    if (settings.process.inputDir === settings.output.artifactDir)
      warnings.push("Input directory and artifact directory are the same: results may overwrite what is read.");
    return warnings;
  }
  if (isPayloadFile(settings) && input.outputTokens.mean !== null)
    warnings.push("--output-tokens-mean is ignored where a line of the payload file has an output_length.");
  if (endpoint.isStreaming && TOKENLESS_TYPES.includes(endpoint.type))
    warnings.push(`--streaming has no effect with ${endpoint.type}: the answer comes in one piece.`);
  warnings.push(...warnOfLengths(settings, given));
  warnings.push(...warnOfSessions(settings, given), ...warnOfOverruled(settings, given), ...warnOfPath(settings));
  if (given.has("input.prefixPrompt.tokens") && input.prefixPrompt.count === 0 && input.prefixPrompt.tokens !== 100)
    warnings.push("--prefix-prompt-length has no effect without --num-prefix-prompts.");
  if (settings.subcommand === "analyze" && !isDefault(settings, "perfAnalyzer.stimulus")) {
    const swept = findLoadSweep(settings.analyze.sweeps)?.type;
    if (swept !== undefined)
      warnings.push(`The sweep's ${swept} takes the place of the load that was given beside it.`);
  }
  if (
    given.has("output.checkpointDir") &&
    !isDefault(settings, "output.checkpointDir") &&
    !settings.output.isCheckpointing
  )
    warnings.push("--checkpoint-dir has no effect without --enable-checkpointing.");
  if (rampart.cancelPct > 0 && endpoint.type === "kserve" && perfAnalyzer.stimulus.kind === "request_rate")
    warnings.push(
      "with a request rate several requests share a gRPC stream: one that is cancelled while others are under way there is given up here, but the server goes on with it.",
    );
  for (const metric of Object.keys(input.goodput ?? {})) {
    if (GOODPUT_NAMES.includes(metric)) continue;
    const near = nearestName(metric, GOODPUT_NAMES);
    warnings.push(
      `goodput: ${metric} is none of the metrics that can be limited${near === undefined ? "" : `; did you mean ${near}?`}`,
    );
  }
  return warnings;
}

/** Lengths of no tokens. */
function warnOfLengths({ input, endpoint, rampart }: GenaiSettings, given: GivenSettings): string[] {
  const { syntheticTokens, outputTokens } = input;
  const placeOf = (at: SettingPath): string => given.get(at)?.place ?? at;
  const isMadeUp = (input.file === "" || input.file.startsWith("synthetic:")) && endpoint.type !== "image_retrieval";
  const warnings: string[] = [];
  if (rampart.sequenceMix !== "") return warnings;
  if (isMadeUp && syntheticTokens.mean === 0)
    warnings.push(
      syntheticTokens.stddev === 0
        ? `${placeOf("input.syntheticTokens.mean")} 0: made-up prompts have no text of their own, as in the original; many servers refuse empty ones.`
        : `${placeOf("input.syntheticTokens.mean")} 0: lengths that are drawn below one token count as one.`,
    );
  if (outputTokens.mean === 0 && !TOKENLESS_TYPES.includes(endpoint.type))
    warnings.push(
      `${placeOf("input.outputTokens.mean")} 0: answers of one token are asked for, the fewest there are, as the original does.`,
    );
  return warnings;
}

/** Flags that another one leaves nothing to say. */
function warnOfOverruled({ rampart }: GenaiSettings, given: GivenSettings): string[] {
  const pairs: readonly (readonly [isOverruled: boolean, at: SettingPath, by: string])[] = [
    [rampart.sequenceMix !== "", "input.syntheticTokens.mean", "--sequence-distribution"],
    [rampart.sequenceMix !== "", "input.outputTokens.mean", "--sequence-distribution"],
    [rampart.durationSec !== null, "perfAnalyzer.stabilityPct", "--benchmark-duration: there is one window"],
  ];
  return pairs.flatMap(([isOverruled, at, by]) => {
    const from = given.get(at);
    return isOverruled && from?.source === "flag" ? [`${from.place} has no effect beside ${by}.`] : [];
  });
}

/** OpenAI's clients take a base URL that ends in /v1, which the paths of the endpoint types have already. */
function warnOfPath({ endpoint, modelNames }: GenaiSettings): string[] {
  if (ENDPOINT_TYPES[endpoint.type].serviceKind !== "openai") return [];
  const path = endpointPath(endpoint.type, endpoint.path, modelNames[0] ?? "");
  const base = endpoint.url.replace(/\/+$/, "");
  if (!base.endsWith("/v1") || !path.startsWith("v1/")) return [];
  return [`requests go to ${base}/${path}: leave /v1 out of --url, unless the server has it twice.`];
}
