import type { Json, JsonObject, PromptEntry } from "./prompt-entry.ts";

/** Conversations as the chat, responses and Anthropic messages endpoints take them. */

/** The Anthropic API refuses requests without a limit. */
const MESSAGES_MAX_TOKENS = 1024;

/** System message, user context and the prompt, those that there are. */
export function chatMessages(entry: PromptEntry, content: Json): JsonObject[] {
  const system = entry.system === undefined ? [] : [{ role: "system", content: entry.system }];
  return [...system, ...userMessages(entry, content)];
}

/** A prompt's texts, images and sounds as the parts of one chat message. */
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

/** The `input` of OpenAI's responses endpoint. */
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

/** A request to Anthropic's messages endpoint, which has the system message beside the others. */
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
    messages: userMessages(entry, content),
    ...(entry.system === undefined ? {} : { system: entry.system }),
    max_tokens: entry.maxTokens ?? MESSAGES_MAX_TOKENS,
  };
}

function userMessages(entry: PromptEntry, content: Json): JsonObject[] {
  const context = entry.userContext === undefined ? [] : [{ role: "user", content: entry.userContext }];
  return [...context, { role: "user", content }];
}

function imageSource(url: string): JsonObject {
  const parts = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (parts === null) return { type: "url", url };
  return { type: "base64", media_type: parts[1] as string, data: parts[2] as string };
}
