import * as library from "@huggingface/tokenizers";
import { isObject, TokenizerFileError } from "./part-config.ts";

/** Patterns of `tokenizer.json`: fixed text, or a regular expression of Oniguruma. */

/** What is used of the library. Its declarations name their files without endings and cannot be resolved. */
const { SplitPreTokenizer } = library as unknown as {
  readonly SplitPreTokenizer: new (config: object) => { readonly pattern: RegExp | null };
};

/**
 * Compiles `{"String": …}` or `{"Regex": …}`; the result has the flags `g` and `u`. Throws {@link TokenizerFileError}.
 * The library translates Oniguruma's syntax, whose `\s`, `\w`, `\d` and classes differ from JavaScript's.
 */
export function compilePattern(pattern: unknown): RegExp {
  if (isObject(pattern) && typeof pattern["String"] === "string") return fixedPattern(pattern["String"]);
  const source = isObject(pattern) ? pattern["Regex"] : undefined;
  if (typeof source !== "string") throw new TokenizerFileError("a pattern is neither a String nor a Regex");
  let compiled: RegExp | null;
  try {
    compiled = new SplitPreTokenizer({ type: "Split", pattern: { Regex: source }, behavior: "Isolated", invert: false })
      .pattern;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TokenizerFileError(`the regular expression ${source} cannot be used: ${reason}`);
  }
  if (compiled === null) throw new TokenizerFileError(`the regular expression ${source} cannot be used`);
  return compiled;
}

/** A pattern that matches this text and nothing else. */
export function fixedPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&").replaceAll("\\-", "-"), "gu");
}
