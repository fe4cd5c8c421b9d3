import { encoder } from "../runtime/text.ts";
import { BYTE_CHARS, toByteChars } from "./byte-alphabet.ts";
import { MergeList, type MergeTable, mergePairs } from "./pair-merger.ts";
import { type PartConfig, readFlag, readOptionalText, TokenizerFileError } from "./part-config.ts";
import type { TokenizerModel } from "./tokenizer-model.ts";
import { readVocabulary, type Vocabulary } from "./vocabulary.ts";

/** Byte-pair encoding, as described by `tokenizer.json`. Source: HuggingFace's `tokenizers`, `models/bpe`. */

/** Creates the model. Throws {@link TokenizerFileError}. */
export function createBpe(config: PartConfig, leavesBytes: boolean): TokenizerModel {
  const vocabulary = readVocabulary(config["vocab"]);
  const merges = readMerges(config, vocabulary);
  const symbolsOf = createSymbols(config, vocabulary, leavesBytes);
  const takesWhole = readFlag(config, "ignore_merges", false);
  return {
    encodeWord(word, ids) {
      if (takesWhole) {
        const whole = vocabulary.idOf(leavesBytes ? toByteChars(word) : word);
        if (whole !== undefined) {
          ids.push(whole);
          return;
        }
      }
      const symbols = symbolsOf(word);
      const count = mergePairs(symbols, merges);
      for (let index = 0; index < count; index++) ids.push(symbols[index] as number);
    },
    tokenOf: (id) => vocabulary.tokenOf(id),
  };
}

/** Returns the merges with their results. */
function readMerges(config: PartConfig, vocabulary: Vocabulary): MergeTable {
  const merges = readMergeList(config["merges"], vocabulary);
  const prefixLength = (readOptionalText(config, "continuing_subword_prefix") ?? "").length;
  // Looked up on first use: looking up all merges would take a third of the time to load a large vocabulary.
  const made = new Int32Array(merges.length).fill(-1);
  const make = (rank: number): number => {
    const [left, right] = merges.pairOf(rank).map((id) => vocabulary.tokenOf(id) as string) as [string, string];
    const token = vocabulary.idOf(left + right.slice(prefixLength));
    if (token === undefined)
      throw new TokenizerFileError(`the result of model.merges[${rank}] (${left} ${right}) is not in the vocabulary`);
    made[rank] = token;
    return token;
  };
  return {
    rankOf: (left, right) => merges.rankOf(left, right),
    tokenOf: (rank) => ((made[rank] as number) < 0 ? make(rank) : (made[rank] as number)),
  };
}

/** Reads both forms, `"a b"` and, since 0.20, `["a", "b"]`, unless the file's reader has done so. */
function readMergeList(list: unknown, vocabulary: Vocabulary): MergeList {
  if (list instanceof MergeList) return list;
  if (!Array.isArray(list)) throw new TokenizerFileError("model.merges is not a list");
  const merges = new MergeList();
  for (const [rank, merge] of (list as readonly unknown[]).entries()) {
    const [left, right] = typeof merge === "string" ? splitMerge(merge) : Array.isArray(merge) ? merge : [];
    const [leftId, rightId] = [left, right].map((token) =>
      typeof token === "string" ? vocabulary.idOf(token) : undefined,
    );
    if (leftId === undefined || rightId === undefined)
      throw new TokenizerFileError(`model.merges[${rank}] (${JSON.stringify(merge)}) is not in the vocabulary`);
    merges.add(leftId, rightId);
  }
  return merges;
}

function splitMerge(merge: string): [string, string] {
  const space = merge.indexOf(" ");
  return [merge.slice(0, space), merge.slice(space + 1)];
}

/** Returns the function that splits a word into symbols before merging. */
function createSymbols(config: PartConfig, vocabulary: Vocabulary, leavesBytes: boolean): (word: string) => number[] {
  const prefix = readOptionalText(config, "continuing_subword_prefix") ?? "";
  const suffix = readOptionalText(config, "end_of_word_suffix") ?? "";
  if (leavesBytes && prefix === "" && suffix === "") {
    const ofByte = BYTE_CHARS.map((char) => vocabulary.idOf(char));
    const complete = ofByte.filter((id) => id !== undefined);
    if (complete.length === ofByte.length)
      return (word) => Array.from(encoder.encode(word), (byte) => complete[byte] as number);
  }
  const ofChars = createCharSymbols(config, vocabulary, prefix, suffix);
  return leavesBytes ? (word) => ofChars(toByteChars(word)) : ofChars;
}

/** Splits into characters. Unknown ones become their bytes, the unknown token, or nothing. */
function createCharSymbols(
  config: PartConfig,
  vocabulary: Vocabulary,
  prefix: string,
  suffix: string,
): (word: string) => number[] {
  const unknownToken = readOptionalText(config, "unk_token");
  const unknown = unknownToken === undefined ? undefined : vocabulary.idOf(unknownToken);
  const fusesUnknown = readFlag(config, "fuse_unk", false);
  const hasBytes = readFlag(config, "byte_fallback", false);
  return (word) => {
    const symbols: number[] = [];
    const chars = Array.from(word);
    // Like in the original, an unknown token is emitted after the bytes that follow it.
    let pending = 0;
    const flush = (): void => {
      for (; pending > 0; pending--) symbols.push(unknown as number);
    };
    for (const [index, char] of chars.entries()) {
      const id = vocabulary.idOf((index > 0 ? prefix : "") + char + (index === chars.length - 1 ? suffix : ""));
      if (id !== undefined) {
        flush();
        symbols.push(id);
        continue;
      }
      const bytes = hasBytes ? vocabulary.bytesOf((index > 0 ? prefix : "") + char) : undefined;
      if (bytes !== undefined) {
        symbols.push(...bytes);
      } else if (unknown !== undefined) {
        if (!fusesUnknown) flush();
        pending = 1;
      }
    }
    flush();
    return symbols;
  };
}
