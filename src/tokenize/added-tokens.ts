import { isObject } from "../plan/objects.ts";
import type { Normalize } from "./normalizers.ts";
import { type PartConfig, readFlag, TokenizerFileError } from "./part-config.ts";

/** Tokens added to the vocabulary, searched for before the text is tokenized. Source: `tokenizers`, `added_vocabulary`. */

/** One added token. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Whether it matches only without adjacent letters and digits. */
  readonly isSingleWord: boolean;
  /** Whether it includes the blanks before it. */
  readonly stripsLeft: boolean;
  /** Whether it includes the blanks after it. */
  readonly stripsRight: boolean;
  /** Whether it matches the normalized text. */
  readonly isNormalized: boolean;
}

/** A part of a text: the id of an added token, or the text between two of them. */
export type Section = number | string;

const WORD_CHAR = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]";
const ENDS_WITH_WORD = new RegExp(`${WORD_CHAR}$`, "u");
const STARTS_WITH_WORD = new RegExp(`^${WORD_CHAR}`, "u");
const LEADING_BLANKS = /^\p{White_Space}*/u;

/** Reads `added_tokens`. Throws {@link TokenizerFileError}. */
export function readAddedTokens(value: unknown): AddedToken[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isObject))
    throw new TokenizerFileError("added_tokens is not a list of objects");
  return value.map((entry, index) => readAddedToken(entry, entry["id"], `added_tokens[${index}]`));
}

/** Reads an added token. @param where its place, for the error. Throws {@link TokenizerFileError}. */
export function readAddedToken(config: PartConfig, id: unknown, where: string): AddedToken {
  const content = config["content"];
  if (typeof id !== "number" || typeof content !== "string")
    throw new TokenizerFileError(`${where} has no id or no content`);
  if (!Number.isInteger(id) || id < 0) throw new TokenizerFileError(`${where}.id is ${id}, expected a whole number`);
  return {
    id,
    content,
    isSingleWord: readFlag(config, "single_word", false),
    stripsLeft: readFlag(config, "lstrip", false),
    stripsRight: readFlag(config, "rstrip", false),
    isNormalized: readFlag(config, "normalized", !readFlag(config, "special", false)),
  };
}

/** Finds added tokens: first those that match the original text, then the others in the remaining text, which is normalized. */
export class AddedTokenSplitter {
  private readonly plain: Finder;
  private readonly normalized: Finder;
  private readonly normalize: Normalize;

  constructor(tokens: readonly AddedToken[], normalize: Normalize) {
    this.normalize = normalize;
    this.plain = new Finder(tokens.filter(({ isNormalized }) => !isNormalized).map((token) => [token.content, token]));
    this.normalized = new Finder(
      tokens.filter(({ isNormalized }) => isNormalized).map((token) => [normalize(token.content), token]),
    );
  }

  /** Returns the text's parts. Texts between tokens are normalized. */
  split(text: string): Section[] {
    return this.plain
      .split(text)
      .flatMap((section) => (typeof section === "number" ? [section] : this.normalized.split(this.normalize(section))));
  }
}

/** Finds the longest token at each place, from left to right. */
class Finder {
  /** Tokens by their first UTF-16 unit, the longest first. */
  private readonly byFirst = new Map<string, [content: string, token: AddedToken][]>();
  private readonly first: RegExp | undefined;

  constructor(contents: readonly [content: string, token: AddedToken][]) {
    for (const entry of contents) {
      const first = entry[0][0];
      if (first === undefined) continue;
      const sameFirst = this.byFirst.get(first);
      if (sameFirst === undefined) this.byFirst.set(first, [entry]);
      else sameFirst.push(entry);
    }
    for (const entries of this.byFirst.values()) entries.sort(([one], [other]) => other.length - one.length);
    if (this.byFirst.size === 0) return;
    const units = [...this.byFirst.keys()].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    // Without the flag u, so that it also finds UTF-16 units of surrogate pairs.
    this.first = new RegExp(`[${units.join("")}]`, "g");
  }

  split(text: string): Section[] {
    if (text === "") return [];
    if (this.first === undefined) return [text];
    const sections: Section[] = [];
    let done = 0;
    for (let match = this.find(text, 0); match !== undefined; ) {
      const { token, end } = match;
      const { start, stop } = withBlanks(text, match, done);
      if (!token.isSingleWord || standsAlone(text, match.start, end)) {
        if (start > done) sections.push(text.slice(done, start));
        sections.push(token.id);
        done = stop;
      }
      match = this.find(text, end);
    }
    if (done < text.length) sections.push(text.slice(done));
    return sections;
  }

  private find(text: string, from: number): { token: AddedToken; start: number; end: number } | undefined {
    const first = this.first as RegExp;
    first.lastIndex = from;
    for (let match = first.exec(text); match !== null; match = first.exec(text)) {
      const start = match.index;
      const found = this.byFirst.get(match[0])?.find(([content]) => text.startsWith(content, start));
      if (found !== undefined) return { token: found[1], start, end: start + found[0].length };
    }
    return undefined;
  }
}

function standsAlone(text: string, start: number, end: number): boolean {
  return (
    !ENDS_WITH_WORD.test(text.slice(Math.max(0, start - 2), start)) && !STARTS_WITH_WORD.test(text.slice(end, end + 2))
  );
}

/** Returns the token's start and end, including its blanks. */
function withBlanks(
  text: string,
  { token, start, end }: { token: AddedToken; start: number; end: number },
  done: number,
): { start: number; stop: number } {
  let from = start;
  if (token.stripsLeft) while (from > done && /\p{White_Space}/u.test(text[from - 1] as string)) from--;
  const blanks = token.stripsRight ? (LEADING_BLANKS.exec(text.slice(end))?.[0].length ?? 0) : 0;
  return { start: from, stop: end + blanks };
}
