import * as v from "valibot";
import { Checkpoint, type KeepableRun } from "../../../campaign/checkpoint.ts";
import { artifactFiles } from "../../../report/genai-perf/artifacts.ts";
import { formatPythonJson, type PythonJson } from "../../../report/genai-perf/python-format.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import type { CommandIo } from "../../execute.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { nameFolder } from "../profile/folder-name.ts";
import { type Profile, runProfile } from "../profile/run-profile.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { toOriginalEntry } from "./original-entry.ts";

/** Profiles with a checkpoint. */

const VALUES = mapOf(v.number());
const STATISTICS = mapOf(v.object({ unit: v.string(), values: VALUES }));

/** Schema of a stored result, where maps are objects. It returns the result, so that a later run can report it like its own. */
const STORED_RESULT = v.object({
  family: v.picklist(["text", "images", "plain"]),
  endpointType: v.string(),
  isStreaming: v.boolean(),
  hasGoodput: v.boolean(),
  statistics: STATISTICS,
  sessions: mapOf(STATISTICS),
  telemetry: v.optional(mapOf(v.object({ unit: v.string(), gpus: mapOf(VALUES) }))),
}) as v.GenericSchema<unknown, GenAiPerfResult>;

function mapOf<T>(schema: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, Map<string, T>> {
  return v.pipe(
    v.record(v.string(), schema),
    v.transform((record) => new Map(Object.entries(record))),
  ) as v.GenericSchema<unknown, Map<string, T>>;
}

/** Opens the checkpoint that the settings ask for. @throws UserError for a file that is not a checkpoint */
export function openCheckpoint(
  { modelNames, output }: GenaiSettings,
  io: CommandIo,
): Promise<Checkpoint<GenAiPerfResult>> {
  return Checkpoint.open({
    model: modelNames[0] ?? "",
    folder: output.isCheckpointing ? output.checkpointDir : undefined,
    schema: STORED_RESULT,
    format: (document) => formatPythonJson(document as PythonJson),
    note: (text) => io.err(`rampart: ${text}\n`),
  });
}

/** Returns the run of a profile or of a point, whose result can be stored. */
export function toKeepable(settings: GenaiSettings, given: GivenSettings): KeepableRun<GenAiPerfResult> {
  return {
    fingerprint: () => fingerprintOf(settings, given),
    reportIn: (folder) => artifactFiles(folder, settings.output.profileExportFile).genaiPerfJson,
    toEntry: (parameters, result) => toOriginalEntry(settings, given, parameters, result),
  };
}

/** Runs a profile with a checkpoint. Returns whether the profile passed, now or earlier. */
export async function runKeptProfile(settings: GenaiSettings, given: GivenSettings, io: CommandIo): Promise<boolean> {
  const checkpoint = await openCheckpoint(settings, io);
  const run = toKeepable(settings, given);
  if (checkpoint.find(run, nameFolder(settings)) !== undefined) return true;
  const profile = await runProfile(settings, given, io);
  const { folder, measured, isPassed } = profile;
  if (measured !== undefined && isWhole(profile))
    await checkpoint.add(run, [], { name: checkpoint.nameResult(), folder, result: measured.result });
  return isPassed;
}

/** Reports whether a result can be reused: no failures and no interruption. */
export function isWhole({ isPassed, run }: Profile): boolean {
  return isPassed && !run.isInterrupted;
}
