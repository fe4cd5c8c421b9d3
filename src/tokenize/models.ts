import { createBpe } from "./bpe.ts";
import { type PartConfig, pickPart, readOptionalText } from "./part-config.ts";
import type { TokenizerModel } from "./tokenizer-model.ts";
import { createUnigram } from "./unigram.ts";
import { createWordLevel, createWordPiece } from "./word-piece.ts";

/** The models of `tokenizer.json`: a model turns a word into tokens. */

/** @param leavesBytes words come as plain text, and the model writes them in the alphabet of bytes */
type CreateModel = (config: PartConfig, leavesBytes: boolean) => TokenizerModel;

const MODELS: Readonly<Record<string, CreateModel>> = {
  BPE: createBpe,
  WordPiece: createWordPiece,
  WordLevel: createWordLevel,
  Unigram: createUnigram,
};

/** Makes the model. Throws `TokenizerFileError`. */
export function createModel(config: PartConfig, leavesBytes: boolean): TokenizerModel {
  return pickPart(MODELS, { ...config, type: config["type"] ?? guessType(config) }, "model")(config, leavesBytes);
}

/** Old files do not name the type. */
function guessType(config: PartConfig): string {
  if (Array.isArray(config["merges"])) return "BPE";
  if (Array.isArray(config["vocab"])) return "Unigram";
  return readOptionalText(config, "continuing_subword_prefix") === undefined ? "WordLevel" : "WordPiece";
}
