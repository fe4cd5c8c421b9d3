import { encoder } from "../runtime/text.ts";
import { TokenizerFileError } from "./part-config.ts";

/**
 * SentencePiece's compiled normalization: a double-array trie from UTF-8 text to replacements. Source:
 * `spm_precompiled`, the crate that HuggingFace's library uses, including its handling of graphemes.
 */

/** `spm_precompiled` looks up whole graphemes only below this size. */
const MAX_GRAPHEME_BYTES = 6;
const MAX_KNOWN = 65_536;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Creates the normalizer of a `precompiled_charsmap`. Throws {@link TokenizerFileError}. */
export function compileCharsmap(base64: string): (text: string) => string {
  const map = new Charsmap(decodeBase64(base64));
  const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
  const known = new Map<string, string>();
  return (text) => {
    let normalized = "";
    for (const { segment } of segmenter.segment(text)) {
      let replaced = known.get(segment);
      if (replaced === undefined) {
        replaced = map.normalizeGrapheme(segment);
        if (known.size >= MAX_KNOWN) known.clear();
        known.set(segment, replaced);
      }
      normalized += replaced;
    }
    return normalized;
  };
}

function decodeBase64(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    throw new TokenizerFileError("precompiled_charsmap is not base64");
  }
}

class Charsmap {
  private readonly units: Uint32Array;
  /** The replacements, each ended by a zero byte. */
  private readonly texts: Uint8Array;

  constructor(bytes: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const trieBytes = bytes.length < 4 ? -1 : view.getUint32(0, true);
    if (trieBytes < 0 || trieBytes % 4 !== 0 || 4 + trieBytes > bytes.length)
      throw new TokenizerFileError("precompiled_charsmap is cut off");
    this.units = Uint32Array.from({ length: trieBytes / 4 }, (_, index) => view.getUint32(4 + 4 * index, true));
    this.texts = bytes.subarray(4 + trieBytes);
  }

  normalizeGrapheme(grapheme: string): string {
    const bytes = encoder.encode(grapheme);
    const whole = bytes.length < MAX_GRAPHEME_BYTES ? this.replacement(bytes) : undefined;
    if (whole !== undefined) return whole;
    let normalized = "";
    for (const char of grapheme) normalized += this.replacement(encoder.encode(char)) ?? char;
    return normalized;
  }

  /** Returns the replacement for the shortest key at the beginning of the text; undefined if there is none. */
  private replacement(key: Uint8Array): string | undefined {
    const { units } = this;
    let node = offsetOf(units[0] ?? 0);
    for (const byte of key) {
      if (byte === 0) break;
      node ^= byte;
      const unit = units[node] ?? 0;
      // The label has its highest bit set in leaves.
      if ((unit & 0x8000_00ff) !== byte) return undefined;
      node ^= offsetOf(unit);
      if (((unit >>> 8) & 1) === 1) return this.textAt((units[node] ?? 0) & 0x7fff_ffff);
    }
    return undefined;
  }

  private textAt(start: number): string {
    const end = this.texts.indexOf(0, start);
    return decoder.decode(this.texts.subarray(start, end < 0 ? undefined : end));
  }
}

function offsetOf(unit: number): number {
  return (unit >>> 10) << ((unit & 0x200) >>> 6);
}
