import type { SettingPath } from "../../plan/messages.ts";
import { OutputFile } from "../output-file.ts";
import { notWritten } from "../write-report.ts";

/** Parts are small, because writing one delays requests that are due. */
const FLUSH_CHARACTERS = 64 * 1024;

/** A report of lines, written in parts, so that it can be larger than memory. All methods except `discard` throw RunError naming the file. */
export class LineFile {
  private readonly path: string;
  private readonly at: SettingPath;
  private file: OutputFile | undefined;
  private buffer: string[] = [];
  private bufferedCharacters = 0;

  /** @param at the setting that chooses the file */
  constructor(path: string, at: SettingPath) {
    this.path = path;
    this.at = at;
  }

  /** Opens the file now instead of with the first part. */
  open(): void {
    this.guard(() => undefined);
  }

  /** Adds a line. @param line with its line feed */
  put(line: string): void {
    this.buffer.push(line);
    this.bufferedCharacters += line.length;
    if (this.bufferedCharacters >= FLUSH_CHARACTERS) this.flush();
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
      throw notWritten(this.path, error, this.at);
    }
  }
}
