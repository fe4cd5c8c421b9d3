/** Text to tokens and back, without the special tokens a model puts around a text (beginning, end, chat marks). */
export interface Tokenizer {
  /** As the user named it: a folder, a file, a model's name or an encoding. */
  readonly name: string;
  encode(text: string): readonly number[];
  decode(ids: readonly number[]): string;
  /** `encode(text).length`, often quicker. */
  count(text: string): number;
}
