import type { RunError } from "../../plan/problem.ts";
import { hasSecrets, maskSecrets } from "../../plan/secrets.ts";
import { cutOff, notWritten, OutputFile } from "../output-file.ts";
import { TextBuffer } from "./text-buffer.ts";

/** Parts are small, because writing one delays requests that are due. */
const FLUSH_BYTES = 64 * 1024;
/** The end of a cut file may need a block, which the file system frees together with the lines in it. */
const BLOCK_BYTES = 4096;

interface LineFileOptions {
  /** Creates the error that is thrown when the file contains no lines. */
  toError(error: unknown): RunError;
  /** Creates the error that is thrown when the file ends after a number of lines. */
  toCutError(error: unknown, lineCount: number): RunError;
  /** Returns the text that completes the file after any line. Default: none */
  end?(): string;
}

/** Lines that were written in one call. */
interface Part {
  readonly startBytes: number;
  /** Number of lines before these. */
  readonly lineCount: number;
  /** Ends of its lines, in bytes from its start. */
  readonly ends: readonly number[];
}

/** A file of lines, written in parts, so that it can be larger than memory. A full disk loses only the lines that do not fit. */
export class LineFile {
  private readonly path: string;
  private readonly options: LineFileOptions;
  private file: OutputFile | undefined;
  /** Text that waits until there is enough to write. Text may be added to it directly: `endLine` makes it a line. */
  readonly text = new TextBuffer();
  private ends: number[] = [];
  private keptBytes = 0;
  private keptCount = 0;
  private lineCount = 0;
  /** The last lines in the file. */
  private last: Part | undefined;

  constructor(path: string, options: LineFileOptions) {
    this.path = path;
    this.options = options;
  }

  /** Opens the file now instead of with the first part. */
  open(): void {
    this.guard(() => undefined);
  }

  /** Adds a line. @param line includes its line feed, if lines have line feeds */
  put(line: string): void {
    this.text.append(line);
    this.endLine();
  }

  /** Makes the text added since the last line a line. Masks the secrets in it. */
  endLine(): void {
    const { text, ends } = this;
    maskFrom(text, ends.at(-1) ?? 0);
    ends.push(text.length);
    if (text.length >= FLUSH_BYTES) this.flush();
  }

  /** Adds text between lines. The file is never cut before it. */
  putFrame(text: string): void {
    this.flush();
    this.text.append(text);
    maskFrom(this.text, 0);
    this.write([]);
    this.last = undefined;
  }

  /** Makes all text so far final: {@link takeBack} drops only text that is added later. */
  keep(): void {
    this.flush();
    this.keptBytes = this.file?.byteCount ?? 0;
    this.keptCount = this.lineCount;
  }

  /** Drops the text since `keep`. Returns whether `keep` has been called. */
  takeBack(): boolean {
    if (this.keptBytes === 0) return false;
    this.clear();
    if (this.file?.byteCount === this.keptBytes) return true;
    this.file?.truncate(this.keptBytes);
    this.lineCount = this.keptCount;
    this.last = undefined;
    return true;
  }

  /** Writes the rest and renames the file into place. */
  commit(): void {
    this.flush();
    this.guard((file) => file.commit());
  }

  discard(): void {
    this.file?.discard();
  }

  private flush(): void {
    this.write(this.ends);
  }

  private clear(): void {
    this.text.truncate(0);
    this.ends = [];
  }

  /** Writes the text that waits. @param ends ends of its lines */
  private write(ends: readonly number[]): void {
    this.guard((file) => {
      const part = { startBytes: file.byteCount, lineCount: this.lineCount, ends };
      try {
        file.writeBytes(this.text.view());
      } catch (error) {
        const count = this.cut(file, part);
        throw count === undefined ? error : new CutFile(error, count);
      } finally {
        this.clear();
      }
      this.lineCount += ends.length;
      if (ends.length > 0) this.last = part;
    });
  }

  /** Completes the file after the last line that fits. Returns the number of lines; undefined if there is no room. */
  private cut(file: OutputFile, part: Part): number | undefined {
    const writtenBytes = file.byteCount;
    let triedBytes = Number.POSITIVE_INFINITY;
    for (const { bytes, count } of [...endsOf(part), ...(this.last === undefined ? [] : endsOf(this.last))]) {
      if (bytes > writtenBytes || bytes > triedBytes - BLOCK_BYTES || count === 0) continue;
      triedBytes = bytes;
      try {
        file.truncate(bytes);
        file.write(this.options.end?.() ?? "");
        file.commit();
        return count;
      } catch {
        // It may fit without one more block.
      }
    }
    return undefined;
  }

  private guard(action: (file: OutputFile) => void): void {
    try {
      this.file ??= new OutputFile(this.path);
      action(this.file);
    } catch (error) {
      const { toError, toCutError } = this.options;
      throw error instanceof CutFile ? toCutError(error.cause, error.lineCount) : toError(error);
    }
  }
}

/** Returns a file of records. */
export function openLines(path: string): LineFile {
  const at = "outputs.files.records";
  return new LineFile(path, {
    toError: (error) => notWritten(path, error, at),
    toCutError: (error, count) => cutOff(path, error, at, count),
  });
}

/** The file is complete, but ends early. */
class CutFile extends Error {
  readonly lineCount: number;

  constructor(cause: unknown, lineCount: number) {
    super("the file is cut", { cause });
    this.lineCount = lineCount;
  }
}

/** Masks the secrets in the text from a byte on. */
function maskFrom(text: TextBuffer, start: number): void {
  if (!hasSecrets()) return;
  const line = text.textFrom(start);
  const masked = maskSecrets(line);
  if (masked === line) return;
  text.truncate(start);
  text.append(masked);
}

/** Returns the ends of the lines of a part, last first, each with the number of lines up to it; finally the start of the part. */
function endsOf({ startBytes, lineCount, ends }: Part): { readonly bytes: number; readonly count: number }[] {
  const start = { bytes: startBytes, count: lineCount };
  return [start, ...ends.map((end, i) => ({ bytes: startBytes + end, count: lineCount + i + 1 }))].reverse();
}
