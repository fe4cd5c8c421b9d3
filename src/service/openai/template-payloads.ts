import { formatJson } from "../json-text.ts";
import { finishPayload, type LayoutSettings, type Payload, selectModel } from "./payload.ts";
import type { PayloadTemplate } from "./payload-template.ts";
import type { JsonObject, PromptEntry } from "./prompt-entry.ts";

/**
 * Creates the requests of one entry from a template, with AIPerf's variables: `text`, `texts`, `image(s)`, `audio(s)`, `query`, `queries`,
 * `passage(s)`, `system`, `model`, `max_tokens`, `stream` and `role`.
 * @param position position of the entry among all entries, from 0; may determine its model
 * @throws UserError when the template fails
 */
export function createTemplatePayloads(
  entry: PromptEntry,
  position: number,
  settings: LayoutSettings,
  template: PayloadTemplate,
): Payload[] {
  const bodies = template.render(toVariables(entry, entry.model ?? selectModel(settings, position), settings));
  return bodies.map((body) => finishPayload({ ...body, ...settings.extra, ...entry.extra }, entry));
}

function toVariables(entry: PromptEntry, model: string, { isStreaming }: LayoutSettings): Record<string, unknown> {
  const { texts, passages, images = [] } = entry;
  const audios = (entry.audio ?? []).map(({ format, base64 }) => `data:audio/${format};base64,${base64}`);
  const queries = passages === undefined ? [] : texts;
  return {
    texts,
    text: texts[0] ?? null,
    images,
    image: images[0] ?? null,
    audios,
    audio: audios[0] ?? null,
    queries,
    query: queries[0] ?? null,
    passages: passages ?? [],
    passage: passages?.[0] ?? null,
    system: entry.system ?? null,
    model,
    max_tokens: entry.maxTokens ?? null,
    stream: isStreaming,
    role: "user",
  };
}

/** Returns the entry's texts that a body contains, joined by spaces, to determine its input length. */
export function textWithin(entry: PromptEntry, body: JsonObject): string {
  const json = formatJson(body);
  return [entry.system, ...entry.texts, ...(entry.passages ?? [])]
    .filter((text) => text !== undefined && text !== "" && json.includes(JSON.stringify(text).slice(1, -1)))
    .join(" ");
}
