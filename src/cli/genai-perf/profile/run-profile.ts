import { explainNoText } from "../../../measure/tokens/token-warnings.ts";
import { word } from "../../../plan/messages.ts";
import { type RunError, UserError } from "../../../plan/problem.ts";
import { checkPlan } from "../../../registry/check-plan.ts";
import { type Measured, measuredOf } from "../../../report/genai-perf/measured.ts";
import { plotsFolder } from "../../../report/genai-perf/outputs.ts";
import { removePlots } from "../../../report/genai-perf/plots.ts";
import { removeEarlierFiles } from "../../../report/output-file.ts";
import type { RunResult } from "../../../result/run-result.ts";
import { removingPart } from "../../../run/open/process-end.ts";
import { ALONE, type Peers } from "../../../run/peers/peers.ts";
import { type CommandIo, executePlan } from "../../execute.ts";
import { routeTextAroundReports } from "../../output-files.ts";
import type { ProfilePlan } from "../plan/to-plan.ts";
import { explainBackend } from "./backend-hint.ts";
import { SharedTokenWork, type TokenWork } from "./token-work.ts";
import { toWriteTask, type WrittenInputs, withEntryCount } from "./write-inputs.ts";

/** Runs one profile: creates prompts, runs the load, and reports like GenAI-Perf. */

/** Result of a profile. */
export interface Profile {
  readonly run: RunResult;
  /** Undefined if nothing was measured, so that no report was written. */
  readonly measured: Measured | undefined;
  /**
   * Whether the profile succeeded: the number of failed requests was allowed, some requests were measured, the measurement was stable if
   * required, and the run was not ended early, for example by Ctrl-C.
   */
  readonly isPassed: boolean;
  /** Error of files that could not be written, which has been reported; undefined if there was none. */
  readonly outputError: RunError | undefined;
}

/** Parts that a profile shares with other profiles. */
export interface ProfileContext {
  /** Shared by consecutive profiles. Default: created and closed here. */
  readonly tokens?: SharedTokenWork | undefined;
  /** Processes that measure together. Default: only this one. */
  readonly peers?: Peers | undefined;
  /** Whether an earlier profile has reported that the default address of metrics does not respond. Default: false. */
  readonly isLater?: boolean | undefined;
}

/** Runs one profile and reports on it. @throws UserError, RunError */
export async function runProfile(
  plan: ProfilePlan,
  io: CommandIo,
  { tokens, peers = ALONE, isLater = false }: ProfileContext = {},
): Promise<Profile> {
  const shared = tokens ?? new SharedTokenWork();
  try {
    return await profile({ asked: plan, io, tokens: shared, peers, isLater });
  } finally {
    if (tokens === undefined) await shared.close();
  }
}

interface ProfileParts {
  readonly asked: ProfilePlan;
  readonly io: CommandIo;
  readonly tokens: SharedTokenWork;
  readonly peers: Peers;
  readonly isLater: boolean;
}

interface Prepared extends Pick<WrittenInputs, "held"> {
  readonly plan: ProfilePlan;
  readonly work: TokenWork;
}

/** Writes the requests, and returns the plan that sends them. */
async function prepare({ asked, io, tokens, isLater }: ProfileParts): Promise<Prepared> {
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  const work = await tokens.open(asked, note);
  const inputs = await removingPart(asked.requests.file, () => work.write(toWriteTask(asked)));
  for (const text of inputs.notes) note(text);
  const complete = withEntryCount(asked, inputs.entryCount);
  const plan = isLater ? complete : reportMissingMetrics(complete);
  checkPlan(plan);
  return { plan, work, held: inputs.held };
}

/** Makes a run report missing metrics at the default address too, like GenAI-Perf. */
function reportMissingMetrics(plan: ProfilePlan): ProfilePlan {
  const { scrapes } = plan.telemetry;
  if (scrapes === undefined) return plan;
  return { ...plan, telemetry: { ...plan.telemetry, scrapes: { ...scrapes, isAsked: true } } };
}

async function profile(parts: ProfileParts): Promise<Profile> {
  const { asked } = parts;
  const prepared = await prepare(parts).catch(async (error: unknown) => {
    if (!(error instanceof UserError)) await removeEarlier(asked);
    throw error;
  });
  await removeEarlier(asked);
  const { records } = asked.outputs.files;
  const run = () => measureRun(parts, prepared);
  try {
    return await (records === undefined ? run() : removingPart(records, run));
  } catch (error) {
    throw await explainBackend(error, asked);
  }
}

async function measureRun({ io, peers }: ProfileParts, { plan, work, held }: Prepared): Promise<Profile> {
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  const onInterrupt = (signal: string): void =>
    note(`ending the run after ${signal}; press Ctrl-C again to stop at once`);
  const { result: run, outputError } = await executePlan(plan, routeTextAroundReports(io, plan.outputs.files), {
    onInterrupt,
    peers,
    meter: work.link,
    held,
  });
  if (outputError !== undefined) io.err(`Error: ${outputError.message}\n  ${word(outputError.hint)}\n`);
  const measured = measuredOf(run);
  if (measured?.columns.count === 0) note(explainNoText(measured.columns) ?? noContent(plan));
  const isPassed = outputError === undefined && hasPassed(run, measured);
  return { run, measured, outputError, isPassed };
}

/** Removes the files of an earlier run, so that they are not mistaken for results of this run if it fails. */
async function removeEarlier(plan: ProfilePlan): Promise<void> {
  removeEarlierFiles(plan);
  await removePlots(plotsFolder(plan.outputs.genaiPerf.folder));
}

function hasPassed(run: RunResult, measured: Profile["measured"]): boolean {
  if (measured === undefined) return isAllCancelled(run);
  const { failedCount, count } = measured.columns;
  if (isUnstable(run)) return false;
  return isWithinLimit(run, failedCount) && count > 0 && run.error === undefined && !run.isInterrupted;
}

/** Reports whether any level did not become stable. GenAI-Perf fails in this case. */
export function isUnstable({ levels }: RunResult): boolean {
  return levels.some(({ outcome }) => outcome === "unstable");
}

function noContent({ outputs }: ProfilePlan): string {
  return `no response has the form that the endpoint type ${outputs.genaiPerf.endpointType} expects: check --endpoint-type, --endpoint and --url, and a response in the profile export`;
}

/** Checks only measured requests. @param unreadCount number of responses whose failure was found only when they were read */
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
