/** A model of a `tokenizer.json`: turns words into tokens. */
export interface TokenizerModel {
  /** Adds the word's tokens to the list. */
  encodeWord(word: string, ids: number[]): void;
  /** The token's text; undefined when the vocabulary lacks it. */
  tokenOf(id: number): string | undefined;
}
