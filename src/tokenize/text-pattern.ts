import { toRegExp } from "oniguruma-to-es";
import { isObject } from "../plan/objects.ts";
import { messageOf } from "../plan/problem.ts";
import { TokenizerFileError } from "./part-config.ts";

/** Patterns of `tokenizer.json`: fixed text, or a regular expression of Oniguruma. */

/** Oniguruma's `\w` within brackets. Elsewhere `\w` also has these numbers, but the translation uses all numbers. */
const WORD_CHARS = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
const WORD_NUMBERS = "²³¹¼-¾";

/** Compiles `{"String": …}` or `{"Regex": …}` to a global pattern that works by code points. Throws {@link TokenizerFileError}. */
export function compilePattern(pattern: unknown): RegExp {
  if (isObject(pattern) && typeof pattern["String"] === "string") return fixedPattern(pattern["String"]);
  const source = isObject(pattern) ? pattern["Regex"] : undefined;
  if (typeof source !== "string") throw new TokenizerFileError("a pattern is neither a String nor a Regex");
  try {
    // The subclass would hide the groups that emulate possessive quantifiers. These are not used here, and it takes twice
    // the time.
    return toRegExp(spellOutWords(source), { global: true, avoidSubclass: true });
  } catch (error) {
    throw new TokenizerFileError(`the regular expression ${source} cannot be used: ${messageOf(error)}`);
  }
}

/** Replaces `\w` and `\W` by the characters that they match. */
function spellOutWords(source: string): string {
  let depth = 0;
  return source.replace(/\\[\s\S]|[[\]]/g, (found) => {
    if (found === "[") depth++;
    if (found === "]") depth--;
    if (found !== "\\w" && found !== "\\W") return found;
    return `[${found === "\\W" ? "^" : ""}${WORD_CHARS}${depth > 0 ? "" : WORD_NUMBERS}]`;
  });
}

/** Returns a pattern that matches exactly this text. */
export function fixedPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&").replaceAll("\\-", "-"), "gu");
}
