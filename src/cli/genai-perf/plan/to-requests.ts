import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BodyPlan, RequestsPlan } from "../../../inputs/prompts/requests-plan.ts";
import { DEFAULT_PROMPTS, type PromptSettings, parseInputFile } from "../../../inputs/prompts/settings.ts";
import { defined } from "../../../plan/defined.ts";
import { formatJson } from "../../../service/json-text.ts";
import { formatOf } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { loadOf } from "../loads.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { hasMadeUpAudio, hasMadeUpImages, toAudioSettings } from "../rules/media-rules.ts";
import { isTemplateFile, readTemplateOptions } from "../template-options.ts";

/**
 * Returns what the requests of a profile are made of.
 * @param file that they are written to
 * @throws UserError for an invalid distribution of lengths
 */
export function toRequests(settings: GenaiSettings, given: GivenSettings, file: string): RequestsPlan {
  const { endpoint, input, layout, prompts } = settings;
  const { extra } = input;
  const bodyExtra = ENDPOINT_TYPES[endpoint.type].usesTemplate ? readTemplateOptions(extra).others : extra;
  return {
    file,
    prompts: toPrompts(settings, given),
    givenSource: input.file,
    body: toBody(settings),
    layout: { ...layout, seed: prompts.seed },
    extraJson: formatJson(bodyExtra ?? {}),
  };
}

function toPrompts(settings: GenaiSettings, given: GivenSettings): PromptSettings {
  const { endpoint, input, prompts } = settings;
  const { isRanking, isTextless, usesTemplate } = ENDPOINT_TYPES[endpoint.type];
  const { outputTokens, prefix, systemTokens, sessions, images, ...always } = prompts;
  const { format, ...sizes } = images;
  return defined({
    ...always,
    source: toSource(settings),
    outputTokens: outputTokens.mean === null ? undefined : { ...outputTokens, mean: outputTokens.mean },
    // Image retrieval ignores text.
    textsPerRequest: isTextless ? 0 : prompts.textsPerRequest,
    images: hasMadeUpImages(settings) ? { ...sizes, ...(given.has("prompts.images.format") && { format }) } : undefined,
    audio: hasMadeUpAudio(settings) ? toAudioSettings(settings) : undefined,
    prefix: prefix.count === 0 ? undefined : prefix,
    systemTokens: systemTokens === 0 ? undefined : systemTokens,
    sessions: sessions.count === 0 ? undefined : sessions,
    isRanking: isRanking === true || (usesTemplate === true && hasRankingFiles(input.file)),
  });
}

/** Without sessions, only the first turns of conversations are sent. */
function toSource({ endpoint, input, perfAnalyzer, rampart }: GenaiSettings): PromptSettings["source"] {
  // Commands are texts of a prompt file, whatever else its lines have.
  const format = ENDPOINT_TYPES[endpoint.type].callsMethod ? "jsonl" : rampart.inputFormat;
  const source = input.file === "" ? DEFAULT_PROMPTS.source : parseInputFile(input.file, format);
  const isMultiTurn = loadOf(perfAnalyzer.stimulus.kind).holdsSessions;
  return source.kind === "conversations" ? { ...source, isMultiTurn } : source;
}

/** Reports whether a template's requests have a query and passages: both are generated, or both are in the folder. */
function hasRankingFiles(file: string): boolean {
  const names = ["queries", "passages"];
  const synthetic = /^synthetic:(.*)$/s.exec(file)?.[1];
  if (synthetic !== undefined) return names.every((name) => synthetic.split(",").includes(name));
  return file !== "" && names.every((name) => existsSync(join(file, `${name}.jsonl`)));
}

function toBody({ endpoint, input, rampart }: GenaiSettings): BodyPlan {
  const { usesTemplate, callsMethod } = ENDPOINT_TYPES[endpoint.type];
  if (usesTemplate) {
    const { template = "" } = readTemplateOptions(input.extra);
    return { kind: "jinja-template", template, isFile: isTemplateFile(template) };
  }
  if (callsMethod) return { kind: "commands" };
  const { payload } = formatOf(endpoint);
  if (payload === undefined) return { kind: "token-ids" };
  return { kind: "format", format: payload, asksUsage: !rampart.isUsageLeftOut };
}
