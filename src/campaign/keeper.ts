import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PythonJson } from "../report/genai-perf/python-format.ts";
import type { GenAiPerfResult } from "../report/genai-perf/result.ts";
import type { PointParameters } from "../report/genai-perf/sweep/sweep.ts";
import { Checkpoint, type KeptResult } from "./checkpoint.ts";

/** Reuses stored results of earlier runs. */

/** A run whose result can be stored. */
export interface KeepableRun {
  /** Returns the identity of the run: two runs with the same one measure the same. */
  fingerprint(): string;
  /** Returns the path of its JSON report. @param folder of its files */
  reportIn(folder: string): string;
  /** Returns the parts of its entry that GenAI-Perf defines. */
  toEntry(parameters: PointParameters, result: GenAiPerfResult): Readonly<Record<string, PythonJson>>;
}

/** Finds and stores results if there is a checkpoint. Otherwise it only names them. */
export class Keeper {
  private readonly model: string;
  private readonly checkpoint: Checkpoint | undefined;
  private readonly note: (text: string) => void;
  private readonly names: string[] = [];

  private constructor(model: string, checkpoint: Checkpoint | undefined, note: (text: string) => void) {
    this.model = model;
    this.checkpoint = checkpoint;
    this.note = note;
  }

  /**
   * Opens the checkpoint of a folder.
   * @param model begins the names of results
   * @param folder undefined for no checkpoint
   * @throws UserError for a file that is not a checkpoint
   */
  static async open(model: string, folder: string | undefined, note: (text: string) => void): Promise<Keeper> {
    return new Keeper(model, folder === undefined ? undefined : await Checkpoint.open(folder), note);
  }

  /** Returns the result of an earlier run if its report still exists unchanged, and notes it. @param what the run in words */
  find(run: KeepableRun, what: string): KeptResult | undefined {
    const kept = this.checkpoint?.find(run.fingerprint());
    if (kept === undefined || hashFile(run.reportIn(kept.folder)) !== kept.reportSha256) return undefined;
    this.names.push(kept.name);
    const place = `${kept.name} of ${this.checkpoint?.path} has been measured, its files are in ${kept.folder}`;
    this.note(`${what}: ${place}: not measured again`);
    return kept;
  }

  /**
   * Names a result, and stores it if `isWhole`.
   * @param parameters the varied parameters
   * @returns the name
   */
  async keep(
    run: KeepableRun,
    parameters: PointParameters,
    {
      folder,
      result,
      isWhole,
    }: { readonly folder: string; readonly result: GenAiPerfResult; readonly isWhole: boolean },
  ): Promise<string> {
    const { checkpoint, names } = this;
    const name = nextName(this.model, [...names, ...(checkpoint?.names() ?? [])]);
    names.push(name);
    if (checkpoint === undefined || !isWhole) return name;
    const reportSha256 = hashFile(run.reportIn(folder)) ?? "";
    const kept = { name, fingerprint: run.fingerprint(), folder, reportSha256, result };
    await checkpoint.add(kept, run.toEntry(parameters, result));
    return name;
  }
}

/** Undefined when the file does not exist. */
function hashFile(path: string): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return undefined;
  }
}

/** Returns the next number after the highest, like GenAI-Perf. */
function nextName(model: string, names: readonly string[]): string {
  const ids = names.map((name) => Number(/_run_config_(\d+)$/.exec(name)?.[1] ?? -1));
  return `${model}_run_config_${Math.max(-1, ...ids) + 1}`;
}
