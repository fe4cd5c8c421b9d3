import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import * as v from "valibot";
import { Checkpoint, type KeepableRun } from "../../../campaign/checkpoint.ts";
import { withoutSecrets } from "../../../plan/secrets.ts";
import { formatPythonJson, type PythonJson } from "../../../report/genai-perf/python-format.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import { formatJson } from "../../../service/json-text.ts";
import type { CommandIo } from "../../execute.ts";
import { inputFilesOf, type ProfilePlan } from "../plan/to-plan.ts";
import { type Profile, runProfile } from "../profile/run-profile.ts";
import { toOriginalEntry } from "./original-entry.ts";

/** Profiles with a checkpoint, in GenAI-Perf's layout. */

const VALUES = mapOf(v.number());
const STATISTICS = mapOf(v.object({ unit: v.string(), values: VALUES }));

/** Schema of a stored result, in which maps are objects. It returns the result in a form that a later run can report like its own. */
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

/** Opens the checkpoint of a model. @param folder undefined: nothing is stored @throws UserError if the file is not a checkpoint */
export function openCheckpoint(
  model: string,
  folder: string | undefined,
  io: CommandIo,
): Promise<Checkpoint<GenAiPerfResult>> {
  return Checkpoint.open({
    names: `${model}_run_config_`,
    place: ["Results", "run_configs"],
    folder,
    schema: STORED_RESULT,
    format: (document) => formatPythonJson(document as PythonJson),
    note: (text) => io.err(`rampart: ${text}\n`),
  });
}

/** Returns the run of a profile or of a point, with a result that can be stored. */
export function toKeepable(plan: ProfilePlan): KeepableRun<GenAiPerfResult> {
  const { genaiPerfJson = "" } = plan.outputs.files;
  return {
    fingerprint: () => fingerprintOf(plan),
    reportIn: (folder) => join(folder, basename(genaiPerfJson)),
    toEntry: (parameters, result) => toOriginalEntry(plan, parameters, result),
  };
}

/** Runs a profile with a checkpoint. Returns whether the profile passed, now or earlier. */
export async function runKeptProfile(
  plan: ProfilePlan,
  checkpoint: Checkpoint<GenAiPerfResult>,
  io: CommandIo,
): Promise<boolean> {
  const { folder } = plan.outputs.genaiPerf;
  const run = toKeepable(plan);
  if (checkpoint.find(run, basename(folder)) !== undefined) return true;
  const profile = await runProfile(plan, io);
  const { measured, isPassed } = profile;
  if (measured !== undefined && isWhole(profile))
    await checkpoint.add(run, [], { name: checkpoint.nameResult(), folder, result: measured.result });
  return isPassed;
}

/** Reports whether a result can be reused: no failures and no interruption. */
export function isWhole({ isPassed, run }: Profile): boolean {
  return isPassed && !run.isInterrupted;
}

/**
 * Computes the identity of a run, to decide whether its results can be reused: all parts of its plan that affect what is sent, where,
 * when, and how it is measured, and the sizes and dates of input files. Excludes the destinations and the presentation of results, and
 * the values of secret headers, which can change each time. GenAI-Perf also ignores the URL, and so reuses one server's results for
 * another.
 */
export function fingerprintOf(plan: ProfilePlan): string {
  const { name: _a, inputs: _b, outputs, requests, measurement, ...others } = withoutSecrets(plan);
  const { endpointType, goodput } = outputs.genaiPerf;
  const { file: _c, ...made } = requests;
  const { wantsGaps: _d, ...tokens } = measurement.tokens ?? {};
  const parts = {
    ...others,
    requests: made,
    measurement: { ...measurement, tokens },
    results: { endpointType, goodput },
    files: inputFilesOf(plan).map(describeFiles),
  };
  return createHash("sha256").update(formatJson(parts)).digest("hex");
}

/** Returns sizes and dates; empty if the file does not exist. */
function describeFiles(path: string): string[] {
  const found = path === "" ? undefined : statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [`${found.size} ${found.mtimeMs}`];
  let names: string[];
  try {
    names = readdirSync(path);
  } catch {
    // The run reports the error.
    return [];
  }
  return names.toSorted().map((name) => {
    const { size, mtimeMs } = statSync(join(path, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}
