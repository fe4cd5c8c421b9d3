import { isObject } from "../plan/objects.ts";
import { type AddedToken, AddedTokenSplitter, readAddedTokens } from "./added-tokens.ts";
import { createBpe } from "./bpe.ts";
import { type ChatFormat, readChatFormat, readSpecialTokens } from "./chat-format.ts";
import { createDecoder, type Decode } from "./decoders.ts";
import { createNormalizer } from "./normalizers.ts";
import { MergeList } from "./pair-merger.ts";
import { type PartConfig, pickPart, readOptionalText, readPart, TokenizerFileError } from "./part-config.ts";
import { createPreTokenizer, type PreTokenizer } from "./pre-tokenizers.ts";
import type { Tokenizer } from "./tokenizer.ts";
import type { TokenizerModel } from "./tokenizer-model.ts";
import { createUnigram } from "./unigram.ts";
import { WordCache } from "./word-cache.ts";
import { createWordLevel, createWordPiece } from "./word-piece.ts";

/**
 * Tokenizers described by HuggingFace's `tokenizer.json`. They give the same tokens as the Python library. `@huggingface/tokenizers`,
 * with which the tests compare plain text, does not: it differs in word characters, non-ASCII digits and blanks, punctuation, behaviours
 * of splits, compiled charsmaps, ideographs beyond U+FFFF, invalid bytes and single-word added tokens.
 *
 * Known differences from Python: character classes follow the runtime's version of Unicode, while parts of the Python library know only
 * Unicode 8 (BERT's and `Punctuation`'s signs, accents). Truncation and padding are ignored, as `transformers` does by default.
 */
export class JsonTokenizer implements Tokenizer {
  readonly name: string;
  readonly endId: number | undefined;
  readonly chat: ChatFormat | undefined;
  private readonly added: ReadonlyMap<number, AddedToken>;
  private readonly splitter: AddedTokenSplitter;
  private readonly preTokenizer: PreTokenizer;
  private readonly model: TokenizerModel;
  private readonly decoder: Decode | undefined;
  private readonly words: WordCache;

  /**
   * @param file the parsed `tokenizer.json`
   * @param extraTokens added tokens from other files; those of this file take precedence
   * @param config the parsed `tokenizer_config.json`, for the end token and conversations. Throws {@link TokenizerFileError}.
   */
  constructor(name: string, file: unknown, extraTokens: readonly AddedToken[] = [], config?: unknown) {
    if (!isObject(file)) throw new TokenizerFileError("it is not a JSON object");
    this.name = name;
    const normalizer = readPart(file["normalizer"], "normalizer");
    const preTokenizer = readPart(file["pre_tokenizer"], "pre_tokenizer");
    const decoder = readPart(file["decoder"], "decoder");
    const model: PartConfig | undefined = readPart(file["model"], "model");
    if (model === undefined) throw new TokenizerFileError("it has no model");
    this.preTokenizer = createPreTokenizer(preTokenizer);
    this.model = createModel(model, this.preTokenizer.leavesBytes);
    this.decoder = decoder === undefined ? undefined : createDecoder(decoder);
    this.added = new Map([...extraTokens, ...readAddedTokens(file["added_tokens"])].map((token) => [token.id, token]));
    this.splitter = new AddedTokenSplitter(
      [...this.added.values()],
      normalizer === undefined ? (text) => text : createNormalizer(normalizer),
    );
    this.words = new WordCache((word, ids) => this.model.encodeWord(word, ids));
    this.chat = readChatFormat(config);
    const { eos_token: end } = readSpecialTokens(config);
    const [endId, ...more] = end === undefined ? [] : this.encode(end);
    this.endId = more.length === 0 ? endId : undefined;
  }

  encode(text: string): readonly number[] {
    const ids: number[] = [];
    this.walk(
      text,
      (id) => ids.push(id),
      (word) => this.words.append(word, ids),
    );
    return ids;
  }

  count(text: string): number {
    let count = 0;
    this.walk(
      text,
      () => count++,
      (word) => {
        count += this.words.count(word);
      },
    );
    return count;
  }

  decode(ids: readonly number[]): string {
    const tokens: string[] = [];
    for (const id of ids) {
      const token = this.added.get(id)?.content ?? this.model.tokenOf(id);
      if (token !== undefined) tokens.push(token);
    }
    return this.decoder === undefined ? tokens.join(" ") : this.decoder(tokens).join("");
  }

  /** Visits the text's added tokens and words in order. */
  private walk(text: string, onToken: (id: number) => void, onWord: (word: string) => void): void {
    let isFirst = true;
    for (const section of this.splitter.split(text)) {
      if (typeof section === "number") onToken(section);
      else for (const word of this.preTokenizer.cut(section, isFirst)) if (word !== "") onWord(word);
      isFirst = false;
    }
  }
}

/** @param leavesBytes whether words are plain text, which the model converts to the byte alphabet */
type CreateModel = (config: PartConfig, leavesBytes: boolean) => TokenizerModel;

/** The models of `tokenizer.json`: a model turns a word into tokens. */
const MODELS: Readonly<Record<string, CreateModel>> = {
  BPE: createBpe,
  WordPiece: createWordPiece,
  WordLevel: createWordLevel,
  Unigram: createUnigram,
};

/** Creates the model. Throws `TokenizerFileError`. */
export function createModel(config: PartConfig, leavesBytes: boolean): TokenizerModel {
  return pickPart(MODELS, { ...config, type: config["type"] ?? guessType(config) }, "model")(config, leavesBytes);
}

/** Guesses the type, which old files do not contain. */
function guessType(config: PartConfig): string {
  if (Array.isArray(config["merges"]) || config["merges"] instanceof MergeList) return "BPE";
  if (Array.isArray(config["vocab"])) return "Unigram";
  return readOptionalText(config, "continuing_subword_prefix") === undefined ? "WordLevel" : "WordPiece";
}
