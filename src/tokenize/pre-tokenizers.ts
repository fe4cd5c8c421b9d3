import { toByteChars } from "./byte-alphabet.ts";
import {
  type PartConfig,
  pickPart,
  readFlag,
  readNumber,
  readParts,
  readText,
  TokenizerFileError,
} from "./part-config.ts";
import { compilePattern, fixedPattern } from "./text-pattern.ts";

/** The pre-tokenizers of `tokenizer.json`, which split a text into words. Source: HuggingFace's `tokenizers`. */

/** Splits a word into smaller ones. @param isFirst true for the word at the beginning of the text */
type Cut = (word: string, isFirst: boolean) => string[];

/** Splits a text into words. */
export interface PreTokenizer {
  readonly cut: Cut;
  /** Whether the words are plain text, which the model converts to the byte alphabet: once per distinct word. */
  readonly leavesBytes: boolean;
}

/** Treatment of the matches of a pattern. Functions that join decide whether a span joins the previous one. */
const BEHAVIORS = {
  removed: undefined,
  isolated: undefined,
  contiguous: (span, previous) => span.isMatch === previous.isMatch,
  mergedwithprevious: (span, previous) => span.isMatch && !previous.isMatch,
  mergedwithnext: (span, previous) => previous.isMatch && !span.isMatch,
} as const satisfies Record<string, Joins | undefined>;
type Behavior = keyof typeof BEHAVIORS;
type Joins = (span: Span, previous: Span) => boolean;

