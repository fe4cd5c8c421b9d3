import { join } from "node:path";
import { combineAxes } from "../../campaign/sweep.ts";
import type { MeasurementPlan, Plan } from "../../plan/plan.ts";
import { maskSecrets, withoutSecrets } from "../../plan/secrets.ts";
import { msToSec } from "../../plan/units.ts";
import { checkPlan } from "../../registry/check-plan.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { targetKindOf, urlsOf } from "../../registry/service-kinds.ts";
import { formatPoint, type PointParameters } from "../../result/sweep.ts";
import { formatJson } from "../../service/json-text.ts";
import type { CommandIo } from "../execute.ts";
import type { GenaiSettings } from "./options/settings.ts";
import type { GivenSettings } from "./options/settings-builder.ts";
import { applyPoint, axesOf } from "./points.ts";
import { nameFolder } from "./profile/folder-name.ts";
import { headersOf } from "./profile/headers.ts";
import { toPassedPlan } from "./profile/passed-plan.ts";
import { neededEntries, withEntryCount } from "./profile/to-plan.ts";
import { openTokenizer } from "./profile/token-work.ts";
import { type CheckedInputs, checkInputs } from "./profile/write-inputs.ts";

/** `--dry-run`: creates and checks everything, but writes no files and contacts no server. */

const MOST_BODY_CHARACTERS = 400;

/**
 * Prints the plan as JSON on stdout (for a sweep, an array of plans), and a description on stderr. Leaves out secrets in headers.
 * @throws UserError for errors that a run would report, RunError for a tokenizer that cannot be loaded
 */
export async function dryRun(settings: GenaiSettings, given: GivenSettings, io: CommandIo): Promise<void> {
  const tokenizer = await openTokenizer(settings);
  const planOf = async (point: GenaiSettings, folder: string): Promise<Plan> => {
    const draft = toPassedPlan(point, given, folder, headersOf(point, process.env));
    const task = { settings: point, given, folder, load: draft.load, entryLimit: neededEntries(draft) };
    const inputs = await checkInputs(task, tokenizer);
    const plan = withEntryCount(draft, inputs.entryCount);
    checkPlan(plan);
    for (const note of inputs.notes) io.err(`rampart: ${note}\n`);
    io.err(describePlan(plan, inputs, folder));
    return withoutSecrets(plan);
  };
  const place = (point: GenaiSettings, values?: PointParameters): string =>
    join(point.output.artifactDir, nameFolder(point, values));
  if (settings.subcommand !== "analyze") {
    io.out(`${JSON.stringify(await planOf(settings, place(settings)), null, 2)}\n`);
    return;
  }
  const plans: object[] = [];
  for (const values of combineAxes(axesOf(settings.analyze.sweeps))) {
    io.err(`${formatPoint(values)}:\n`);
    const point = applyPoint(settings, values);
    plans.push({
      point: Object.fromEntries(values),
      plan: await planOf(point, place(point, values)),
    });
  }
  io.out(`${JSON.stringify(plans, null, 2)}\n`);
}

function describePlan(plan: Plan, { entryCount, first }: CheckedInputs, folder: string): string {
  const { target, measurement, telemetry } = plan;
  const body = maskSecrets(formatJson(first ?? {}));
  const shown =
    body.length > MOST_BODY_CHARACTERS ? `${body.slice(0, MOST_BODY_CHARACTERS)}… (${body.length} characters)` : body;
  const { endpoint } = targetKindOf(target).exported(target);
  const place =
    (urlsOf(target).join(", ") || targetKindOf(target).describe(target)) +
    (endpoint === "" ? "" : `, path ${endpoint}`);
  const { warmupRequests, warmupMs = 0 } = measurement;
  const warmup = [
    ...(warmupRequests > 0 ? [`${warmupRequests} requests`] : []),
    ...(warmupMs > 0 ? [`${msToSec(warmupMs)} s`] : []),
  ];
  const { urls = [], isAsked = false } = telemetry.scrapes ?? {};
  const lines = [
    "dry run: nothing is sent and nothing written",
    `  server:       ${place}${target.isStreaming ? ", streamed" : ""}`,
    `  load:         ${loadModeOf(plan.load).describe(plan.load)}`,
    `  measured:     ${describeMode(measurement.mode, entryCount)}`,
    ...(warmup.length > 0 ? [`  warm-up:      ${warmup.join(" and ")}`] : []),
    `  inputs:       ${entryCount} different requests`,
    `  the first:    ${shown}`,
    `  metrics from: ${urls.join(", ")}${isAsked ? "" : ", if it is there"}`,
    `  files in:     ${folder}`,
  ];
  return `${lines.join("\n")}\n`;
}

function describeMode(mode: MeasurementPlan["mode"], entryCount: number): string {
  switch (mode.kind) {
    case "requests":
      return `${mode.count ?? entryCount} requests`;
    case "duration":
      return `${msToSec(mode.durationMs)} s`;
    case "until-resolved":
      return `windows of ${mode.windowMs} ms, until the limits are certainly kept or broken, ${msToSec(mode.maxMs)} s at most`;
    case "time-windows":
      return `windows of ${mode.windowMs} ms, ${mode.maxTrials} at most, until three agree within ${mode.stabilityPct} %`;
    case "count-windows":
      return `windows of ${mode.requestsPerWindow} requests, ${mode.maxTrials} at most, until three agree within ${mode.stabilityPct} %`;
  }
}
