import { toByteChars } from "./byte-alphabet.ts";
import { compileCharsmap } from "./charsmap.ts";
import { type PartConfig, pickPart, readFlag, readParts, readText, TokenizerFileError } from "./part-config.ts";
import { compilePattern } from "./text-pattern.ts";

/**
 * The normalizers of `tokenizer.json`. Source: HuggingFace's `tokenizers`. Its character classes follow Unicode, unlike JavaScript's
 * `\s`, `trim` and `toLowerCase`.
 */

/** Changes a text before it is split. */
export type Normalize = (text: string) => string;

const NORMALIZERS: Readonly<Record<string, (config: PartConfig) => Normalize>> = {
  Sequence: (config) => {
    const steps = readParts(config, "normalizers").map(createNormalizer);
    return (text) => {
      const most = mostCharacters(text.length);
      return steps.reduce((normalized, step) => {
        checkLength(normalized.length, most);
        return step(normalized);
      }, text);
    };
  },
  NFC: () => (text) => text.normalize("NFC"),
  NFD: () => (text) => text.normalize("NFD"),
  NFKC: () => (text) => text.normalize("NFKC"),
  NFKD: () => (text) => text.normalize("NFKD"),
  Nmt: () => normalizeNmt,
  Lowercase: () => lowerCase,
  Strip: (config) => {
    const left = readFlag(config, "strip_left", true) ? /^\p{White_Space}+/u : undefined;
    const right = readFlag(config, "strip_right", true);
    return (text) => {
      const rest = left === undefined ? text : text.replace(left, "");
      return right ? trimEnd(rest) : rest;
    };
  },
  StripAccents: () => (text) => text.replace(/\p{M}/gu, ""),
  Replace: (config) => {
    const pattern = compilePattern(config["pattern"]);
    const content = readText(config, "content", "");
    return (text) => {
      let length = text.length;
      const most = mostCharacters(length);
      return text.replace(pattern, (found) => {
        length += content.length - found.length;
        checkLength(length, most);
        return content;
      });
    };
  },
  Prepend: (config) => {
    const prefix = readText(config, "prepend", "");
    return (text) => (text === "" ? "" : prefix + text);
  },
  ByteLevel: () => toByteChars,
  BertNormalizer: createBertNormalizer,
  Precompiled: (config) => {
    const charsmap = readText(config, "precompiled_charsmap", "");
    return charsmap === "" ? (text) => text : compileCharsmap(charsmap);
  },
};

/** Returns the maximum length of a normalized text, because a file can make texts grow without limit. */
function mostCharacters(length: number): number {
  return 16 * length + 1024 * 1024;
}

function checkLength(length: number, most: number): void {
  if (length > most) throw new TokenizerFileError("its normalizer makes texts more than 16 times as long");
}

/** Creates a normalizer. Throws `TokenizerFileError` for an unsupported type. */
export function createNormalizer(config: PartConfig): Normalize {
  return pickPart(NORMALIZERS, config, "normalizer")(config);
}

/** Converts character by character: a sigma at the end of a word is converted like any other. */
function lowerCase(text: string): string {
  return text.includes("Σ") ? text.replaceAll("Σ", "σ").toLowerCase() : text.toLowerCase();
}

/** A loop, because a regular expression would try every run of blanks. */
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /\p{White_Space}/u.test(text[end - 1] as string)) end--;
  return text.slice(0, end);
}

function normalizeNmt(text: string): string {
  return text
    .replace(/[\u0001-\u0008\u000B\u000E-\u001F\u007F\u008F\u009F]/g, "")
    .replace(/[\u0009\u000A\u000C\u000D\u1680\u200B-\u200F\u2028\u2029\u2581\uFEFF\uFFFD]/g, " ");
}

/** Ideographs, as defined by BERT (which has the gap before U+2B920 too). */
const IDEOGRAPH =
  /[\u4E00-\u9FFF\u3400-\u4DBF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\uF900-\uFAFF\u{2F800}-\u{2FA1F}]/gu;
// Unicode's class `C` without unassigned characters, which are kept.
const BERT_REMOVED = /[\0\uFFFD]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/gu;

function createBertNormalizer(config: PartConfig): Normalize {
  const isLower = readFlag(config, "lowercase", true);
  const steps: Normalize[] = [];
  if (readFlag(config, "clean_text", true))
    steps.push((text) => text.replace(BERT_REMOVED, "").replace(/\p{White_Space}/gu, " "));
  if (readFlag(config, "handle_chinese_chars", true)) steps.push((text) => text.replace(IDEOGRAPH, " $& "));
  if (readFlag(config, "strip_accents", isLower)) steps.push((text) => text.normalize("NFD").replace(/\p{Mn}/gu, ""));
  if (isLower) steps.push(lowerCase);
  return (text) => steps.reduce((normalized, step) => step(normalized), text);
}