const WHITE = /\p{White_Space}/gu;
const NUMERIC = /\p{N}/gu;
const PUNCTUATION = /[\p{P}!-/:-@[-`{-~]/gu;
const GPT2_WORD =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const WORD_CHARS = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const WORD = new RegExp(`[${WORD_CHARS}]+|[^${WORD_CHARS}\\p{White_Space}]+`, "gu");

const CUTS: Readonly<Record<string, (config: PartConfig) => Cut>> = {
  ByteLevel: (config) => {
    const cut = createByteLevelCut(config);
    return (word, isFirst) => cut(word, isFirst).map(toByteChars);
  },
  Split: (config) => {
    const pattern = compilePattern(config["pattern"]);
    const isInverted = readFlag(config, "invert", false);
    const behavior = readBehavior(config);
    return (word) => split(word, pattern, behavior, isInverted);
  },
  Whitespace: () => (word) => word.match(WORD) ?? [],
  WhitespaceSplit: () => (word) => split(word, WHITE, "removed"),
  BertPreTokenizer: () => (word) =>
    split(word, WHITE, "removed").flatMap((part) => split(part, PUNCTUATION, "isolated")),
  Punctuation: (config) => {
    const behavior = readBehavior(config);
    return (word) => split(word, PUNCTUATION, behavior);
  },
  Digits: (config) => {
    const behavior = readFlag(config, "individual_digits", false) ? "isolated" : "contiguous";
    return (word) => split(word, NUMERIC, behavior);
  },
  CharDelimiterSplit: (config) => {
    const delimiter = fixedPattern(readText(config, "delimiter", " "));
    return (word) => split(word, delimiter, "removed");
  },
  FixedLength: (config) => {
    const length = Math.max(1, readNumber(config, "length", 5));
    return (word) => {
      const chars = Array.from(word);
      const count = Math.ceil(chars.length / length);
      return Array.from({ length: count }, (_, index) => chars.slice(index * length, (index + 1) * length).join(""));
    };
  },
  Metaspace: createMetaspaceCut,
};

/** Creates a pre-tokenizer. Without one, the whole text is one word. Throws `TokenizerFileError` for unsupported types. */
export function createPreTokenizer(config: PartConfig | undefined): PreTokenizer {
  const parts = config === undefined ? [] : flatten(config);
  const last = parts.at(-1);
  const leavesBytes = last !== undefined && last["type"] === "ByteLevel";
  const cuts = parts.map((part, index) =>
    leavesBytes && index === parts.length - 1 ? createByteLevelCut(part) : pickPart(CUTS, part, "pre-tokenizer")(part),
  );
  return { cut: chain(cuts), leavesBytes };
}

function flatten(config: PartConfig): PartConfig[] {
  return config["type"] === "Sequence" ? readParts(config, "pretokenizers").flatMap(flatten) : [config];
}

function chain(cuts: readonly Cut[]): Cut {
  if (cuts.length === 1) return cuts[0] as Cut;
  return (text, isFirst) =>
    cuts.reduce((words, cut) => words.flatMap((word, index) => cut(word, isFirst && index === 0)), [text]);
}

/** Splits into GPT-2's words, as plain text. */
function createByteLevelCut(config: PartConfig): Cut {
  const addsSpace = readFlag(config, "add_prefix_space", true);
  const usesRegex = readFlag(config, "use_regex", true);
  return (word) => {
    const text = addsSpace && !word.startsWith(" ") ? ` ${word}` : word;
    return usesRegex ? split(text, GPT2_WORD, "isolated") : [text];
  };
}

function createMetaspaceCut(config: PartConfig): Cut {
  const mark = readText(config, "replacement", "▁");
  // Old files have a flag instead of a scheme.
  const scheme = readText(config, "prepend_scheme", readFlag(config, "add_prefix_space", true) ? "always" : "never");
  const isSplit = readFlag(config, "split", true);
  const pattern = fixedPattern(mark);
  return (word, isFirst) => {
    const marked = word.replaceAll(" ", mark);
    const isPrepended = scheme === "always" || (scheme === "first" && isFirst);
    const text = isPrepended && !marked.startsWith(mark) ? mark + marked : marked;
    return isSplit ? split(text, pattern, "mergedwithnext") : [text];
  };
}

function readBehavior(config: PartConfig): Behavior {
  const name = readText(config, "behavior", "isolated").toLowerCase();
  if (Object.hasOwn(BEHAVIORS, name)) return name as Behavior;
  throw new TokenizerFileError(`the behavior ${JSON.stringify(name)} is not known`);
}

interface Span {
  start: number;
  end: number;
  readonly isMatch: boolean;
}

/** Splits at a pattern. @param isInverted swaps matches with the text between them */
function split(text: string, pattern: RegExp, behavior: Behavior, isInverted = false): string[] {
  // By far the most frequent case: a loop that allocates only the words.
  if (behavior === "isolated") return isolate(text, pattern);
  const spans = findSpans(text, pattern, isInverted);
  const joins = BEHAVIORS[behavior];
  const kept = joins === undefined ? spans.filter(({ isMatch }) => !isMatch) : mergeSpans(spans, joins);
  return kept.map(({ start, end }) => text.slice(start, end));
}

function isolate(text: string, pattern: RegExp): string[] {
  const words: string[] = [];
  let at = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const word = match[0];
    if (match.index > at) words.push(text.slice(at, match.index));
    // Advances by code point: an empty match within a code point would be found again.
    if (word === "") pattern.lastIndex += (text.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1;
    else words.push(word);
    at = match.index + word.length;
  }
  if (at < text.length) words.push(text.slice(at));
  return words;
}

function findSpans(text: string, pattern: RegExp, isInverted: boolean): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const { index, 0: match } of text.matchAll(pattern)) {
    if (index > at) spans.push({ start: at, end: index, isMatch: isInverted });
    if (match !== "") spans.push({ start: index, end: index + match.length, isMatch: !isInverted });
    at = index + match.length;
  }
  if (at < text.length) spans.push({ start: at, end: text.length, isMatch: isInverted });
  return spans;
}

/** Joins spans to the previous one. @param joins called with the spans as found, not as joined so far */
function mergeSpans(spans: readonly Span[], joins: Joins): Span[] {
  const merged: Span[] = [];
  let previous: Span | undefined;
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && previous !== undefined && joins(span, previous)) last.end = span.end;
    else merged.push({ ...span });
    previous = span;
  }
  return merged;
}
