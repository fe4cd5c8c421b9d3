import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Checkpoint, type KeptResult } from "../../../campaign/checkpoint.ts";
import { artifactFiles } from "../../../report/genai-perf/artifacts.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import type { CommandIo } from "../../execute.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { nameFolder } from "../profile/folder-name.ts";
import { type Profile, runProfile } from "../profile/run-profile.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { toOriginalEntry } from "./original-entry.ts";

/** Reuses stored results of earlier runs. */

/** Finds and stores results if there is a checkpoint. Otherwise it only names them. */
export interface Keeper {
  /** Returns the result of an earlier run with these settings if its report still exists unchanged, and prints a note about it. */
  find(settings: GenaiSettings, what: string): KeptResult | undefined;
  /** Stores the result of a run that passed. Returns the result's name. */
  keep(
    settings: GenaiSettings,
    parameters: readonly (readonly [name: string, value: number])[],
    profile: { readonly folder: string; readonly result: GenAiPerfResult; readonly isPassed: boolean },
  ): Promise<string>;
}

/** Opens the checkpoint that the settings ask for. @throws UserError for a file that is not a checkpoint */
export async function openKeeper(settings: GenaiSettings, given: GivenSettings, io: CommandIo): Promise<Keeper> {
  const model = settings.modelNames[0] ?? "";
  const checkpoint = settings.output.isCheckpointing ? await Checkpoint.open(settings.output.checkpointDir) : undefined;
  const names: string[] = [];
  return {
    find: (point, what) => {
      const kept = checkpoint?.find(fingerprintOf(point, given));
      if (kept === undefined || hashReport(point, kept.folder) !== kept.reportSha256) return undefined;
      names.push(kept.name);
      io.err(
        `rampart: ${what}: ${kept.name} of ${checkpoint?.path} has been measured, its files are in ${kept.folder}: not measured again\n`,
      );
      return kept;
    },
    keep: async (point, parameters, { folder, result, isPassed }) => {
      const name = nextName(model, [...names, ...(checkpoint?.names() ?? [])]);
      names.push(name);
      if (checkpoint === undefined || !isPassed) return name;
      const reportSha256 = hashReport(point, folder) ?? "";
      const kept = { name, fingerprint: fingerprintOf(point, given), folder, reportSha256, result };
      await checkpoint.add(kept, toOriginalEntry(point, given, parameters, result));
      return name;
    },
  };
}

/** Undefined when the report does not exist. */
function hashReport({ output }: GenaiSettings, folder: string): string | undefined {
  try {
    const report = readFileSync(artifactFiles(folder, output.profileExportFile).genaiPerfJson);
    return createHash("sha256").update(report).digest("hex");
  } catch {
    return undefined;
  }
}

/** Returns the next number after the highest, like GenAI-Perf. */
function nextName(model: string, names: readonly string[]): string {
  const ids = names.map((name) => Number(/_run_config_(\d+)$/.exec(name)?.[1] ?? -1));
  return `${model}_run_config_${Math.max(-1, ...ids) + 1}`;
}

/** Runs a profile with a checkpoint. Returns whether the profile passed, now or earlier. */
export async function runKeptProfile(settings: GenaiSettings, given: GivenSettings, io: CommandIo): Promise<boolean> {
  const keeper = await openKeeper(settings, given, io);
  if (keeper.find(settings, nameFolder(settings)) !== undefined) return true;
  const profile = await runProfile(settings, given, io);
  if (profile.measured !== undefined)
    await keeper.keep(settings, [], { ...profile, result: profile.measured.result, isPassed: isWhole(profile) });
  return profile.isPassed;
}

/** Reports whether a result can be reused: no failures and no interruption. */
export function isWhole({ isPassed, run }: Profile): boolean {
  return isPassed && !run.isInterrupted;
}
