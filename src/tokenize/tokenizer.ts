import type { ChatFormat } from "./chat-format.ts";

/** Turns text into tokens and back, as the model's own tokenizer does. */

/** A loaded tokenizer. It adds no special tokens; those in a text are recognised where the original recognises them. */
export interface Tokenizer {
  /** The name it was loaded by: a folder, `org/model`, or an encoding such as `cl100k_base`. */
  readonly name: string;
  /** The tokens of a text, by id. */
  encode(text: string): readonly number[];
  /** The text of tokens, special ones included; unknown ids are skipped. */
  decode(ids: readonly number[]): string;
  /** The number of tokens in a text. */
  count(text: string): number;
  /** The id of the token that ends a text. Absent: its files name none. */
  readonly endId?: number | undefined;
  /** How it writes conversations. Absent: its files do not say. */
  readonly chat?: ChatFormat | undefined;
}
