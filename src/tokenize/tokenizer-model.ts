/** A model of a `tokenizer.json`, which converts words to tokens. */
export interface TokenizerModel {
  /** Adds the word's tokens to the list. */
  encodeWord(word: string, ids: number[]): void;
  /** Returns the token's text; undefined if the vocabulary lacks it. */
  tokenOf(id: number): string | undefined;
}
