import { fromByteChars } from "./byte-alphabet.ts";
import { type PartConfig, pickPart, readFlag, readNumber, readParts, readText } from "./part-config.ts";
import { compilePattern } from "./text-pattern.ts";

/** The decoders of `tokenizer.json`: they turn tokens back into text. Source: HuggingFace's `tokenizers`, `decoders`. */

/** Changes the tokens; the caller joins the result. */
export type Decode = (tokens: readonly string[]) => readonly string[];

const lossy = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

const DECODERS: Readonly<Record<string, (config: PartConfig) => Decode>> = {
  Sequence: (config) => {
    const steps = readParts(config, "decoders").map(createDecoder);
    return (tokens) => steps.reduce((changed, step) => step(changed), tokens);
  },
  ByteLevel: () => (tokens) => [lossy.decode(Buffer.concat(tokens.map(fromByteChars)))],
  ByteFallback: () => decodeByteFallback,
  Fuse: () => (tokens) => [tokens.join("")],
  Replace: (config) => {
    const pattern = compilePattern(config["pattern"]);
    const content = readText(config, "content", "");
    return (tokens) => tokens.map((token) => token.replace(pattern, () => content));
  },
  Strip: (config) => {
    const content = readText(config, "content", " ");
    const start = readNumber(config, "start", 0);
    const stop = readNumber(config, "stop", 0);
    return (tokens) => tokens.map((token) => strip(token, content, start, stop));
  },
  Metaspace: (config) => {
    const mark = readText(config, "replacement", "▁");
    const scheme = readText(config, "prepend_scheme", readFlag(config, "add_prefix_space", true) ? "always" : "never");
    return (tokens) =>
      tokens.map((token, index) => token.replaceAll(mark, index === 0 && scheme !== "never" ? "" : " "));
  },
  WordPiece: (config) => {
    const prefix = readText(config, "prefix", "##");
    const cleans = readFlag(config, "cleanup", true);
    return (tokens) =>
      tokens.map((token, index) => {
        const rest = token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
        const word = index === 0 ? token : rest;
        return cleans ? cleanUp(word) : word;
      });
  },
  BPEDecoder: (config) => {
    const suffix = readText(config, "suffix", "</w>");
    return (tokens) => tokens.map((token, index) => token.replaceAll(suffix, index === tokens.length - 1 ? "" : " "));
  },
};

/** Creates a decoder. Throws `TokenizerFileError` for an unsupported type. */
export function createDecoder(config: PartConfig): Decode {
  return pickPart(DECODERS, config, "decoder")(config);
}

function decodeByteFallback(tokens: readonly string[]): string[] {
  const texts: string[] = [];
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length > 0) texts.push(decodeOrMark(bytes));
    bytes = [];
  };
  for (const token of tokens) {
    const hex = /^<0x([+\dA-Fa-f][\dA-Fa-f])>$/.exec(token)?.[1];
    if (hex !== undefined) {
      bytes.push(Number.parseInt(hex, 16));
    } else {
      flush();
      texts.push(token);
    }
  }
  flush();
  return texts;
}

/** If the bytes are not valid UTF-8, each of them becomes a replacement character. */
function decodeOrMark(bytes: readonly number[]): string {
  try {
    return strict.decode(Uint8Array.from(bytes));
  } catch {
    return "\uFFFD".repeat(bytes.length);
  }
}

function strip(token: string, content: string, start: number, stop: number): string {
  const chars = Array.from(token);
  let from = 0;
  while (from < start && chars[from] === content) from++;
  let to = chars.length;
  for (let cut = 0; cut < stop && to > 0 && chars[to - 1] === content; cut++) to--;
  return chars.slice(from, Math.max(from, to)).join("");
}

const CLEAN_UPS: readonly (readonly [from: string, to: string])[] = [
  [" .", "."],
  [" ?", "?"],
  [" !", "!"],
  [" ,", ","],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" do not", " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];

function cleanUp(word: string): string {
  return CLEAN_UPS.reduce((cleaned, [from, to]) => cleaned.replaceAll(from, to), word);
}
