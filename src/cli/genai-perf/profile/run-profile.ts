import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TokenColumns } from "../../../measure/tokens/token-columns.ts";
import { explainNoText } from "../../../measure/tokens/token-warnings.ts";
import type { Plan } from "../../../plan/plan.ts";
import { type RunError, UserError } from "../../../plan/problem.ts";
import { checkPlan } from "../../../registry/check-plan.ts";
import { artifactFiles } from "../../../report/genai-perf/artifacts.ts";
import type { GenAiPerfResult } from "../../../report/genai-perf/result.ts";
import { removeOutput } from "../../../report/output-file.ts";
import type { RunResult } from "../../../result/run-result.ts";
import { removingPart } from "../../../run/target/process-end.ts";
import { type CommandIo, executePlan } from "../../execute.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { withTokens } from "./answer-rules.ts";
import { explainBackend } from "./backend-hint.ts";
import { checkOutputs } from "./check-outputs.ts";
import { nameFolder } from "./folder-name.ts";
import { headersOf } from "./headers.ts";
import { isUnstable } from "./instability.ts";
import { countNeededEntries, toPassedPlan } from "./pass-through/passed-plan.ts";
import { removePlots } from "./plots.ts";
import { type ProfilePlace, reportProfile, SERVER_METRICS_FILES } from "./report.ts";
import { findDoubts, reportRunNotes } from "./run-notes.ts";
import { SharedTokenWork, type TokenWork } from "./token-work.ts";
import { INPUTS_FILE, type WrittenInputs } from "./write-inputs.ts";

/** Runs one profile: creates prompts, runs the load, and reports like GenAI-Perf. */

/** Result of a profile. */
export interface Profile extends ProfilePlace {
  readonly run: RunResult;
  /** Undefined when nothing was measured. No report was written then. */
  readonly measured: { readonly columns: TokenColumns; readonly result: GenAiPerfResult } | undefined;
  /**
   * Whether the profile succeeded: no more requests failed than allowed, some were measured, the measurement was stable where required, and
   * the run was not ended early, for example by Ctrl-C.
   */
  readonly isPassed: boolean;
  /** Write error of a file that is written during the run; undefined if there was none. */
  readonly outputError: RunError | undefined;
}

/**
 * Runs one profile and reports on it.
 * @param folder folder of its files; default: GenAI-Perf's name from model, endpoint and load
 * @param tokens shared by consecutive profiles; default: created and closed here
 * @throws UserError, RunError
 */
export async function runProfile(
  settings: GenaiSettings,
  given: GivenSettings,
  io: CommandIo,
  folder = join(settings.output.artifactDir, nameFolder(settings)),
  tokens?: SharedTokenWork,
): Promise<Profile> {
  const place: ProfilePlace = { folder, files: artifactFiles(settings.output.profileExportFile) };
  const shared = tokens ?? new SharedTokenWork();
  try {
    return await profile({ settings, given, place, io, tokens: shared });
  } finally {
    if (tokens === undefined) await shared.close();
  }
}

interface ProfileParts {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
  readonly place: ProfilePlace;
  readonly io: CommandIo;
  readonly tokens: SharedTokenWork;
}

interface Prepared extends Pick<WrittenInputs, "held"> {
  readonly plan: Plan;
  readonly work: TokenWork;
}

/** Writes the requests, and returns the plan that sends them. */
async function prepare({ settings, given, place, io, tokens }: ProfileParts): Promise<Prepared> {
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  const { folder, files } = place;
  const headers = headersOf(settings, process.env);
  checkOutputs(settings, given, place);
  const work = await tokens.open(settings, note);
  const entryLimit = await countNeededEntries(settings, given);
  const inputs = await removingPart(join(folder, INPUTS_FILE), () =>
    work.write({ settings, given, folder, entryLimit }),
  );
  for (const text of inputs.notes) note(text);
  const profileExportFile = join(folder, files.profileExport);
  const sources = { inputsFile: inputs.path, entryCount: inputs.entryCount, profileExportFile };
  const plan = withTokens(await toPassedPlan(settings, given, sources, headers), settings);
  return { plan: checkPlan(plan), work, held: inputs.held };
}

