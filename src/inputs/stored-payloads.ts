import { messageOf, RunError, UserError } from "../plan/problem.ts";
import { parseJson } from "../service/json-text.ts";
import { type DataStep, NO_TENSORS } from "./dataset.ts";
import { JsonScanner } from "./json-scanner.ts";
import { type Extent, LargeFile } from "./large-file.ts";
import {
  type PayloadEntry,
  parseLine,
  type StepFacts,
  type StoredPayload,
  toEntry,
  toPayload,
} from "./payload-entry.ts";

const HINT = 'Write {"data": [{"payload": [{…}]}]}, whole.';
const LINE_BYTES = 256 * 1024;
const LINE_FEED = 10;
const decoder = new TextDecoder();

/** A large file of payloads. It is scanned once, and each payload is read when its request is sent. */
export class PayloadFile extends LargeFile {
  /** Yields the entries of the list `data`. @throws UserError with the byte offset when the file is not valid */
  *entries(): Generator<PayloadEntry> {
    const scanner = new JsonScanner(this.source(), this.path, HINT);
    let hasData = false;
    for (const key of scanner.members()) {
      if (key !== "data") {
        scanner.skip();
        continue;
      }
      hasData = true;
      for (const index of scanner.items()) {
        scanner.place = `data[${index}]`;
        yield this.readEntry(scanner);
      }
      scanner.place = "";
    }
    if (!hasData) throw new UserError([{ path: this.path, message: "has no list 'data'", hint: HINT }]);
  }

  /** Yields the entries of a JSON Lines file. @throws UserError when a line is not JSON */
  *lines(): Generator<PayloadEntry> {
    const source = this.source();
    let buffer = new Uint8Array(LINE_BYTES);
    let kept = 0;
    let offset = 0;
    for (let number = 1; ; ) {
      if (kept === buffer.length) buffer = grow(buffer);
      const count = source.read(buffer.subarray(kept));
      const end = kept + count;
      let from = 0;
      for (;;) {
        const feed = buffer.subarray(0, end).indexOf(LINE_FEED, from);
        // The last line need not end with a line feed.
        const lineEnd = feed >= 0 ? feed : count === 0 ? end : -1;
        if (lineEnd < 0 || (feed < 0 && from >= end)) break;
        const text = decoder.decode(buffer.subarray(from, lineEnd));
        const extent = { offset: offset + from, byteCount: lineEnd - from };
        if (text.trim() !== "") {
          const entry = parseLine(text, `${this.path}, line ${number}`);
          yield toEntry(entry, () => new StoredStep(this, extent));
        }
        number++;
        from = lineEnd + 1;
        if (feed < 0) break;
      }
      if (count === 0) return;
      buffer.copyWithin(0, from, end);
      offset += from;
      kept = end - from;
    }
  }

  /** A payload. @throws RunError when the file is not what it was */
  read(extent: Extent): Uint8Array {
    try {
      // The text is the list of payloads, or a whole line.
      const text = this.text(extent);
      const entry = text.startsWith("[") ? { payload: parseJson(text) } : parseLine(text, "a line");
      const { payload } = toEntry(entry, toPayload);
      if (payload === undefined) throw new Error("the payload is missing now");
      return payload;
    } catch (error) {
      const place = `${this.path}, byte ${extent.offset}`;
      throw new RunError("internal", `${place}: ${messageOf(error)}`, "Do not change the file during a run.");
    }
  }

  private readEntry(scanner: JsonScanner): PayloadEntry {
    const fields: Record<string, unknown> = {};
    let extent: Extent | undefined;
    for (const key of scanner.members()) {
      if (key === "payload") extent = scanner.extent();
      else fields[key] = scanner.value();
    }
    return { fields, payload: extent === undefined ? undefined : new StoredStep(this, extent) };
  }
}

/** A step whose payload is read on each access. A small object, because there may be millions. */
class StoredStep implements DataStep, StoredPayload {
  readonly timestampMs?: number;
  readonly sessionId?: string;
  readonly delayMs?: number;
  private readonly file: PayloadFile;
  readonly offset: number;
  readonly byteCount: number;

  constructor(file: PayloadFile, { offset, byteCount }: Extent) {
    this.file = file;
    this.offset = offset;
    this.byteCount = byteCount;
  }

  get payload(): Uint8Array {
    return this.file.read(this);
  }

  get inputs(): DataStep["inputs"] {
    return NO_TENSORS;
  }

  get expected(): DataStep["expected"] {
    return NO_TENSORS;
  }

  get place(): string {
    return `${this.file.path}, byte ${this.offset}`;
  }

  toStep(facts: StepFacts): DataStep {
    return Object.assign(this, facts);
  }
}

function grow(buffer: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(2 * buffer.length);
  grown.set(buffer);
  return grown;
}
