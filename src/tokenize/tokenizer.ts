import type { ChatFormat } from "./chat-format.ts";

/** Conversion of text to tokens and back, like the model's own tokenizer. */

/** A loaded tokenizer. It adds no special tokens. Special tokens in a text are recognized in the same places as by the original. */
export interface Tokenizer {
  /** The name by which it was loaded: a folder, `org/model`, or an encoding such as `cl100k_base`. */
  readonly name: string;
  /** Returns the tokens of a text, by id. */
  encode(text: string): readonly number[];
  /** Returns the text of tokens, including special ones; unknown ids are skipped. */
  decode(ids: readonly number[]): string;
  /** Returns the number of tokens in a text. */
  count(text: string): number;
  /** Id of the token that ends a text. Absent: its files name none. */
  readonly endId?: number | undefined;
  /** Its format of conversations. Absent: its files contain none. */
  readonly chat?: ChatFormat | undefined;
}
