/**
 * Returns the number of prompt tokens of a request's body. The mock's tokens are words, in prompts as in answers; each number of a prompt of
 * token ids is one. Roles, images and audio have none.
 */
export function countPromptTokens({ system, instructions, messages, prompt, input }: Record<string, unknown>): number {
  return countWords(system) + countWords(instructions) + countWords(messages ?? prompt ?? input);
}

function countWords(value: unknown): number {
  if (typeof value === "string") return value.match(/\S+/g)?.length ?? 0;
  if (typeof value === "number") return 1;
  if (Array.isArray(value)) return value.reduce((sum: number, each: unknown) => sum + countWords(each), 0);
  if (typeof value !== "object" || value === null) return 0;
  // A message, or a part of one.
  const { content, text } = value as Readonly<Record<string, unknown>>;
  return countWords(content ?? text);
}
