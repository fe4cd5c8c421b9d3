/** Turns text into tokens and back, as the model's own tokenizer does. */

/** A loaded tokenizer. It never adds special tokens; those that stand in a text are recognised where the original recognises them. */
export interface Tokenizer {
  /** What it was asked for as, for example a folder, `org/model` or `cl100k_base`. */
  readonly name: string;
  /** The tokens of a text, by id. */
  encode(text: string): readonly number[];
  /** The text of tokens, special ones included; ids that the vocabulary lacks are left out. */
  decode(ids: readonly number[]): string;
  /** How many tokens a text has. */
  count(text: string): number;
}
