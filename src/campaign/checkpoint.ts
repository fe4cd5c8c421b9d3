import { createHash } from "node:crypto";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { parseOutsideJson } from "../plan/document/json-depth.ts";
import { messageOf, type UserError, userError } from "../plan/problem.ts";
import { writeReport } from "../report/output-file.ts";
import type { PointParameters } from "../result/sweep.ts";
import { loadFileText, readFileBytes } from "../runtime/files.ts";

/** Results that are kept between commands, in the layout of a front door's `checkpoint.json`, with a part of Rampart's in each entry. */

/** A run whose result can be stored. */
export interface KeepableRun<Result> {
  /** Returns the identity of the run: runs with the same identity measure the same thing. */
  fingerprint(): string;
  /** Returns the path of the run's JSON report. @param folder folder of the run's files */
  reportIn(folder: string): string;
  /** Returns the other parts of the run's entry, which the layout defines. */
  toEntry(parameters: PointParameters, result: Result): Readonly<Record<string, unknown>>;
}

/** A stored result and its place. */
export interface KeptResult<Result> {
  /** Name of the result. Ends with its number, from 0. */
  readonly name: string;
  /** Folder of the run's files. */
  readonly folder: string;
  readonly result: Result;
}

/** Settings of a checkpoint: where results are kept, and in which form. */
export interface CheckpointParts<Result> {
  /** Prefix of the names of results: `run_`. Each name ends with a number. */
  readonly names: string;
  /** Keys of the list of entries in the file, from the outermost to the innermost. */
  readonly place: readonly string[];
  /** Folder of the checkpoint. Undefined: results are named, but not stored. */
  readonly folder: string | undefined;
  readonly schema: v.GenericSchema<unknown, Result>;
  format(document: object): string;
  /** Receives a message for each result that is reused. */
  note(text: string): void;
}

const ENTRIES = v.array(v.looseObject({ name: v.string() }));

function ownPart<Result>(result: v.GenericSchema<unknown, Result>) {
  return v.object({
    fingerprint: v.string(),
    folder: v.string(),
    /** SHA-256 of the JSON report, to detect that another run has replaced it. */
    report_sha256: v.string(),
    result,
  });
}

/** Finds and stores results in one folder. Entries of other tools are kept and never used. Without a folder, it only names results. */
export class Checkpoint<Result> {
  private readonly parts: CheckpointParts<Result>;
  /** Undefined without a folder. */
  private readonly path: string | undefined;
  /** Names of the results of this command. */
  private readonly names: string[] = [];
  private entries: v.InferOutput<typeof ENTRIES> = [];

  private constructor(parts: CheckpointParts<Result>) {
    this.parts = parts;
    this.path = parts.folder === undefined ? undefined : join(parts.folder, "checkpoint.json");
  }

  /** Reads the checkpoint if the file exists. @throws UserError when the file is not a checkpoint, or the folder is not writable */
  static async open<Result>(parts: CheckpointParts<Result>): Promise<Checkpoint<Result>> {
    const { folder } = parts;
    const checkpoint = new Checkpoint(parts);
    await checkpoint.read();
    // Check before measuring, not after.
    if (folder !== undefined)
      await access(folder, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return;
        const hint = { say: "other-folder", at: "checkpoint.folder" } as const;
        const message = `cannot be written: ${messageOf(error)}`;
        throw userError("unwritable", checkpoint.path as string, message, hint);
      });
    return checkpoint;
  }

  /** Returns the result of an earlier run if its report still exists unchanged, and reports that. @param what description of the run */
  find(run: KeepableRun<Result>, what: string): KeptResult<Result> | undefined {
    if (this.entries.length === 0) return undefined;
    const fingerprint = run.fingerprint();
    const schema = ownPart(this.parts.schema);
    for (const { name, rampart } of this.entries) {
      const read = v.safeParse(schema, rampart);
      if (!read.success || read.output.fingerprint !== fingerprint) continue;
      const { folder, report_sha256: reportSha256, result } = read.output;
      if (hashFile(run.reportIn(folder)) !== reportSha256) return undefined;
      this.names.push(name);
      this.parts.note(
        `${what}: ${name} of ${this.path} has been measured, its files are in ${folder}: not measured again`,
      );
      return { name, folder, result };
    }
    return undefined;
  }

  /** Returns the name for a new result, with the next number after the highest. */
  nameResult(): string {
    const names = [...this.names, ...this.entries.map(({ name }) => name)];
    const ids = names.map((name) => Number(/_(\d+)$/.exec(name)?.[1] ?? -1));
    const name = `${this.parts.names}${Math.max(-1, ...ids) + 1}`;
    this.names.push(name);
    return name;
  }

  /**
   * Stores a result, replacing an earlier result of the same run. Writes the file atomically and keeps entries that other
   * commands wrote in the meantime.
   * @param parameters the varied parameters
   * @throws RunError when the file cannot be written
   */
  async add(
    run: KeepableRun<Result>,
    parameters: PointParameters,
    { name, folder, result }: KeptResult<Result>,
  ): Promise<void> {
    if (this.path === undefined) return;
    await this.read();
    const fingerprint = run.fingerprint();
    const rampart = { fingerprint, folder, report_sha256: hashFile(run.reportIn(folder)) ?? "", result };
    const others = this.entries.filter(
      (other) => (other.rampart as typeof rampart | undefined)?.fingerprint !== fingerprint,
    );
    const runs = [...others, { name, ...run.toEntry(parameters, result), rampart }];
    const document = this.parts.place.reduceRight<object>((inner, key) => ({ [key]: inner }), runs);
    writeReport(this.path, this.parts.format(document), "checkpoint.folder");
    await this.read();
  }

  private async read(): Promise<void> {
    if (this.path === undefined) return;
    let text: string;
    try {
      text = await loadFileText(this.path);
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
    const { place } = this.parts;
    const list = place.reduce<unknown>(
      (outer, key) => (outer as Readonly<Record<string, unknown>> | null)?.[key],
      document,
    );
    const parsed = v.safeParse(ENTRIES, list);
    if (!parsed.success) throw this.refuse(`is not a checkpoint: ${place.join(".")} is missing`);
    this.entries = parsed.output;
  }

  private refuse(message: string): UserError {
    return userError("mismatch", this.path as string, message, { say: "delete-checkpoint" });
  }
}

/** Returns the hash of a file; undefined if it does not exist. */
function hashFile(path: string): string | undefined {
  try {
    return createHash("sha256").update(readFileBytes(path)).digest("hex");
  } catch {
    return undefined;
  }
}
