import { defined } from "../../plan/objects.ts";
import type { Json, JsonObject, PromptEntry } from "./prompt-entry.ts";

/** The Anthropic API rejects requests without a limit. */
const MESSAGES_MAX_TOKENS = 1024;

/** Returns the system message, if present, and the prompt as chat messages. */
export function chatMessages(entry: PromptEntry, content: Json): JsonObject[] {
  const system = entry.system === undefined ? [] : [{ role: "system", content: entry.system }];
  return [...system, { role: "user", content }];
}

/** Returns a prompt's texts, images and audio as the parts of one chat message. */
export function multimodalParts(entry: PromptEntry): JsonObject[] {
  return [
    ...entry.texts.map((text) => ({ type: "text", text })),
    ...(entry.images ?? []).map((url) => ({ type: "image_url", image_url: { url } })),
    ...(entry.audio ?? []).map(({ base64, format }) => ({
      type: "input_audio",
      input_audio: { data: base64, format },
    })),
  ];
}

/** Returns the `input` of OpenAI's responses endpoint. */
export function responsesInput(entry: PromptEntry): JsonObject[] {
  const content: Json =
    entry.images === undefined || entry.images.length === 0
      ? (entry.texts[0] ?? "")
      : [
          ...entry.texts.map((text) => ({ type: "input_text", text })),
          ...entry.images.map((url) => ({ type: "input_image", image_url: url })),
        ];
  return chatMessages(entry, content).map((message) => ({ ...message, type: "message" }));
}

/** Returns a request to Anthropic's messages endpoint, which has a separate field for the system message. */
export function toMessagesBody(entry: PromptEntry, model: string): JsonObject {
  const content: Json =
    entry.images === undefined || entry.images.length === 0
      ? (entry.texts[0] ?? "")
      : [
          ...entry.images.map((url) => ({ type: "image", source: imageSource(url) })),
          ...entry.texts.map((text) => ({ type: "text", text })),
        ];
  return {
    model,
    messages: [{ role: "user", content }],
    ...defined({ system: entry.system }),
    max_tokens: entry.maxTokens ?? MESSAGES_MAX_TOKENS,
  };
}

function imageSource(url: string): JsonObject {
  const parts = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (parts === null) return { type: "url", url };
  return { type: "base64", media_type: parts[1] as string, data: parts[2] as string };
}
