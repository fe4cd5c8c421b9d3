import type { RunError } from "../../plan/problem.ts";
import { cutOff, notWritten, OutputFile } from "../output-file.ts";

/** Parts are small, because writing one delays requests that are due. */
const FLUSH_CHARACTERS = 64 * 1024;
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
  readonly lines: readonly string[];
}

/** A file of lines, written in parts, so that it can be larger than memory. A full disk loses only the lines that do not fit. */
export class LineFile {
  private readonly path: string;
  private readonly options: LineFileOptions;
  private file: OutputFile | undefined;
  private buffer: string[] = [];
  private bufferedCharacters = 0;
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
    this.buffer.push(line);
    this.bufferedCharacters += line.length;
    if (this.bufferedCharacters >= FLUSH_CHARACTERS) this.flush();
  }

  /** Adds text between lines. The file is never cut before it. */
  putFrame(text: string): void {
    this.flush();
    this.write(text, []);
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
    this.buffer = [];
    this.bufferedCharacters = 0;
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
    const lines = this.buffer;
    this.buffer = [];
    this.bufferedCharacters = 0;
    this.write(lines.join(""), lines);
  }

  private write(text: string, lines: readonly string[]): void {
    this.guard((file) => {
      const part = { startBytes: file.byteCount, lineCount: this.lineCount, lines };
      try {
        file.write(text);
      } catch (error) {
        const count = this.cut(file, part);
        throw count === undefined ? error : new CutFile(error, count);
      }
      this.lineCount += lines.length;
      if (lines.length > 0) this.last = part;
    });
  }

  /** Completes the file after the last line that fits. Returns the number of lines; undefined if there is no room. */
  private cut(file: OutputFile, part: Part): number | undefined {
    const writtenBytes = file.byteCount;
    let triedBytes = Number.POSITIVE_INFINITY;
    for (const { bytes, count } of [
      ...endsOf(file, part),
      ...(this.last === undefined ? [] : endsOf(file, this.last)),
    ]) {
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

/** Returns the ends of the lines of a part, last first, each with the number of lines up to it; finally the start of the part. */
function endsOf(
  file: OutputFile,
  { startBytes, lineCount, lines }: Part,
): { readonly bytes: number; readonly count: number }[] {
  const ends = [{ bytes: startBytes, count: lineCount }];
  for (const line of lines) {
    const { bytes, count } = ends.at(-1) as { bytes: number; count: number };
    ends.push({ bytes: bytes + file.sizeOf(line), count: count + 1 });
  }
  return ends.reverse();
}
