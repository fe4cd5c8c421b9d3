import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";

/** Where Triton's Python backend makes a folder at its start, whatever `TMPDIR` is. Only its orderly end removes it. */
const FOLDER = "/tmp";
const NAME = /^python_env_/;

/** The folders of Triton's Python backend that appear while a process of the run loads its models. */
export class PythonFolders {
  private readonly folder: string;
  private readonly before: ReadonlySet<string>;
  private made: readonly string[] = [];

  /** Remembers the folders that are there. @param folder default: that of the backend */
  constructor(folder = FOLDER) {
    this.folder = folder;
    this.before = new Set(namesIn(folder));
  }

  /** Notes the folders that have appeared, once the models are loaded. */
  note(): void {
    this.made = namesIn(this.folder).filter((name) => !this.before.has(name));
  }

  /** Removes the noted folders that are empty: one with contents may be another process's. */
  remove(): void {
    for (const name of this.made) {
      try {
        rmdirSync(join(this.folder, name));
      } catch {
        // It has contents, or is gone.
      }
    }
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => NAME.test(name)) : [];
}
