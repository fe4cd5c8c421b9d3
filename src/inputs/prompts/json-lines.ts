import { parseOutsideJson } from "../../plan/document/json-depth.ts";
import { isObject } from "../../plan/objects.ts";
import { messageOf, notJson, type UserError, userError } from "../../plan/problem.ts";
import type { Json, JsonObject } from "../../service/openai/prompt-entry.ts";
import { MOST_LINE_CHARACTERS, readLines, readText, tooLong } from "./lines.ts";

/** An object from a file, with its place for errors. */
export interface JsonRecord {
  readonly value: JsonObject;
  /** For example `prompts.jsonl, line 3`. */
  readonly place: string;
}

/** A record with the text that it was parsed from. */
export interface WrittenRecord extends JsonRecord {
  readonly text: string;
}

/**
 * Reads the objects of a JSON Lines file, one per line. Skips blank lines.
 * @param texts the file's text in pieces; default: the file is read
 * @throws UserError if a line is not an object, with a hint if the whole file is JSON
 */
export async function* readJsonLines(path: string, texts?: AsyncIterable<string>): AsyncGenerator<WrittenRecord> {
  let isFirst = true;
  for await (const { number, text } of readLines(path, texts)) {
    const place = `${path}, line ${number}`;
    yield { value: parseLine(text, path, place, isFirst), text, place };
    isFirst = false;
  }
}

function parseLine(text: string, path: string, place: string, isFirst: boolean): JsonObject {
  let value: Json;
  try {
    value = parseOutsideJson(text) as Json;
  } catch (error) {
    // The first line of multi-line JSON is incomplete.
    if (isFirst && /^(\[|\{)/.test(text) && !text.endsWith("}")) throw jsonInsteadOfLines(path);
    throw notJson(place, error, 'Write one object per line: {"text": "…"}.');
  }
  if (isObject(value)) return value;
  if (Array.isArray(value) && isFirst) throw jsonInsteadOfLines(path);
  const hint = 'Write one object per line: {"text": "…"}.';
  throw userError("invalid-value", place, "is not a JSON object", hint, text.slice(0, 80));
}

function jsonInsteadOfLines(path: string): UserError {
  const message =
    "is JSON, but JSON Lines is expected: one object per line, without surrounding brackets and without commas between them";
  const hint = `Convert it with jq -c '.[]?' ${path} > converted.jsonl (jq -c . if objects span several lines).`;
  return userError("invalid-value", path, message, hint);
}

/**
 * Reads the objects of a JSON Lines file, or of a file in which objects span several lines and comments begin with `#`, as in GenAI-Perf's
 * documentation.
 * @throws UserError for any other content
 */
export async function* readWrittenObjects(path: string): AsyncGenerator<WrittenRecord> {
  // Opened only once, because data from a pipe cannot be read again.
  const texts = readText(path);
  const beginning = await readBeginning(texts);
  const [line = ""] = beginning.trimStart().split("\n", 1);
  const isWhole = line.startsWith("{") && line.trimEnd().endsWith("}");
  const hasLines = isWhole || !/^[{#]/.test(line);
  const all = joined(beginning, texts);
  yield* hasLines ? readJsonLines(path, all) : readJsonObjects(path, withoutComments(all));
}

/**
 * Reads up to the end of the first line that is not blank, or until the line is too long. Returns the whole text that was read.
 */
async function readBeginning(texts: AsyncGenerator<string>): Promise<string> {
  const pieces: string[] = [];
  let length = 0;
  let isInLine = false;
  for (let next = await texts.next(); next.done !== true; next = await texts.next()) {
    const text = next.value;
    pieces.push(text);
    length += text.length;
    const start: number = isInLine ? 0 : text.search(/\S/);
    isInLine ||= start >= 0;
    if ((isInLine && text.includes("\n", start)) || length > MOST_LINE_CHARACTERS) break;
  }
  return pieces.join("");
}

async function* joined(beginning: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield beginning;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** Removes comments, which begin with `#` outside of strings and end with the line. */
async function* withoutComments(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let state: "text" | "string" | "escape" | "comment" = "text";
  for await (const text of texts) {
    let kept = "";
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (state === "comment") {
        if (unit !== LINE_FEED) continue;
        state = "text";
        from = i;
      } else if (state === "escape") state = "string";
      else if (unit === QUOTE) state = state === "string" ? "text" : "string";
      else if (state === "string") state = unit === BACKSLASH ? "escape" : "string";
      else if (unit === HASH) {
        kept += text.slice(from, i);
        state = "comment";
      }
    }
    yield state === "comment" ? kept : kept + text.slice(from);
  }
}

/**
 * Reads the objects of a JSON file that is an array of objects, or a sequence of objects such as JSON Lines.
 * @param texts the file's text. Default: the file is read
 * @throws UserError for any other content
 */
export async function* readJsonObjects(
  path: string,
  texts: AsyncIterable<string> = readText(path),
): AsyncGenerator<WrittenRecord> {
  const splitter = new ObjectSplitter();
  for await (const text of texts) {
    for (const found of splitter.push(text)) yield parseFound(found, path);
    const { problem } = splitter;
    if (splitter.keptLength > MOST_LINE_CHARACTERS) throw tooLong(path, splitter.startLine);
    if (problem !== undefined) throw notObjects(`${path}, line ${splitter.line}`, problem);
  }
  if (splitter.isInside) throw notObjects(path, "ends within an object");
}

function parseFound(found: { readonly text: string; readonly line: number }, path: string): WrittenRecord {
  const place = `${path}, line ${found.line}`;
  try {
    return { value: parseOutsideJson(found.text) as JsonObject, place, text: found.text };
  } catch (error) {
    throw notObjects(place, `is not JSON: ${messageOf(error)}`);
  }
}

function notObjects(place: string, message: string): UserError {
  const hint = "Give a JSON file with an array of objects, or with one object per line.";
  return userError("invalid-value", place, message, hint);
}

const QUOTE = 0x22;
const HASH = 0x23;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Extracts the outermost objects from text that arrives in pieces. */
class ObjectSplitter {
  /** Current line, from 1. */
  line = 1;
  /** Unexpected text between objects. */
  problem: string | undefined;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** First line of the incomplete object. */
  startLine = 1;
  private kept = "";

  /** Number of buffered characters of the incomplete object. */
  get keptLength(): number {
    return this.kept.length;
  }

  get isInside(): boolean {
    return this.depth > 0;
  }

  /** Takes the next piece of text. Returns the objects that end in it. */
  push(text: string): { text: string; line: number }[] {
    const found: { text: string; line: number }[] = [];
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === LINE_FEED) this.line++;
      if (this.isInString) this.passString(unit);
      else if (unit === QUOTE && this.depth > 0) this.isInString = true;
      else if (unit === BRACE_OPEN) {
        if (this.depth++ === 0) {
          start = i;
          this.startLine = this.line;
        }
      } else if (this.depth === 0) {
        if (!/[\s,[\]]/.test(text[i] as string)) this.problem ??= `has '${text[i]}' where an object is expected`;
      } else if (unit === BRACE_CLOSE && --this.depth === 0) {
        found.push({ text: this.kept + text.slice(start, i + 1), line: this.startLine });
        this.kept = "";
      }
      if (this.problem !== undefined) return found;
    }
    if (this.depth > 0) this.kept += text.slice(this.kept === "" ? start : 0);
    return found;
  }

  private passString(unit: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (unit === BACKSLASH) this.isEscaped = true;
    else if (unit === QUOTE) this.isInString = false;
  }
}