async function profile(parts: ProfileParts): Promise<Profile> {
  const { settings, place } = parts;
  const prepared = await prepare(parts).catch(async (error: unknown) => {
    if (!(error instanceof UserError)) await removeEarlier(place, settings);
    throw error;
  });
  const { plan, work } = prepared;
  await removeEarlier(place, settings);
  const { recordsFile } = settings.rampart;
  const run = () => measureRun(parts, prepared);
  try {
    return await (recordsFile === "" ? run() : removingPart(recordsFile, run));
  } catch (error) {
    work.link.discard();
    throw await explainBackend(error, settings, plan, join(place.folder, INPUTS_FILE));
  }
}

async function measureRun(
  { settings, given, place, io }: ProfileParts,
  { plan, work, held }: Prepared,
): Promise<Profile> {
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  const onInterrupt = (signal: string): void =>
    note(`ending the run after ${signal}; press Ctrl-C again to stop at once`);
  const { result: run, outputError } = await executePlan(plan, io, {
    door: "genai-perf",
    onInterrupt,
    meter: work.link,
    held,
  });
  if (outputError !== undefined) note(`${outputError.message}. ${outputError.hint}`);
  const doubts = findDoubts(run, settings);
  reportRunNotes(run, settings, doubts, note);
  const columns = columnsOf(run);
  const path = join(place.folder, place.files.profileExport);
  let measured: Profile["measured"];
  if (columns === undefined) {
    // An export without requests is useless.
    await rm(path, { force: true });
    io.err("rampart: nothing was measured: there is no report\n");
  } else measured = await reportProfile({ settings, given, place, run, doubts, columns, io });
  await work.link.finish();
  if (measured?.columns.count === 0) note(explainNoText(measured.columns) ?? noContent(settings));
  const isPassed = outputError === undefined && isWell(run, measured, settings);
  return { ...place, run, measured, outputError, isPassed };
}

/** Removes the files of an earlier run, so that they are not taken for those of this one if it fails. */
async function removeEarlier({ folder, files }: ProfilePlace, { rampart }: GenaiSettings): Promise<void> {
  for (const name of [...Object.values(files), ...SERVER_METRICS_FILES]) removeOutput(join(folder, name));
  await removePlots(folder);
  if (rampart.recordsFile !== "") removeOutput(rampart.recordsFile);
}

function isWell(run: RunResult, measured: Profile["measured"], settings: GenaiSettings): boolean {
  if (measured === undefined) return isAllCancelled(run);
  const { failedCount, count } = measured.columns;
  if (isUnstable(run)) return false;
  return isWithinLimit(run, failedCount, settings) && count > 0 && run.error === undefined && !run.isInterrupted;
}

function noContent({ endpoint }: GenaiSettings): string {
  return `no answer is one that the endpoint type ${endpoint.type} knows: look at --endpoint-type, --endpoint and --url, and at an answer in the profile export`;
}

/** Returns the measured requests of the first level; undefined when nothing was answered, or the run ended before its first window. */
function columnsOf(run: RunResult): TokenColumns | undefined {
  return hasAnswers(run) ? run.levels[0]?.tokens : undefined;
}

/**
 * Checks only measured requests. Earlier failures were already reported.
 * @param unreadCount answers whose failure was found when they were read
 */
function isWithinLimit(run: RunResult, unreadCount: number, { rampart }: GenaiSettings): boolean {
  // Without a limit, any failure changes the exit code, although it does not end the run.
  const limit = rampart.maxFailureRatio < 1 ? rampart.maxFailureRatio : 0;
  const { sentCount, failedCount } = run.warmup ?? { sentCount: 0, failedCount: 0 };
  return run.failedCount + unreadCount - failedCount <= limit * (run.sentCount - sentCount);
}

function hasAnswers({ completedCount, warmup }: RunResult): boolean {
  return completedCount > (warmup === undefined ? 0 : warmup.sentCount - warmup.failedCount);
}

/** Reports whether there is no answer because every request was cancelled on purpose. */
function isAllCancelled({ error, isInterrupted, cancelledCount, failures }: RunResult): boolean {
  const isOnlyThat = failures.every(({ kind, isWarmup }) => kind === "cancelled" || isWarmup === true);
  return error === undefined && !isInterrupted && cancelledCount > 0 && isOnlyThat;
}
