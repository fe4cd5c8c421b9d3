import type { RunError } from "../../plan/problem.ts";
import { OutputFile } from "../output-file.ts";

/** Parts are small, because writing one delays requests that are due. */
const FLUSH_CHARACTERS = 64 * 1024;

/** A report of lines, written in parts, so that it can be larger than memory. */
export class LineFile {
  private readonly path: string;
  private readonly toError: (error: unknown) => RunError;
  private file: OutputFile | undefined;
  private buffer: string[] = [];
  private bufferedCharacters = 0;
  private keptBytes = 0;

  /** @param toError makes the error that is thrown when the file cannot be written */
  constructor(path: string, toError: (error: unknown) => RunError) {
    this.path = path;
    this.toError = toError;
  }

  /** Opens the file now instead of with the first part. */
  open(): void {
    this.guard(() => undefined);
  }

  /** Adds a line, or a part of one. @param line with its line feed */
  put(line: string): void {
    this.buffer.push(line);
    this.bufferedCharacters += line.length;
    if (this.bufferedCharacters >= FLUSH_CHARACTERS) this.flush();
  }

  /** Makes all text so far final: {@link takeBack} drops what is added after it. */
  keep(): void {
    this.flush();
    this.keptBytes = this.file?.byteCount ?? 0;
  }

  /** Drops the text since `keep`. Returns whether there was one before. */
  takeBack(): boolean {
    if (this.keptBytes === 0) return false;
    this.buffer = [];
    this.bufferedCharacters = 0;
    if (this.file?.byteCount !== this.keptBytes) this.file?.truncate(this.keptBytes);
    return true;
  }

  /** Writes what is left and renames the file into place. */
  commit(): void {
    this.flush();
    this.guard((file) => file.commit());
  }

  /** Deletes the partial file. */
  discard(): void {
    this.file?.discard();
  }

  private flush(): void {
    const text = this.buffer.join("");
    this.buffer = [];
    this.bufferedCharacters = 0;
    this.guard((file) => file.write(text));
  }

  private guard(action: (file: OutputFile) => void): void {
    try {
      this.file ??= new OutputFile(this.path);
      action(this.file);
    } catch (error) {
      throw this.toError(error);
    }
  }
}
