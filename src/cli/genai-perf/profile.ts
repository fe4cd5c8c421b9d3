import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { saturationReason } from "../../measure/metrics.ts";
import { tokenWarnings } from "../../measure/token-warnings.ts";
import { messageOf, RunError } from "../../plan/problem.ts";
import { checkPlan } from "../../registry/check-plan.ts";
import { artifactFiles, artifactFolder, type Stimulus } from "../../report/genai-perf/artifacts.ts";
import { formatGenAiPerfConsole } from "../../report/genai-perf/console.ts";
import { formatGenAiPerfCsv } from "../../report/genai-perf/csv.ts";
import { formatGenAiPerfJson } from "../../report/genai-perf/json.ts";
import { familyOf } from "../../report/genai-perf/layout.ts";
import { measureExports } from "../../report/genai-perf/measure-export.ts";
import { toGenAiPerfResult } from "../../report/genai-perf/result.ts";
import { openProfileExport } from "../../report/read/profile-export.ts";
import type { RunResult } from "../../run/observer.ts";
import { loadTokenizer } from "../../tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import { type CommandIo, executePlan } from "../execute.ts";
import { formatOf } from "./endpoint-formats.ts";
import { ENDPOINT_TYPES } from "./endpoints.ts";
import { headersOf } from "./headers.ts";
import { toProfilePlan } from "./profile-plan.ts";
import type { GenaiSettings } from "./settings.ts";
import type { GivenSettings } from "./settings-builder.ts";
import { toInputConfig } from "./to-input-config.ts";
import { writeInputs } from "./write-inputs.ts";

/** One profile: prompts, a run, and what GenAI-Perf prints and writes of it. */

/** Exit codes of GenAI-Perf. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** @returns the exit code: 1 as well when more requests failed than allowed, after the report on those that did not */
export async function runProfile(settings: GenaiSettings, given: GivenSettings, io: CommandIo): Promise<number> {
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  const headers = headersOf(settings, process.env);
  const folder = join(settings.output.artifactDir, folderOf(settings));
  const files = artifactFiles(settings.output.profileExportFile);
  const tokenizer = await openTokenizer(settings);
  const inputs = await writeInputs(settings, folder, tokenizer);
  const plan = toProfilePlan(
    settings,
    given,
    {
      inputsFile: inputs.path,
      entryCount: inputs.entryCount,
      profileExportFile: join(folder, files.profileExport),
    },
    headers,
  );
  checkPlan(plan);
  // What an earlier run left would pass for this one's, should this one fail.
  for (const name of Object.values(files)) await rm(join(folder, name), { force: true });
  const result = await executePlan(plan, io, () => note("ending the run; press Ctrl-C again to stop at once"));
  tellRun(result, settings, note);
  // A run that was cut short before its first window has no export either.
  if (result.completedCount === 0 || !existsSync(plan.outputs.profileExportFile)) {
    // An export without requests would only be in the way.
    await rm(plan.outputs.profileExportFile, { force: true });
    return EXIT.failed;
  }
  await report(settings, given, plan.outputs.profileExportFile, folder, files, tokenizer, io);
  return isWithinLimit(result, settings) && result.error === undefined ? EXIT.done : EXIT.failed;
}

function folderOf({ endpoint, modelNames, perfAnalyzer: { stimulus }, input }: GenaiSettings): string {
  const { serviceKind } = ENDPOINT_TYPES[endpoint.type];
  const endpointType = serviceKind === "triton" ? endpoint.backend : endpoint.type;
  return artifactFolder({
    models: modelNames,
    serviceKind,
    endpointType,
    stimulus: nameStimulus(stimulus, input.file),
  });
}

function nameStimulus(stimulus: GenaiSettings["perfAnalyzer"]["stimulus"], file: string): Stimulus {
  if (stimulus.kind === "session_concurrency") return { kind: "session_concurrency", value: stimulus.sessions };
  if (stimulus.kind === "fixed_schedule") return stimulus;
  if (file.startsWith("payload:")) return { kind: "none" };
  if (stimulus.kind === "request_rate") return { kind: "request_rate", value: stimulus.ratePerSec };
  return { kind: "concurrency", value: stimulus.requests };
}

