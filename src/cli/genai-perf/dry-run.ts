import { combineAxes } from "../../campaign/sweep.ts";
import type { MeasurementPlan, Plan } from "../../plan/plan.ts";
import { maskSecrets, withoutSecrets } from "../../plan/secrets.ts";
import { formatPct, msToSec, plural } from "../../plan/units.ts";
import { checkPlan } from "../../registry/check-plan.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { targetKindOf, urlsOf } from "../../registry/service-kinds.ts";
import { formatPoint } from "../../result/sweep.ts";
import { formatJson } from "../../service/json-text.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import type { CommandIo } from "../execute.ts";
import type { SweepPlan } from "./plan/plan-sweep.ts";
import type { ProfilePlan } from "./plan/to-plan.ts";
import { openTokenizer } from "./profile/token-work.ts";
import { type CheckedInputs, checkInputs, toWriteTask, withEntryCount } from "./profile/write-inputs.ts";

/** `--dry-run`: creates and checks everything, but writes no files and contacts no server. */

const MOST_BODY_CHARACTERS = 400;

/**
 * Prints the plan as JSON on stdout, and a description on stderr. Leaves out secrets in headers.
 * @throws UserError for errors that a run would report, RunError for a tokenizer that cannot be loaded
 */
export async function dryRun(plan: ProfilePlan, io: CommandIo): Promise<void> {
  const checked = await checkProfile(plan, await openTokenizer(plan), io);
  io.out(`${JSON.stringify(checked, null, 2)}\n`);
}

/** Prints the plans of a sweep's points like {@link dryRun}, as an array. @throws UserError, RunError */
export async function dryRunSweep({ axes, planPoint }: SweepPlan, io: CommandIo): Promise<void> {
  const plans: object[] = [];
  let opening: Promise<Tokenizer | undefined> | undefined;
  for (const point of combineAxes(axes)) {
    const plan = planPoint(point);
    opening ??= openTokenizer(plan);
    const tokenizer = await opening;
    io.err(`${formatPoint(point)}:\n`);
    plans.push({ point: Object.fromEntries(point), plan: await checkProfile(plan, tokenizer, io) });
  }
  io.out(`${JSON.stringify(plans, null, 2)}\n`);
}

/** Creates the requests of a plan, describes it, and returns it without secrets. */
async function checkProfile(draft: ProfilePlan, tokenizer: Tokenizer | undefined, io: CommandIo): Promise<Plan> {
  const inputs = await checkInputs(toWriteTask(draft), tokenizer);
  const plan = withEntryCount(draft, inputs.entryCount);
  checkPlan(plan);
  for (const note of inputs.notes) io.err(`rampart: ${note}\n`);
  io.err(describePlan(plan, inputs));
  return withoutSecrets(plan);
}

function describePlan(plan: ProfilePlan, { entryCount, first }: CheckedInputs): string {
  const { target, measurement, outputs, telemetry } = plan;
  const body = maskSecrets(formatJson(first ?? {}));
  const shown =
    body.length > MOST_BODY_CHARACTERS ? `${body.slice(0, MOST_BODY_CHARACTERS)}… (${body.length} characters)` : body;
  const { endpoint } = targetKindOf(target).exported(target);
  const place =
    (urlsOf(target).join(", ") || targetKindOf(target).describe(target)) +
    (endpoint === "" ? "" : `, path ${endpoint}`);
  const { warmupRequests, warmupMs = 0 } = measurement;
  const warmup = [
    ...(warmupRequests > 0 ? [`${warmupRequests} ${plural(warmupRequests, "request")}`] : []),
    ...(warmupMs > 0 ? [`${msToSec(warmupMs)} s`] : []),
  ];
  const { urls = [], isAsked = false } = telemetry.scrapes ?? {};
  const lines = [
    "dry run: nothing is sent and nothing written",
    `  server:       ${place}${target.isStreaming ? ", streamed" : ""}`,
    `  load:         ${loadModeOf(plan.load).describe(plan.load)}`,
    `  measured:     ${describeMode(measurement.mode, entryCount)}`,
    ...(warmup.length > 0 ? [`  warm-up:      ${warmup.join(" and ")}`] : []),
    `  inputs:       ${entryCount} different ${plural(entryCount, "request")}`,
    `  the first:    ${shown}`,
    `  metrics from: ${urls.join(", ")}${isAsked ? "" : ", if it is there"}`,
    `  files in:     ${outputs.genaiPerf.folder}`,
  ];
  return `${lines.join("\n")}\n`;
}

function describeMode(mode: MeasurementPlan["mode"], entryCount: number): string {
  switch (mode.kind) {
    case "requests":
      return `${mode.count ?? entryCount} ${plural(mode.count ?? entryCount, "request")}`;
    case "duration":
      return `${msToSec(mode.durationMs)} s`;
    case "until-resolved":
      return `windows of ${mode.windowMs} ms, until the limits are certainly kept or broken, ${msToSec(mode.maxMs)} s at most`;
    case "time-windows":
      return `windows of ${mode.windowMs} ms, ${mode.maxTrials} at most, until three agree within ${formatPct(mode.stabilityPct / 100, 6)}`;
    case "count-windows":
      return `windows of ${mode.requestsPerWindow} ${plural(mode.requestsPerWindow, "request")}, ${mode.maxTrials} at most, until three agree within ${formatPct(mode.stabilityPct / 100, 6)}`;
  }
}
