import { access, constants, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { parseOutsideJson } from "../plan/json-depth.ts";
import { messageOf, UserError } from "../plan/problem.ts";
import { setting } from "../plan/setting-names.ts";
import { formatPythonJson, type PythonJson } from "../report/genai-perf/python-format.ts";
import type { GenAiPerfResult } from "../report/genai-perf/result.ts";
import { writeReport } from "../report/write-report.ts";
import { STORED_RESULT } from "./stored-result.ts";

/** Results that are kept between commands: `checkpoint.json` in GenAI-Perf's layout, with an additional part of Rampart in each entry. */

/** A result in the checkpoint. */
export interface KeptResult {
  /** For example `tiny_run_config_0`. */
  readonly name: string;
  /** See `fingerprintOf`. */
  readonly fingerprint: string;
  /** Folder of the run's files. */
  readonly folder: string;
  /** SHA-256 of its JSON report, to detect that another run has replaced the report. */
  readonly reportSha256: string;
  readonly result: GenAiPerfResult;
}

const FILE = "checkpoint.json";
const ENTRY = v.looseObject({ name: v.string() });
const DOCUMENT = v.object({ Results: v.object({ run_configs: v.array(ENTRY) }) });
const OWN = v.object({
  fingerprint: v.string(),
  folder: v.string(),
  report_sha256: v.string(),
  result: STORED_RESULT,
});

type Entry = v.InferOutput<typeof ENTRY>;

/** The checkpoint of one folder. Entries of GenAI-Perf are kept unchanged and never used as results. */
export class Checkpoint {
  readonly path: string;
  private entries: Entry[] = [];

  private constructor(folder: string) {
    this.path = join(folder, FILE);
  }

  /** Reads the checkpoint if the file exists. @throws UserError when the file is not a checkpoint, or the folder is not writable */
  static async open(folder: string): Promise<Checkpoint> {
    const checkpoint = new Checkpoint(folder);
    await checkpoint.read();
    // Check before measuring, not after.
    await access(folder, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return;
      const hint = `Give another folder with ${setting("checkpoint.folder")}.`;
      throw new UserError([{ path: checkpoint.path, message: `cannot be written: ${messageOf(error)}`, hint }]);
    });
    return checkpoint;
  }

  /** Returns the result with this fingerprint. */
  find(fingerprint: string): KeptResult | undefined {
    for (const { name, rampart } of this.entries) {
      const own = v.safeParse(OWN, rampart);
      if (!own.success || own.output.fingerprint !== fingerprint) continue;
      const { folder, report_sha256: reportSha256, result } = own.output;
      return { name, fingerprint, folder, reportSha256, result };
    }
    return undefined;
  }

  /** Returns the names of all entries, including GenAI-Perf's. */
  names(): string[] {
    return this.entries.map(({ name }) => name);
  }

  /**
   * Stores a result and replaces an earlier one with the same fingerprint. Writes the file atomically and keeps entries that other commands
   * wrote in the meantime.
   * @param original the parts of the entry that GenAI-Perf defines
   * @throws RunError when it cannot be written
   */
  async add(kept: KeptResult, original: Readonly<Record<string, PythonJson>>): Promise<void> {
    await this.read();
    const { name, fingerprint, folder, reportSha256, result } = kept;
    const own = { fingerprint, folder, report_sha256: reportSha256, result };
    const others = this.entries.filter(
      ({ rampart }) => (rampart as typeof own | undefined)?.fingerprint !== fingerprint,
    );
    const runs = [...others, { name, ...original, rampart: own }];
    const text = formatPythonJson({ Results: { run_configs: runs } } as object as PythonJson);
    writeReport(this.path, text, "checkpoint.folder");
    await this.read();
  }

  private async read(): Promise<void> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw this.refuse(`cannot be read: ${messageOf(error)}`);
    }
    let document: unknown;
    try {
      document = parseOutsideJson(text);
    } catch (error) {
      throw this.refuse(`is not JSON: ${messageOf(error)}`);
    }
    const parsed = v.safeParse(DOCUMENT, document);
    if (!parsed.success) throw this.refuse("is no checkpoint: Results.run_configs is missing");
    this.entries = parsed.output.Results.run_configs;
  }

  private refuse(message: string): UserError {
    const hint = `Delete it to start again, or give another folder with ${setting("checkpoint.folder")}.`;
    return new UserError([{ path: this.path, message, hint }]);
  }
}
