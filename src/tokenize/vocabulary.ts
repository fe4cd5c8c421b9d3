import { isObject } from "../plan/objects.ts";
import { TokenizerFileError } from "./part-config.ts";

/** A model's tokens and their ids. */
export class Vocabulary {
  private readonly ids: ReadonlyMap<string, number>;
  private readonly tokens: string[] = [];

  constructor(ids: ReadonlyMap<string, number>) {
    this.ids = ids;
    for (const [token, id] of ids) this.tokens[id] = token;
  }

  get size(): number {
    return this.ids.size;
  }

  idOf(token: string): number | undefined {
    return this.ids.get(token);
  }

  tokenOf(id: number): string | undefined {
    return this.tokens[id];
  }

  /** Returns the ids of the text's UTF-8 bytes, written `<0xE4>`; undefined if one of them is missing. */
  bytesOf(text: string): number[] | undefined {
    const ids: number[] = [];
    for (const byte of encoder.encode(text)) {
      const id = this.ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
      if (id === undefined) return undefined;
      ids.push(id);
    }
    return ids;
  }
}

const encoder = new TextEncoder();

/** Reads `{"token": id, …}`. Throws {@link TokenizerFileError}. */
export function readVocabulary(value: unknown): Vocabulary {
  if (!isObject(value)) throw new TokenizerFileError("model.vocab is not an object");
  const ids = new Map<string, number>();
  for (const token in value) {
    const id = value[token];
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0)
      throw new TokenizerFileError(`model.vocab[${JSON.stringify(token)}] is not a token id`);
    ids.set(token, id);
  }
  return new Vocabulary(ids);
}
