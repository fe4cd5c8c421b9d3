import { toByteChars } from "./byte-alphabet.ts";
import { type PartConfig, readNumber, readText, TokenizerFileError } from "./part-config.ts";
import type { TokenizerModel } from "./tokenizer-model.ts";
import { readVocabulary, type Vocabulary } from "./vocabulary.ts";

/** WordPiece and WordLevel. Source: HuggingFace's `tokenizers`, `models/wordpiece` and `models/wordlevel`. */

/** Creates the model. Throws {@link TokenizerFileError}. */
export function createWordPiece(config: PartConfig, leavesBytes: boolean): TokenizerModel {
  const vocabulary = readVocabulary(config["vocab"]);
  const unknown = findUnknown(config, vocabulary);
  const prefix = readText(config, "continuing_subword_prefix", "##");
  const maxChars = readNumber(config, "max_input_chars_per_word", 100);
  return {
    encodeWord(word, ids) {
      const chars = Array.from(leavesBytes ? toByteChars(word) : word);
      const pieces = chars.length > maxChars ? undefined : cutPieces(chars, prefix, vocabulary);
      if (pieces === undefined) ids.push(unknown());
      else ids.push(...pieces);
    },
    tokenOf: (id) => vocabulary.tokenOf(id),
  };
}

/** Takes the longest known piece, then the longest piece of the rest, and so on; undefined if no piece fits. */
function cutPieces(chars: readonly string[], prefix: string, vocabulary: Vocabulary): number[] | undefined {
  const pieces: number[] = [];
  let start = 0;
  while (start < chars.length) {
    let end = chars.length;
    let rest = (start > 0 ? prefix : "") + chars.slice(start).join("");
    let id = vocabulary.idOf(rest);
    while (id === undefined) {
      end--;
      if (end === start) return undefined;
      rest = rest.slice(0, rest.length - (chars[end] as string).length);
      id = vocabulary.idOf(rest);
    }
    pieces.push(id);
    start = end;
  }
  return pieces;
}

/** Creates the model. Throws {@link TokenizerFileError}. */
export function createWordLevel(config: PartConfig, leavesBytes: boolean): TokenizerModel {
  const vocabulary = readVocabulary(config["vocab"]);
  const unknown = findUnknown(config, vocabulary);
  return {
    encodeWord: (word, ids) => {
      ids.push(vocabulary.idOf(leavesBytes ? toByteChars(word) : word) ?? unknown());
    },
    tokenOf: (id) => vocabulary.tokenOf(id),
  };
}

/** A missing unknown token is an error only if a word needs it. */
function findUnknown(config: PartConfig, vocabulary: Vocabulary): () => number {
  const token = readText(config, "unk_token", "[UNK]");
  const id = vocabulary.idOf(token);
  return () => {
    if (id === undefined) throw new TokenizerFileError(`the unknown token ${token} is not in the vocabulary`);
    return id;
  };
}
