import { parseOutsideJson } from "../plan/document/json-depth.ts";
import { isObject } from "../plan/objects.ts";
import { decoder, encoder } from "../runtime/text.ts";
import { MergeList } from "./pair-merger.ts";
import { MAX_TOKEN_ID } from "./token-table.ts";
import { Vocabulary } from "./vocabulary.ts";

/**
 * Parses a `tokenizer.json`. Vocabularies and merges of the usual form, `{"token": id, …}` and `["a b", …]` or `[["a", "b"], …]`, are read
 * from the bytes into a `Vocabulary` and a `MergeList`: as values of JavaScript, those of a model with 128,000 tokens take 60 MB. Anything
 * else is parsed as JSON, so that its problems are reported as usual.
 * @throws SyntaxError
 */
export function parseTokenizerFile(file: Uint8Array): unknown {
  return parseInParts(file) ?? parseOutsideJson(decoder.decode(file));
}

/** A part of the file. */
interface Part {
  readonly start: number;
  /** After its last byte. */
  readonly end: number;
}

function parseInParts(file: Uint8Array): unknown {
  const reader = new Reader(file);
  const { vocab, merges } = reader.findParts();
  if (vocab === undefined || merges === undefined) return undefined;
  const vocabulary = reader.readVocabulary(vocab);
  const list = vocabulary && reader.readMerges(merges, vocabulary);
  if (vocabulary === undefined || list === undefined) return undefined;
  const [first, second] = vocab.start < merges.start ? [vocab, merges] : [merges, vocab];
  const rest = [file.subarray(0, first.start), file.subarray(first.end, second.start), file.subarray(second.end)];
  const value = parseOrUndefined(rest.map((bytes) => decoder.decode(bytes)).join("null"));
  const model = isObject(value) ? value["model"] : undefined;
  if (!isObject(value) || !isObject(model)) return undefined;
  return { ...value, model: { ...model, vocab: vocabulary, merges: list } };
}

