/** The encodings of OpenAI's models, and the encoding of each model. Source: `tiktoken` 0.14, `model.py`. */

/** All encodings, by tiktoken's names. */
export const ENCODING_NAMES = [
  "o200k_base",
  "o200k_harmony",
  "cl100k_base",
  "p50k_base",
  "p50k_edit",
  "r50k_base",
  "gpt2",
] as const;

/** The encoding to use if the tokenizer is unknown. It is part of Rampart. */
export const BUILT_IN_TOKENIZER = "o200k_base" satisfies EncodingName;

export type EncodingName = (typeof ENCODING_NAMES)[number];

/** A trailing `*` matches any ending; the first match wins. */
const MODELS: readonly (readonly [encoding: EncodingName, names: string])[] = [
  ["o200k_base", "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o"],
  ["cl100k_base", "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002"],
  ["cl100k_base", "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large"],
  ["p50k_base", "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 code-cushman-002"],
  ["p50k_base", "code-cushman-001 davinci-codex cushman-codex"],
  ["p50k_edit", "text-davinci-edit-001 code-davinci-edit-001"],
  ["r50k_base", "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada"],
  ["r50k_base", "text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001"],
  ["r50k_base", "text-similarity-ada-001 text-search-davinci-doc-001 text-search-curie-doc-001"],
  ["r50k_base", "text-search-babbage-doc-001 text-search-ada-doc-001"],
  ["r50k_base", "code-search-babbage-code-001 code-search-ada-code-001"],
  ["gpt2", "gpt-2"],
  ["o200k_base", "o1-* o3-* o4-mini-* gpt-5* gpt-4.5-* gpt-4.1-* chatgpt-4o-* gpt-4o-*"],
  ["cl100k_base", "gpt-4-* gpt-3.5-turbo-* gpt-35-turbo-*"],
  ["o200k_harmony", "gpt-oss-*"],
  ["o200k_base", "ft:gpt-4o*"],
  ["cl100k_base", "ft:gpt-4* ft:gpt-3.5-turbo* ft:davinci-002* ft:babbage-002*"],
];

/** Returns the encoding of this name, or of the model of this name; undefined for other names. */
export function findEncoding(name: string): EncodingName | undefined {
  const named = ENCODING_NAMES.find((encoding) => encoding === name);
  return named ?? MODELS.find(([, names]) => names.split(" ").some((pattern) => fits(name, pattern)))?.[0];
}

/** Returns the names that have an encoding: the encodings, and the models that are listed by their full name. */
export function tiktokenNames(): string[] {
  const models = MODELS.flatMap(([, names]) => names.split(" ")).filter((name) => !name.endsWith("*"));
  return [...ENCODING_NAMES, ...models];
}

function fits(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
