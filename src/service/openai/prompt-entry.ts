/** What one request to a language, embedding, ranking or image model is made of, whatever the endpoint's body looks like. */

/** A JSON value; objects keep the order of their keys. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** A sound clip. */
export interface AudioClip {
  readonly format: "wav" | "mp3";
  /** The file's bytes in base64. */
  readonly base64: string;
}

/** One request's contents; several of one session are its turns, in their order. */
export interface PromptEntry {
  /** The prompts: one, except for batches of embeddings. For rankings the query. */
  readonly texts: readonly string[];
  /** What is ranked against the query. */
  readonly passages?: readonly string[];
  /** A system message before the prompt. */
  readonly system?: string;
  /** A user message between the system message and the prompt. */
  readonly userContext?: string;
  /** Addresses of images: `https://…`, or `data:image/png;base64,…`. */
  readonly images?: readonly string[];
  readonly audio?: readonly AudioClip[];
  /** Which session the request is a turn of. */
  readonly sessionId?: string;
  /** How long the session waits after this turn's answer before its next turn, in milliseconds. */
  readonly delayMs?: number;
  /** When it is due, in milliseconds since the load began. */
  readonly timestampMs?: number;
  /** The most tokens the answer may have; left to the server when absent. */
  readonly maxTokens?: number;
  /** The model asked for; chosen from the run's models when absent. */
  readonly model?: string;
  /** More keys for the request's body, merged after everything else. */
  readonly extra?: JsonObject;
}
