import { join } from "node:path";
import { explainNoText } from "../../../measure/tokens/token-warnings.ts";
import { word } from "../../../plan/messages.ts";
import type { Plan } from "../../../plan/plan.ts";
import { type RunError, UserError } from "../../../plan/problem.ts";
import { checkPlan } from "../../../registry/check-plan.ts";
import { artifactFiles } from "../../../report/genai-perf/artifacts.ts";
import { type Measured, measuredOf } from "../../../report/genai-perf/measured.ts";
import { removePlots } from "../../../report/genai-perf/plots.ts";
import { removeOutput } from "../../../report/output-file.ts";
import type { RunResult } from "../../../result/run-result.ts";
import { removingPart } from "../../../run/open/process-end.ts";
import { ALONE, type Peers } from "../../../run/peers/peers.ts";
import { type CommandIo, executePlan } from "../../execute.ts";
import { findDuplicatePaths, findReadOutputs, routeTextAroundReports, textsIn } from "../../output-files.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { rampartFilesOf } from "../options/shared-settings.ts";
import { nameOf } from "../options/subcommands.ts";
import { explainBackend } from "./backend-hint.ts";
import { nameFolder } from "./folder-name.ts";
import { headersOf } from "./headers.ts";
import { toPassedPlan } from "./passed-plan.ts";
import { INPUTS_FILE, neededEntries, withEntryCount } from "./to-plan.ts";
import { SharedTokenWork, type TokenWork } from "./token-work.ts";
import type { WrittenInputs } from "./write-inputs.ts";

/** Runs one profile: creates prompts, runs the load, and reports like GenAI-Perf. */

const FOLDER = "--artifact-dir";

/** Refuses a profile whose output files would replace its input files or each other. @throws UserError with each of them */
export function checkOutputs(settings: GenaiSettings, given: GivenSettings, folder: string): void {
  const { plots: _folder, profileExport, ...files } = artifactFiles(folder, settings.output.profileExportFile);
  const outputs = [
    ...[join(folder, INPUTS_FILE), ...Object.values(files)].map((path) => [FOLDER, path] as const),
    ["--profile-export-file", profileExport] as const,
    ...rampartFilesOf(settings).map(({ at, path }) => [nameOf(at), path] as const),
  ];
  // Of two files, only the one with a name of its own is the user's choice.
  const twins = findDuplicatePaths(outputs).filter(({ path }) => path !== FOLDER);
  const problems = [...findReadOutputs(outputs, readPaths(settings, given)), ...twins];
  if (problems.length > 0) throw new UserError(problems);
}

/** Returns all strings in the settings that can be the path of an input file, and the configuration files. */
function readPaths({ input, tokenizer }: GenaiSettings, given: GivenSettings): string[] {
  const prefixed = /^(?:payload|synthetic):(.*)$/s.exec(input.file)?.[1];
  const configs = [...given.values()].flatMap(({ source, place }) =>
    source === "file" ? [place.replace(/:\d+:\d+$/, "")] : [],
  );
  return [
    ...textsIn(input),
    ...(prefixed === undefined ? [] : [prefixed, ...prefixed.split(",")]),
    ...["", "tokenizer.json", "tokenizer_config.json"].map((name) => join(tokenizer.name, name)),
    ...new Set(configs),
  ];
}

/** Result of a profile. */
export interface Profile {
  /** Folder of its files, which a later run replaces. */
  readonly folder: string;
  readonly run: RunResult;
  /** Undefined when nothing was measured. No report was written then. */
  readonly measured: Measured | undefined;
  /**
   * Whether the profile succeeded: no more requests failed than allowed, some were measured, the measurement was stable where required, and
   * the run was not ended early, for example by Ctrl-C.
   */
  readonly isPassed: boolean;
  /** Error of files that could not be written, which was reported; undefined if there was none. */
  readonly outputError: RunError | undefined;
}

/** What a profile has in common with others. */
export interface ProfileContext {
  /** Folder of its files. Default: GenAI-Perf's name from model, endpoint and load; with several ranks also this one's number. */
  readonly folder?: string | undefined;
  /** Shared by consecutive profiles. Default: created and closed here. */
  readonly tokens?: SharedTokenWork | undefined;
  /** The processes that measure together. Default: this one alone. */
  readonly peers?: Peers | undefined;
  /** Whether an earlier profile has said that nothing answers at the default address of metrics. Default: false. */
  readonly isLater?: boolean | undefined;
}

/**
 * Runs one profile and reports on it.
 * @throws UserError, RunError
 */
export async function runProfile(
  settings: GenaiSettings,
  given: GivenSettings,
  io: CommandIo,
  { folder, tokens, peers = ALONE, isLater = false }: ProfileContext = {},
): Promise<Profile> {
  const shared = tokens ?? new SharedTokenWork();
  const name = `${nameFolder(settings)}${peers.count > 1 ? `-rank${peers.rank}` : ""}`;
  const place = folder ?? join(settings.output.artifactDir, name);
  try {
    return await profile({ settings, given, folder: place, io, tokens: shared, peers, isLater });
  } finally {
    if (tokens === undefined) await shared.close();
  }
}