/** Parses JSON; undefined for invalid JSON, whose error is reported when the whole file is parsed. */
function parseOrUndefined(text: string): unknown {
  try {
    return parseOutsideJson(text);
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON, SPACE] = [0x22, 0x5c, 0x2c, 0x3a, 0x20] as const;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;
const [ZERO, NINE] = [0x30, 0x39] as const;

/** Reads parts of a JSON text. Each function leaves `at` behind what it read, and returns undefined for another form. */
class Reader {
  private readonly file: Uint8Array;
  private at = 0;
  /** The latest string: its bytes, which are those of the file unless they were escaped. */
  private text: Uint8Array;
  private textStart = 0;
  private textEnd = 0;

  constructor(file: Uint8Array) {
    this.file = file;
    this.text = file;
  }

  /** Finds the vocabulary and the merges of the model. */
  findParts(): { readonly vocab?: Part | undefined; readonly merges?: Part | undefined } {
    const model = this.findMembers(0).get("model");
    if (model === undefined) return {};
    const members = this.findMembers(model.start);
    return { vocab: members.get("vocab"), merges: members.get("merges") };
  }

  /** Returns the members of an object; none if it has another form, or if one name stands twice. */
  private findMembers(start: number): Map<string, Part> {
    const members = new Map<string, Part>();
    this.at = start;
    const isObject = this.readList(OPEN_OBJECT, CLOSE_OBJECT, () => {
      if (!this.readText()) return false;
      const name = decoder.decode(this.text.subarray(this.textStart, this.textEnd));
      if (!this.skip(COLON) || members.has(name)) return false;
      this.skipBlank();
      const start = this.at;
      this.skipValue();
      members.set(name, { start, end: this.at });
      return true;
    });
    return isObject ? members : new Map();
  }

  readVocabulary({ start, end }: Part): Vocabulary | undefined {
    const vocabulary = new Vocabulary();
    this.at = start;
    const isRead = this.readList(OPEN_OBJECT, CLOSE_OBJECT, () => {
      if (!this.readText() || !this.skip(COLON)) return false;
      const id = this.readId();
      if (id === undefined) return false;
      vocabulary.set(this.text, this.textStart, this.textEnd, id);
      return true;
    });
    return isRead && this.at === end ? vocabulary : undefined;
  }

  readMerges({ start, end }: Part, vocabulary: Vocabulary): MergeList | undefined {
    const merges = new MergeList();
    const pair: number[] = [];
    const addText = (from: number, to: number): void => {
      pair.push(vocabulary.idAt(this.text, from, to));
    };
    this.at = start;
    const isRead = this.readList(OPEN_LIST, CLOSE_LIST, () => {
      pair.length = 0;
      if (this.readText()) {
        const space = this.text.indexOf(SPACE, this.textStart);
        if (space < 0 || space >= this.textEnd) return false;
        addText(this.textStart, space);
        addText(space + 1, this.textEnd);
      } else {
        const isPair = this.readList(OPEN_LIST, CLOSE_LIST, () => {
          if (!this.readText()) return false;
          addText(this.textStart, this.textEnd);
          return true;
        });
        if (!isPair) return false;
      }
      const [left = -1, right = -1] = pair;
      if (left < 0 || right < 0) return false;
      merges.add(left, right);
      return true;
    });
    return isRead && this.at === end ? merges : undefined;
  }

  /** Reads a list or an object. @param readItem reads an item, and returns false for another form */
  private readList(open: number, close: number, readItem: () => boolean): boolean {
    if (!this.skip(open)) return false;
    if (this.skip(close)) return true;
    do if (!readItem()) return false;
    while (this.skip(COMMA));
    return this.skip(close);
  }

  /** Reads a string into `text`. */
  private readText(): boolean {
    const { file } = this;
    this.skipBlank();
    if (file[this.at] !== QUOTE) return false;
    const start = this.at + 1;
    let isEscaped = false;
    let end = start;
    for (; file[end] !== QUOTE; end++) {
      const byte = file[end];
      if (byte === undefined || byte < SPACE) return false;
      if (byte !== BACKSLASH) continue;
      isEscaped = true;
      end++;
    }
    this.at = end + 1;
    if (isEscaped) {
      const text = toText(file.subarray(start - 1, end + 1));
      if (text === undefined) return false;
      this.text = encoder.encode(text);
    } else this.text = file;
    [this.textStart, this.textEnd] = isEscaped ? [0, this.text.length] : [start, end];
    return true;
  }

  private readId(): number | undefined {
    this.skipBlank();
    const { file } = this;
    const start = this.at;
    let id = 0;
    for (; isDigit(file[this.at]) && id <= MAX_TOKEN_ID; this.at++) id = 10 * id + (file[this.at] as number) - ZERO;
    const hasZero = file[start] === ZERO && this.at > start + 1;
    return this.at === start || hasZero || id > MAX_TOKEN_ID ? undefined : id;
  }

  /** Skips a value, whose form the parser of JSON checks. */
  private skipValue(): void {
    const { file } = this;
    let depth = 0;
    for (; this.at < file.length; this.at++) {
      const byte = file[this.at];
      if (byte === QUOTE) {
        for (this.at++; this.at < file.length && file[this.at] !== QUOTE; this.at++)
          if (file[this.at] === BACKSLASH) this.at++;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (depth === 0) return;
        depth--;
        if (depth === 0) {
          this.at++;
          return;
        }
      } else if (byte === COMMA && depth === 0) return;
    }
  }

  /** Skips blanks and this character. Returns false, and skips only blanks, if another one follows. */
  private skip(byte: number): boolean {
    this.skipBlank();
    if (this.file[this.at] !== byte) return false;
    this.at++;
    return true;
  }

  private skipBlank(): void {
    for (let byte = this.file[this.at]; byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09; )
      byte = this.file[++this.at];
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** Returns the text of a JSON string; undefined for anything else, and for a text with half of a character. */
function toText(json: Uint8Array): string | undefined {
  const text = parseOrUndefined(decoder.decode(json));
  return typeof text === "string" && text.isWellFormed() ? text : undefined;
}
