/** A JSON value; objects keep the order of their keys. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export interface AudioClip {
  readonly format: "wav" | "mp3";
  /** The file's bytes in base64. */
  readonly base64: string;
}

/**
 * Contents of one request to a language, embedding, ranking or image model, independent of the endpoint's format. Entries of one session
 * are its turns, in order.
 */
export interface PromptEntry {
  /** The prompts: one, except for batches of embeddings. For rankings, the query. */
  readonly texts: readonly string[];
  readonly passages?: readonly string[];
  readonly system?: string;
  /** Addresses of images: `https://…`, or `data:image/png;base64,…`. */
  readonly images?: readonly string[];
  readonly audio?: readonly AudioClip[];
  readonly sessionId?: string;
  /** Delay after this turn's response before the session's next turn, in milliseconds. */
  readonly delayMs?: number;
  /** Due time since the start of the load, in milliseconds. */
  readonly timestampMs?: number;
  /** Maximum number of output tokens. Absent: the server decides. */
  readonly maxTokens?: number;
  /** Model. Absent: chosen from the run's models. */
  readonly model?: string;
  /** Additional keys for the request's body, merged last. */
  readonly extra?: JsonObject;
}