interface ProfileParts {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
  readonly folder: string;
  readonly io: CommandIo;
  readonly tokens: SharedTokenWork;
  readonly peers: Peers;
  readonly isLater: boolean;
}

interface Prepared extends Pick<WrittenInputs, "held"> {
  readonly plan: Plan;
  readonly work: TokenWork;
}

/** Writes the requests, and returns the plan that sends them. */
async function prepare(parts: ProfileParts): Promise<Prepared> {
  const { settings, given, folder, io, tokens } = parts;
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  const headers = headersOf(settings, process.env);
  checkOutputs(settings, given, folder);
  const work = await tokens.open(settings, note);
  const draft = toPassedPlan(settings, given, folder, headers);
  const task = { settings, given, folder, load: draft.load, entryLimit: neededEntries(draft) };
  const inputs = await removingPart(join(folder, INPUTS_FILE), () => work.write(task));
  for (const text of inputs.notes) note(text);
  const plan = withEntryCount(draft, inputs.entryCount);
  return { plan: checkPlan(parts.isLater ? plan : reportMissingMetrics(plan)), work, held: inputs.held };
}

/** Has a run report metrics that are missing at the default address too, like GenAI-Perf. */
function reportMissingMetrics(plan: Plan): Plan {
  const { scrapes } = plan.telemetry;
  if (scrapes === undefined) return plan;
  return { ...plan, telemetry: { ...plan.telemetry, scrapes: { ...scrapes, isAsked: true } } };
}

async function profile(parts: ProfileParts): Promise<Profile> {
  const { settings, folder } = parts;
  const prepared = await prepare(parts).catch(async (error: unknown) => {
    if (!(error instanceof UserError)) await removeEarlier(folder, settings);
    throw error;
  });
  const { plan } = prepared;
  await removeEarlier(folder, settings);
  const { records } = plan.outputs.files;
  const run = () => measureRun(parts, prepared);
  try {
    return await (records === undefined ? run() : removingPart(records, run));
  } catch (error) {
    throw await explainBackend(error, settings, plan, join(folder, INPUTS_FILE));
  }
}

async function measureRun(
  { settings, folder, io, peers }: ProfileParts,
  { plan, work, held }: Prepared,
): Promise<Profile> {
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  const onInterrupt = (signal: string): void =>
    note(`ending the run after ${signal}; press Ctrl-C again to stop at once`);
  const { result: run, outputError } = await executePlan(plan, routeTextAroundReports(io, { ...plan.outputs.files }), {
    onInterrupt,
    peers,
    meter: work.link,
    held,
  });
  if (outputError !== undefined) io.err(`Error: ${outputError.message}\n  ${word(outputError.hint)}\n`);
  const measured = measuredOf(run);
  if (measured?.columns.count === 0) note(explainNoText(measured.columns) ?? noContent(settings));
  const isPassed = outputError === undefined && hasPassed(run, measured);
  return { folder, run, measured, outputError, isPassed };
}

/** Removes the files of an earlier run, so that they are not taken for those of this one if it fails. */
async function removeEarlier(folder: string, settings: GenaiSettings): Promise<void> {
  const { plots, ...files } = artifactFiles(folder, settings.output.profileExportFile);
  for (const path of Object.values(files)) removeOutput(path);
  await removePlots(plots);
  for (const { path } of rampartFilesOf(settings)) removeOutput(path);
}

function hasPassed(run: RunResult, measured: Profile["measured"]): boolean {
  if (measured === undefined) return isAllCancelled(run);
  const { failedCount, count } = measured.columns;
  if (isUnstable(run)) return false;
  return isWithinLimit(run, failedCount) && count > 0 && run.error === undefined && !run.isInterrupted;
}

/** Reports whether any level did not become stable. GenAI-Perf fails on that. */
export function isUnstable({ levels }: RunResult): boolean {
  return levels.some(({ outcome }) => outcome === "unstable");
}

function noContent({ endpoint }: GenaiSettings): string {
  return `no response has the form that the endpoint type ${endpoint.type} expects: check --endpoint-type, --endpoint and --url, and a response in the profile export`;
}

/**
 * Checks only measured requests. Earlier failures were already reported.
 * @param unreadCount responses whose failure was found when they were read
 */
function isWithinLimit(run: RunResult, unreadCount: number): boolean {
  // Without a limit, any failure changes the exit code, although it does not end the run.
  const limit = run.prepared.plan.failures.maxRatio ?? 0;
  const { sentCount, failedCount } = run.warmup ?? { sentCount: 0, failedCount: 0 };
  return run.failedCount + unreadCount - failedCount <= limit * (run.sentCount - sentCount);
}

/** Reports whether there is no response because every request was cancelled on purpose. */
function isAllCancelled({ error, isInterrupted, cancelledCount, failures }: RunResult): boolean {
  const isOnlyThat = failures.every(({ kind, isWarmup }) => kind === "cancelled" || isWarmup === true);
  return error === undefined && !isInterrupted && cancelledCount > 0 && isOnlyThat;
}
