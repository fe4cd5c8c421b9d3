import type { Tags } from "../plan/groups/tags.ts";
import { messageOf, RunError, userError } from "../plan/problem.ts";
import { parseJson } from "../service/json-text.ts";
import { type DataStep, NO_TENSORS } from "./dataset.ts";
import { type Extent, JsonScanner } from "./json-scanner.ts";
import { LargeFile } from "./large-file.ts";
import { type PayloadEntry, parseLine, refuseValidation, toEntry, toPayload } from "./payload-entry.ts";

const HINT = 'Write {"data": [{"payload": [{…}]}]}, whole.';

/** A large file of payloads. It is scanned once, and each payload is read when its request is sent. */
export class PayloadFile extends LargeFile {
  /**
   * Yields the entries of the list `data`, and streams of entries. Each stream must be read before the next element.
   * @throws UserError with the byte offset if the file is not valid
   */
  *elements(): Generator<PayloadEntry | Iterable<PayloadEntry>> {
    const scanner = new JsonScanner(this.source(), this.path, HINT);
    let hasData = false;
    for (const key of scanner.members()) {
      refuseValidation(this.path, key);
      if (key !== "data") {
        scanner.skip();
        continue;
      }
      hasData = true;
      for (const index of scanner.items()) {
        scanner.place = `data[${index}]`;
        yield scanner.isAtArray() ? this.readStream(scanner) : this.readEntry(scanner);
      }
      scanner.place = "";
    }
    if (!hasData) throw userError("missing", this.path, "has no list 'data'", HINT);
  }

  /** Yields the entries of a JSON Lines file. @throws UserError if a line is not JSON */
  *lines(): Generator<PayloadEntry> {
    let number = 0;
    for (const { text, ...extent } of new JsonScanner(this.source(), this.path, HINT).lines()) {
      number++;
      if (text.trim() === "") continue;
      const entry = parseLine(text, `${this.path}, line ${number}`);
      yield toEntry(entry, () => new StoredStep(this, extent));
    }
  }

  /** Reads a payload. @throws RunError if the file has changed */
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

  private *readStream(scanner: JsonScanner): Generator<PayloadEntry> {
    for (const _ of scanner.items()) yield this.readEntry(scanner);
  }

  private readEntry(scanner: JsonScanner): PayloadEntry {
    const fields: Record<string, unknown> = Object.create(null);
    let found: Pick<PayloadEntry, "payload" | "hasSeveral"> = { payload: undefined };
    for (const key of scanner.members()) {
      if (key === "payload") found = this.findPayload(scanner);
      else fields[key] = scanner.value();
    }
    return { fields, ...found };
  }

  /** Finds the list of payloads without parsing it. */
  private findPayload(scanner: JsonScanner): Pick<PayloadEntry, "payload" | "hasSeveral"> {
    if (!scanner.isAtArray()) {
      scanner.skip();
      return { payload: undefined };
    }
    const { offset } = scanner;
    let count = 0;
    let isBody = false;
    for (const index of scanner.items()) {
      if (index === 0) isBody = scanner.isAtNested();
      scanner.skip();
      count++;
    }
    return {
      payload: isBody ? new StoredStep(this, { offset, byteCount: scanner.offset - offset }) : undefined,
      ...(count > 1 ? { hasSeveral: true } : {}),
    };
  }
}

/** A step whose payload is read on each access. A small object, because there may be millions. */
class StoredStep implements DataStep {
  readonly timestampMs?: number;
  readonly sessionId?: string;
  readonly delayMs?: number;
  readonly tags?: Tags;
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
}
