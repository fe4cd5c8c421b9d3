import { toByteChars } from "./byte-alphabet.ts";
import { type PartConfig, readFlag, TokenizerFileError } from "./part-config.ts";
import type { TokenizerModel } from "./tokenizer-model.ts";
import { Vocabulary } from "./vocabulary.ts";

/** SentencePiece's unigram model, which splits a word in the most likely way. Source: HuggingFace's `tokenizers`, `models/unigram`. */

/** Difference between the scores of the least likely token and of an unknown character, which is even less likely. */
const UNKNOWN_PENALTY = 10;

/** Creates the model. Throws {@link TokenizerFileError}. */
export function createUnigram(config: PartConfig, leavesBytes: boolean): TokenizerModel {
  const unigram = new Unigram(config);
  return {
    encodeWord: (word, ids) => unigram.encode(leavesBytes ? toByteChars(word) : word, ids),
    tokenOf: (id) => unigram.vocabulary.tokenOf(id),
  };
}

class Unigram {
  readonly vocabulary: Vocabulary;
  private readonly scores: Float64Array;
  /** Length of the longest token, by its first UTF-16 unit. */
  private readonly maxLength = new Map<number, number>();
  private readonly unknown: number | undefined;
  private readonly unknownScore: number;
  private readonly hasBytes: boolean;

  constructor(config: PartConfig) {
    const list = config["vocab"];
    if (!Array.isArray(list)) throw new TokenizerFileError("model.vocab is not a list");
    this.vocabulary = new Vocabulary();
    this.scores = new Float64Array(list.length);
    for (const [id, entry] of list.entries()) {
      const [token, score] = Array.isArray(entry) ? (entry as unknown[]) : [];
      if (typeof token !== "string" || typeof score !== "number")
        throw new TokenizerFileError(`model.vocab[${id}] is not a token with its score`);
      this.vocabulary.setText(token, id);
      this.scores[id] = score;
      const first = token.charCodeAt(0);
      if (token.length > (this.maxLength.get(first) ?? 0)) this.maxLength.set(first, token.length);
    }
    const unknown = config["unk_id"];
    this.unknown = typeof unknown === "number" ? unknown : undefined;
    this.unknownScore = this.scores.reduce((least, score) => Math.min(least, score), Infinity) - UNKNOWN_PENALTY;
    this.hasBytes = readFlag(config, "byte_fallback", false);
  }

  encode(word: string, ids: number[]): void {
    const { starts, tokens } = this.findPath(word);
    const path: { start: number; end: number; id: number }[] = [];
    for (let end = word.length; end > 0; end = starts[end] as number)
      path.push({ start: starts[end] as number, end, id: tokens[end] as number });
    path.reverse();
    for (let index = 0; index < path.length; ) {
      const { start, id } = path[index] as { start: number; id: number };
      let { end } = path[index++] as { end: number };
      if (id !== this.unknown) {
        ids.push(id);
        continue;
      }
      // Adjacent unknown characters form one token.
      while (index < path.length && path[index]?.id === this.unknown) end = (path[index++] as { end: number }).end;
      this.addUnknown(word.slice(start, end), ids);
    }
  }

  private addUnknown(text: string, ids: number[]): void {
    const known = this.vocabulary.idOf(text);
    const bytes = known === undefined && this.hasBytes ? this.vocabulary.bytesOf(text) : undefined;
    if (known !== undefined) ids.push(known);
    else if (bytes !== undefined) ids.push(...bytes);
    else ids.push(this.unknown as number);
  }

  /** Returns for each end position in the word the last token of the most likely path to it, and the start of that token. */
  private findPath(word: string): { starts: Int32Array; tokens: Int32Array } {
    const size = word.length;
    const scores = new Float64Array(size + 1);
    const starts = new Int32Array(size + 1).fill(-1);
    const tokens = new Int32Array(size + 1);
    const offer = (start: number, end: number, id: number, score: number): void => {
      if (starts[end] !== -1 && score <= (scores[end] as number)) return;
      starts[end] = start;
      scores[end] = score;
      tokens[end] = id;
    };
    for (let start = 0, step = 1; start < size; start += step) {
      step = (word.codePointAt(start) as number) > 0xffff ? 2 : 1;
      const here = scores[start] as number;
      const most = Math.min(size - start, this.maxLength.get(word.charCodeAt(start)) ?? 0);
      let hasSingle = false;
      for (let length = 1; length <= most; length++) {
        const id = this.vocabulary.idOf(word.slice(start, start + length));
        if (id === undefined) continue;
        offer(start, start + length, id, here + (this.scores[id] as number));
        if (length === step) hasSingle = true;
      }
      if (hasSingle) continue;
      if (this.unknown === undefined)
        throw new TokenizerFileError(`${JSON.stringify(word)} has characters that the vocabulary lacks, and no unk_id`);
      offer(start, start + step, this.unknown, here + this.unknownScore);
    }
    return { starts, tokens };
  }
}
