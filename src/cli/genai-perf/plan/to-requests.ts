import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BodyPlan, RequestsPlan } from "../../../inputs/prompts/requests-plan.ts";
import type { PromptSettings } from "../../../inputs/prompts/settings.ts";
import { defined } from "../../../plan/defined.ts";
import { formatJson } from "../../../service/json-text.ts";
import { formatOf } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { sourceOf } from "../input-format.ts";
import { loadOf } from "../loads.ts";
import type { Asked } from "../options/asked.ts";
import { hasMadeUpAudio, hasMadeUpImages, toAudioSettings } from "../rules/media-rules.ts";
import { isTemplateFile, readTemplateOptions } from "../template-options.ts";

/**
 * Returns what the requests of a profile are made of.
 * @param file that they are written to
 * @throws UserError for an invalid distribution of lengths
 */
export function toRequests(asked: Asked, file: string): RequestsPlan {
  const { endpoint, input, layout, prompts } = asked.settings;
  const { extra } = input;
  const bodyExtra = ENDPOINT_TYPES[endpoint.type].usesTemplate ? readTemplateOptions(extra).others : extra;
  return {
    file,
    prompts: toPrompts(asked),
    givenSource: input.file,
    body: toBody(asked),
    layout: { ...layout, seed: prompts.seed },
    extraJson: formatJson(bodyExtra ?? {}),
  };
}

function toPrompts(asked: Asked): PromptSettings {
  const { endpoint, input, prompts } = asked.settings;
  const { isRanking, isTextless, usesTemplate } = ENDPOINT_TYPES[endpoint.type];
  const { outputTokens, prefix, systemTokens, sessions, images, ...always } = prompts;
  const { format, ...sizes } = images;
  return defined({
    ...always,
    source: toSource(asked),
    outputTokens: outputTokens.mean === null ? undefined : { ...outputTokens, mean: outputTokens.mean },
    // Image retrieval ignores text.
    textsPerRequest: isTextless ? 0 : prompts.textsPerRequest,
    images: hasMadeUpImages(prompts)
      ? { ...sizes, ...(asked.given.has("prompts.images.format") && { format }) }
      : undefined,
    audio: hasMadeUpAudio(prompts) ? toAudioSettings(prompts, input.sampleRatesKhz) : undefined,
    prefix: prefix.count === 0 ? undefined : prefix,
    systemTokens: systemTokens === 0 ? undefined : systemTokens,
    sessions: sessions.count === 0 ? undefined : sessions,
    isRanking: isRanking === true || (usesTemplate === true && hasRankingFiles(sourceOf(input))),
  });
}

/** Without sessions, only the first turns of conversations are sent. */
function toSource({ settings: { endpoint, input, perfAnalyzer } }: Asked): PromptSettings["source"] {
  // Commands are texts of a prompt file, whatever else its lines have.
  const source = sourceOf(ENDPOINT_TYPES[endpoint.type].callsMethod ? { ...input, format: "jsonl" } : input);
  const isMultiTurn = loadOf(perfAnalyzer.stimulus.kind).holdsSessions;
  return source.kind === "conversations" ? { ...source, isMultiTurn } : source;
}

/** Reports whether a template's requests have a query and passages: both are generated, or both are in the folder. */
function hasRankingFiles(source: PromptSettings["source"]): boolean {
  const isThere = (name: string): boolean =>
    source.kind === "synthetic" ? source.names.includes(name) : existsSync(join(source.path, `${name}.jsonl`));
  return ["queries", "passages"].every(isThere);
}

function toBody({ settings: { endpoint, input } }: Asked): BodyPlan {
  const { usesTemplate, callsMethod } = ENDPOINT_TYPES[endpoint.type];
  if (usesTemplate) {
    const { template = "" } = readTemplateOptions(input.extra);
    return { kind: "jinja-template", template, isFile: isTemplateFile(template) };
  }
  if (callsMethod) return { kind: "commands" };
  const { payload } = formatOf(endpoint);
  if (payload === undefined) return { kind: "token-ids" };
  return { kind: "format", format: payload, asksUsage: true };
}
