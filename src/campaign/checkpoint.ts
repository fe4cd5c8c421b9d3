import { access, constants, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { parseOutsideJson } from "../plan/json-depth.ts";
import { messageOf, RunError, UserError } from "../plan/problem.ts";
import { setting } from "../plan/setting-names.ts";
import { formatPythonJson, type PythonJson } from "../report/genai-perf/python-format.ts";
import type { GenAiPerfResult } from "../report/genai-perf/result.ts";
import { writeOutput } from "../report/output-file.ts";
import { restoreResult, STORED_RESULT, storeResult } from "./stored-result.ts";

/** Results that are kept from one command to the next: `checkpoint.json`, laid out as genai-perf has it, with Rampart's own part in each entry. */

/** A result that was kept. */
export interface KeptResult {
  /** `tiny_run_config_0`. */
  readonly name: string;
  /** See `fingerprintOf`. */
  readonly fingerprint: string;
  /** Where the run's files are. */
  readonly folder: string;
  /** Of its JSON report: other runs may write theirs in its place. */
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

/** One folder's checkpoint. Entries of the original are left as they are and never taken for our own. */
export class Checkpoint {
  readonly path: string;
  private readonly folder: string;
  private entries: Entry[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.path = join(folder, FILE);
  }

  /** Reads what there is. @throws UserError for a file that is no checkpoint, or a folder in which none can be written */
  static async open(folder: string): Promise<Checkpoint> {
    const checkpoint = new Checkpoint(folder);
    await checkpoint.read();
    // Not only once something was measured.
    await access(folder, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return;
      const hint = `Give another folder with ${setting("checkpoint.folder")}.`;
      throw new UserError([{ path: checkpoint.path, message: `cannot be written: ${messageOf(error)}`, hint }]);
    });
    return checkpoint;
  }

  /** The result of a run with this fingerprint. */
  find(fingerprint: string): KeptResult | undefined {
    for (const { name, rampart } of this.entries) {
      const own = v.safeParse(OWN, rampart);
      if (!own.success || own.output.fingerprint !== fingerprint) continue;
      const { folder, report_sha256: reportSha256, result } = own.output;
      return { name, fingerprint, folder, reportSha256, result: restoreResult(result) };
    }
    return undefined;
  }

  /** Names of all entries, the original's too. */
  names(): string[] {
    return this.entries.map(({ name }) => name);
  }

  /**
   * Keeps a result in place of an earlier one with its fingerprint. The file appears whole; what other commands wrote meanwhile stays.
   * @param original the entry's parts as the original has them
   * @throws RunError when it cannot be written
   */
  async add(kept: KeptResult, original: Readonly<Record<string, PythonJson>>): Promise<void> {
    await this.read();
    const { name, fingerprint, folder, reportSha256, result } = kept;
    const own = { fingerprint, folder, report_sha256: reportSha256, result: storeResult(result) };
    const others = this.entries.filter(
      ({ rampart }) => (rampart as typeof own | undefined)?.fingerprint !== fingerprint,
    );
    const text = formatPythonJson({
      Results: { run_configs: [...others, { name, ...original, rampart: own }] },
    } as PythonJson);
    try {
      await mkdir(this.folder, { recursive: true });
      writeOutput(this.path, text);
    } catch (error) {
      const hint = `Give another folder with ${setting("checkpoint.folder")}.`;
      throw new RunError("output", `${this.path} cannot be written: ${messageOf(error)}`, hint);
    }
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
