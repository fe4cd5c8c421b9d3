import { unreadable, userError } from "../../../plan/problem.ts";
import { MOST_SETTINGS_BYTES, readFileText } from "../../../runtime/files.ts";
import { deriveSeed } from "../../../runtime/random.ts";
import { compactJson, formatJson } from "../../../service/json-text.ts";
import { createPayload, type Payload } from "../../../service/openai/payload.ts";
import { openTemplate, type TemplateSource } from "../../../service/openai/payload-template.ts";
import type { JsonObject, PromptEntry } from "../../../service/openai/prompt-entry.ts";
import { parseResponseField, type ResponseField } from "../../../service/openai/response-field.ts";
import { createTemplatePayloads, textWithin } from "../../../service/openai/template-payloads.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import type { GenaiSettings } from "../options/settings.ts";
import { NAMED_TEMPLATES, readTemplateOptions, templateFileOf } from "../template-options.ts";
import { toLayoutSettings, toPayloadSettings } from "./prompt-settings.ts";
import { openTokenIds } from "./token-ids.ts";

/** Converts entries to request bodies. */

export interface PayloadLayout {
  /** Returns the requests of one entry: one, except for templates that produce a list. @param position index of the entry, from 0 */
  create(entry: PromptEntry, position: number): Payload[];
  /** Returns the input tokens of a body that was created here; NaN for any other. Absent if they can be counted from the body. */
  readonly countPayload?: (payload: string) => number;
}

/** Creates the layout of the run's endpoint type. @throws UserError for an invalid template or path into responses */
export async function openLayout(settings: GenaiSettings, tokenizer: Tokenizer | undefined): Promise<PayloadLayout> {
  const { usesTemplate, callsMethod, hasTokenIds } = ENDPOINT_TYPES[settings.endpoint.type];
  if (usesTemplate) return openTemplateLayout(settings, tokenizer);
  if (callsMethod) return { create: (entry) => [toGeneratorEntry(entry, settings)] };
  if (hasTokenIds) {
    const create = await openTokenIds(settings, tokenizer as Tokenizer);
    return { create: (entry) => [create(entry)] };
  }
  const layout = toPayloadSettings(settings);
  return { create: (entry, position) => [createPayload(entry, position, layout)] };
}

/** Returns the entry of one command. A text of a prompt file is the command. */
function toGeneratorEntry({ texts: [command = ""] }: PromptEntry, { input }: GenaiSettings): Payload {
  if (command !== "") return { body: { message_generator: command }, isTensors: true };
  const hint = 'Write {"text": "COMMAND"} on each line; the command writes the messages of a call.';
  throw userError("missing", "--input-file", "has a line without a command", hint, input.file);
}

/**
 * Returns the location of the text in responses to a template's requests; undefined if it is detected.
 * @throws UserError for an invalid path
 */
export function responseFieldOf(settings: GenaiSettings): ResponseField | undefined {
  if (!ENDPOINT_TYPES[settings.endpoint.type].usesTemplate) return undefined;
  const { responseField } = readTemplateOptions(settings.input.extra);
  return responseField === undefined ? undefined : parseResponseField(responseField, "--extra-inputs response_field");
}

async function openTemplateLayout(settings: GenaiSettings, tokenizer: Tokenizer | undefined): Promise<PayloadLayout> {
  const { template, others } = readTemplateOptions(settings.input.extra);
  responseFieldOf(settings);
  const opened = await openTemplate(findTemplate(template ?? "", templateFileOf(settings)));
  const layout = { ...toLayoutSettings(settings), extra: others as JsonObject };
  const counts = new Map<number, number>();
  return {
    create: (entry, position) => {
      const payloads = createTemplatePayloads(entry, position, layout, opened);
      for (const { body } of payloads)
        if (tokenizer !== undefined)
          counts.set(hashOf(compactJson(formatJson(body))), tokenizer.count(textWithin(entry, body)));
      return payloads;
    },
    countPayload: (payload) => counts.get(hashOf(compactJson(payload))) ?? Number.NaN,
  };
}

/** Finds a template by name, reads it from a file, or uses the value as its text. @throws UserError if none of these applies */
function findTemplate(value: string, file: string | undefined): TemplateSource {
  const named = Object.hasOwn(NAMED_TEMPLATES, value) ? NAMED_TEMPLATES[value] : undefined;
  if (named !== undefined) return { text: named, name: value };
  if (file === undefined && /\{[{%]/.test(value)) return { text: value, name: "--extra-inputs payload_template" };
  if (file === undefined) {
    const hint = `Give an existing file, one of ${Object.keys(NAMED_TEMPLATES).join(", ")}, or a text with {{ text|tojson }}.`;
    throw userError("unreadable", "--extra-inputs payload_template", `Template file not found: ${value}`, hint, value);
  }
  try {
    return { text: readFileText(value, MOST_SETTINGS_BYTES), name: value };
  } catch (error) {
    throw unreadable(value, error, "Give a file that can be read.");
  }
}

/** 53 bits: a collision among a million bodies happens twice in ten thousand runs. */
function hashOf(text: string): number {
  return deriveSeed(0, text) * 2 ** 21 + (deriveSeed(1, text) >>> 11);
}
