import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BodyPlan, RequestsPlan } from "../../../inputs/prompts/requests-plan.ts";
import { DEFAULT_PROMPTS, isGenerated, type PromptSettings } from "../../../inputs/prompts/settings.ts";
import { isFile } from "../../../runtime/files.ts";
import { formatJson } from "../../../service/json-text.ts";
import { formatOf } from "../endpoint-formats.ts";
import { sourceOf } from "../input-format.ts";
import type { Asked } from "../options/asked.ts";
import { readTemplateOptions } from "../template-options.ts";

/** Returns the settings of a profile's requests. Options add their values later. @param file file that the requests are written to */
export function toRequests(asked: Asked, file: string): RequestsPlan {
  const extra = asked.get("input.extra");
  const bodyExtra = asked.type.usesTemplate ? readTemplateOptions(extra).others : extra;
  return {
    file,
    prompts: toPrompts(asked),
    givenSource: "",
    body: toBody(asked),
    layout: { models: [], modelSelection: "round_robin", seed: 0, isStreaming: false, hasExactOutput: false },
    extraJson: formatJson(bodyExtra ?? {}),
  };
}

function toPrompts(asked: Asked): PromptSettings {
  const { isRanking, isTextless, usesTemplate } = asked.type;
  const { textsPerRequest: _texts, ...always } = DEFAULT_PROMPTS;
  return {
    ...always,
    source: toSource(asked),
    seed: 0,
    // Image retrieval ignores text.
    ...(isTextless && { textsPerRequest: 0 }),
    isRanking: isRanking === true || (usesTemplate === true && hasRankingFiles(sourceOf(asked.input))),
  } as PromptSettings;
}

/** Without sessions, only the first turns of conversations are sent. */
function toSource(asked: Asked): PromptSettings["source"] {
  // Commands are texts of a prompt file, regardless of other fields in its lines.
  const source = sourceOf(asked.type.callsMethod ? { ...asked.input, format: "jsonl" } : asked.input);
  const isMultiTurn = asked.load.holdsSessions;
  return source.kind === "conversations" ? { ...source, isMultiTurn } : source;
}

/** Reports whether a template's requests have a query and passages: both are generated, or both are in the folder. */
function hasRankingFiles(source: PromptSettings["source"]): boolean {
  const isThere = (name: string): boolean =>
    isGenerated(source) ? source.names.includes(name) : existsSync(join(source.path, `${name}.jsonl`));
  return ["queries", "passages"].every(isThere);
}

function toBody(asked: Asked): BodyPlan {
  const { usesTemplate, callsMethod } = asked.type;
  if (usesTemplate) {
    const { template = "" } = readTemplateOptions(asked.get("input.extra"));
    return { kind: "jinja-template", template, isFile: isFile(template) };
  }
  if (callsMethod) return { kind: "commands" };
  const { payload } = formatOf(asked.endpoint);
  if (payload === undefined) return { kind: "token-ids" };
  return { kind: "format", format: payload, asksUsage: true };
}