/** Undefined where the user wants the server's counts alone, which made-up prompts do not do with. */
async function openTokenizer({ tokenizer, modelNames }: GenaiSettings): Promise<Tokenizer | undefined> {
  const { name, revision, isTrustingRemoteCode } = tokenizer;
  if (name === "none") return undefined;
  return loadTokenizer(name === "" ? (modelNames[0] ?? "") : name, {
    revision,
    trustRemoteCode: isTrustingRemoteCode,
  });
}

/** What the user must know of the run besides its numbers. */
function tellRun(result: RunResult, settings: GenaiSettings, note: (text: string) => void): void {
  const { failedCount, sentCount, failures, error, isInterrupted, prepared, levels } = result;
  for (const warning of prepared.warnings) note(warning);
  if (settings.isVerbose) {
    const seconds = (result.durationNs / 1e9).toFixed(3);
    note(`sent ${sentCount} requests over ${result.connectionCount} connections in ${seconds} s, warm-up included`);
    for (const { window } of levels)
      note(`the client used ${Math.round(window.health.cpuRatio * 100)} % of a core while it was measured`);
  }
  const { stimulus } = settings.perfAnalyzer;
  const needed = stimulus.kind === "concurrency" ? stimulus.requests : sentCount / 2;
  if (failedCount === 0 && result.connectionCount > needed + 1)
    note(
      `the server closed connections between requests: ${result.connectionCount} were made for ${sentCount} requests, whose times contain that; a request that a closed one did not take went on the next`,
    );
  if (failedCount > 0) {
    note(`${failedCount} of ${sentCount} requests failed, and are in no statistic but the counts:`);
    for (const { kind, count, example } of failures) note(`  ${count} x ${kind}: ${example}`);
  }
  if (error !== undefined) note(`${error.message}. ${error.hint}`);
  else if (isInterrupted) note("the run was interrupted: the report is on what was measured until then");
  for (const { window } of levels) {
    const reason = saturationReason(window);
    if (reason !== undefined) note(`the client may have been the limit, not the server: ${reason}.`);
  }
}

function isWithinLimit({ failedCount, sentCount }: RunResult, { rampart }: GenaiSettings): boolean {
  // Without a limit every failure shows in the exit code, although it ends nothing.
  const limit = rampart.maxFailureRatio < 1 ? rampart.maxFailureRatio : 0;
  return failedCount <= limit * sentCount;
}

async function report(
  settings: GenaiSettings,
  given: GivenSettings,
  exportFile: string,
  folder: string,
  files: ReturnType<typeof artifactFiles>,
  tokenizer: Tokenizer | undefined,
  io: CommandIo,
): Promise<void> {
  const { endpoint, input } = settings;
  const format = formatOf(endpoint);
  if (format === undefined) throw new Error(`no format for ${endpoint.type}`);
  const countTokens = tokenizer === undefined ? undefined : (text: string): number => tokenizer.count(text);
  const columns = measureExports([openProfileExport(exportFile)], { kind: format.answer, countTokens });
  const result = toGenAiPerfResult(columns, {
    family: familyOf(format.answer),
    endpointType: endpoint.type === "vision" ? "multimodal" : endpoint.type,
    isStreaming: endpoint.isStreaming,
    goodput: input.goodput ?? undefined,
  });
  io.out(formatGenAiPerfConsole(result));
  for (const warning of tokenWarnings(columns)) io.err(`rampart: ${warning}.\n`);
  const config = toInputConfig(settings, given);
  await write(join(folder, files.json), formatGenAiPerfJson(result, config));
  await write(join(folder, files.csv), formatGenAiPerfCsv(result));
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new RunError(
      "output",
      `${path} cannot be written: ${messageOf(error)}`,
      "Give another folder with --artifact-dir.",
    );
  }
}
