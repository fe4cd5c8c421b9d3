import type { RequestsPlan } from "../../../inputs/prompts/requests-plan.ts";
import { unreadable, userError } from "../../../plan/problem.ts";
import { MOST_SETTINGS_BYTES, readFileText } from "../../../runtime/files.ts";
import { deriveSeed } from "../../../runtime/random.ts";
import { compactJson, formatJson, parseJson } from "../../../service/json-text.ts";
import { createPayload, type LayoutSettings, type Payload } from "../../../service/openai/payload.ts";
import { openTemplate, type TemplateSource } from "../../../service/openai/payload-template.ts";
import type { JsonObject, PromptEntry } from "../../../service/openai/prompt-entry.ts";
import { createTemplatePayloads, textWithin } from "../../../service/openai/template-payloads.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import { NAMED_TEMPLATES } from "../template-options.ts";
import { openTokenIds } from "./token-ids.ts";

/** Converts entries to request bodies. */

export interface PayloadLayout {
  /** Returns the requests of one entry: one, except for templates that produce a list. @param position index of the entry, from 0 */
  create(entry: PromptEntry, position: number): Payload[];
  /** Returns the input tokens of a body that was created here; NaN for any other body. Absent if they can be counted from the body. */
  readonly countPayload?: (payload: string) => number;
}

/** Creates the layout of a plan's requests. @throws UserError for an invalid template */
export async function openLayout(requests: RequestsPlan, tokenizer: Tokenizer | undefined): Promise<PayloadLayout> {
  const { body, givenSource, extraJson } = requests;
  const layout = { ...requests.layout, extra: parseJson(extraJson) as JsonObject };
  switch (body.kind) {
    case "jinja-template":
      return openTemplateLayout(findTemplate(body.template, body.isFile), layout, tokenizer);
    case "commands":
      return { create: (entry) => [toGeneratorEntry(entry, givenSource)] };
    case "token-ids": {
      const create = await openTokenIds(layout, tokenizer as Tokenizer);
      return { create: (entry) => [create(entry)] };
    }
    case "format": {
      const { format, asksUsage } = body;
      return { create: (entry, position) => [createPayload(entry, position, { ...layout, format, asksUsage })] };
    }
  }
}

/** Returns the entry of one command, which is the text of an entry in the prompt file. */
function toGeneratorEntry({ texts: [command = ""] }: PromptEntry, givenSource: string): Payload {
  if (command !== "") return { body: { message_generator: command }, isTensors: true };
  const hint = 'Write {"text": "COMMAND"} on each line; the command writes the messages of a call.';
  throw userError("missing", "--input-file", "has a line without a command", hint, givenSource);
}

async function openTemplateLayout(
  source: TemplateSource,
  layout: LayoutSettings,
  tokenizer: Tokenizer | undefined,
): Promise<PayloadLayout> {
  const opened = await openTemplate(source);
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

/** Finds a template by name, reads it from a file, or uses the value as its text. @throws UserError if none of these is possible */
function findTemplate(value: string, isFile: boolean): TemplateSource {
  const named = Object.hasOwn(NAMED_TEMPLATES, value) ? NAMED_TEMPLATES[value] : undefined;
  if (named !== undefined) return { text: named, name: value };
  if (!isFile && /\{[{%]/.test(value)) return { text: value, name: "--extra-inputs payload_template" };
  if (!isFile) {
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
