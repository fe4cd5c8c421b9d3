import { isObject } from "../plan/objects.ts";
import { encoder } from "../runtime/text.ts";
import { TokenizerFileError } from "./part-config.ts";
import { MAX_TOKEN_ID, TokenTable } from "./token-table.ts";

/** A model's tokens and their ids. */
export class Vocabulary extends TokenTable {
  static of(tokens: Iterable<readonly [token: string, id: number]>): Vocabulary {
    const vocabulary = new Vocabulary();
    for (const [token, id] of tokens) vocabulary.setText(token, id);
    return vocabulary;
  }

  /** Returns the ids of the text's UTF-8 bytes, written `<0xE4>`; undefined if one of them is missing. */
  bytesOf(text: string): number[] | undefined {
    const ids: number[] = [];
    for (const byte of encoder.encode(text)) {
      const id = this.idOf(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
      if (id === undefined) return undefined;
      ids.push(id);
    }
    return ids;
  }
}

/** Reads `{"token": id, …}`, unless the file's reader has done so. Throws {@link TokenizerFileError}. */
export function readVocabulary(value: unknown): Vocabulary {
  if (value instanceof Vocabulary) return value;
  if (!isObject(value)) throw new TokenizerFileError("model.vocab is not an object");
  const vocabulary = new Vocabulary();
  for (const token in value) {
    const id = value[token];
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id > MAX_TOKEN_ID)
      throw new TokenizerFileError(`model.vocab[${JSON.stringify(token)}] is not a token id`);
    vocabulary.setText(token, id);
  }
  return vocabulary;
}
