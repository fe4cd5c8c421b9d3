import { word } from "../../../../plan/messages.ts";
import type { Plan } from "../../../../plan/plan.ts";
import { type Problem, problem, UserError } from "../../../../plan/problem.ts";
import { loadModeOf } from "../../../../registry/load-modes.ts";
import { OPTIONS } from "../../../perf-analyzer/options/table.ts";
import { type ParsedLine, parseOptions, readSettings } from "../../../perf-analyzer/read-settings.ts";
import { Settings } from "../../../perf-analyzer/settings.ts";
import { type PlanFromFlags, toPlan } from "../../../perf-analyzer/to-plan.ts";
import { isPassedOnlyLoad, writeFlags } from "../../lift-load.ts";
import { PASSED_HINTS, PASSED_REFUSALS } from "./pass-through-refusals.ts";

/**
 * Applies perf_analyzer's options after `--`. The profile's plan is converted to perf_analyzer's settings, and the options are applied to a
 * copy of them. Where the plans of the two differ, the profile's plan takes the value of the second.
 */

/** A plan with the options applied. */
export interface PassedPlan {
  readonly plan: Plan;
  /** Whole sentences without a line break. */
  readonly warnings: readonly string[];
}

/** What the user chose before `--`. An option can choose another load where the user chose none, and a load the number of requests. */
export interface Chosen {
  readonly load: boolean;
  readonly requestCount: boolean;
}

/**
 * Applies the options to a profile's plan.
 * @throws UserError with all problems that perf_analyzer's parser or genai-perf finds
 */
export function passThrough(plan: Plan, args: readonly string[], chosen: Chosen): PassedPlan {
  const parsed = parseOptions(args);
  const refused = parsed.given.flatMap(refuse);
  if (refused.length > 0) throw new UserError([...refused, ...parsed.problems]);
  const build = (given: ParsedLine["given"]): Built => buildPlan(plan, chosen, { ...parsed, given });
  const base = buildPlan(plan, chosen, { given: [], positional: [], problems: [] });
  const passed = build(parsed.given);
  const found = passed.problems.filter(
    ({ message }) => !base.texts.has(word(message)) && !SEVERAL_LOADS.test(word(message)),
  );
  const isFree = parsed.given.some(({ option }) => isPassedOnlyLoad(option.names[0]));
  const problems = found.length > 0 ? found.map(hintLikeGenai) : isFree ? [] : checkLoad(base.plan, passed.plan);
  if (problems.length > 0) throw new UserError(problems);
  const merged = overlay(plan, base.plan, passed.plan) as Plan;
  checkCounted(plan, merged);
  const warnings = passed.warnings
    .filter((text) => !base.texts.has(text))
    .map((text) => text.replace(/^rampart: /, ""));
  for (const one of parsed.given) {
    const without = build(parsed.given.filter((other) => other !== one));
    const [name] = one.option.names;
    const isIdle = isSame(overlay(plan, base.plan, without.plan), merged) || isUnseen(name, merged);
    const isReported = warnings.some((text) => text.includes(name));
    if (isIdle && !isReported) warnings.push(`${writeFlags([one]).join(" ")} after -- has no effect here.`);
  }
  return { plan: merged, warnings };
}

/** perf_analyzer's message for problems that {@link checkLoad} reports. */
const SEVERAL_LOADS = /not supported with multiple .* values in one run/;

/** Finds problems that do not depend on the profile: options that genai-perf does not accept, and invalid values. */
export function findProblems(args: readonly string[]): readonly Problem[] {
  const parsed = parseOptions(args);
  const refused = parsed.given.flatMap(refuse);
  return refused.length > 0 ? [...refused, ...parsed.problems] : readSettings(parsed).problems;
}

interface Built extends PlanFromFlags {
  /** Texts of all problems and warnings, to find new ones. */
  readonly texts: ReadonlySet<string>;
}

function refuse({ option, typed }: ParsedLine["given"][number]): Problem[] {
  const [name] = option.names;
  const refusal = PASSED_REFUSALS[name];
  const path = `-- ${typed}`;
  if (refusal !== undefined) return [problem("unsupported", path, `${name} after -- ${refusal.why}`, refusal.hint)];
  if (option.isOwn !== true) return [];
  return [
    problem(
      "unknown-name",
      path,
      `${name} is not an option of perf_analyzer`,
      "Give it before --, if genai-perf has it.",
    ),
  ];
}

/** Replaces a hint that names options of perf_analyzer which are refused here. */
function hintLikeGenai(found: Problem): Problem {
  const [words, hint] = PASSED_HINTS[word(found.path)] ?? [];
  return words === undefined || hint === undefined || !word(found.message).includes(words) ? found : { ...found, hint };
}

/** Builds perf_analyzer's plan from the profile's settings with the options applied. */
function buildPlan(plan: Plan, chosen: Chosen, parsed: ParsedLine): Built {
  const { settings, ...read } = readSettings(parsed, adoptPlan(plan, chosen));
  // A load that fixes the number of requests replaces genai-perf's default number.
  if (settings.periodic !== undefined && !chosen.requestCount) delete settings.requestCount;
  const built = toPlan(settings);
  const problems = [...read.problems, ...built.problems];
  const warnings = [...read.lines, ...read.warnings, ...built.warnings];
  const texts = new Set([...problems.map(({ message }) => word(message)), ...warnings]);
  return { plan: built.plan, problems, warnings, texts };
}

/** Returns settings equivalent to the profile, without its files except the profile export. */
function adoptPlan(plan: Plan, chosen: Chosen): Settings {
  const settings = new Settings();
  const { outputs } = settings;
  for (const { adopt } of OPTIONS) adopt?.(settings, plan);
  const { profileExport } = plan.outputs.files;
  settings.outputs = { ...outputs, files: profileExport === undefined ? {} : { profileExport } };
  if (!chosen.load) delete settings.concurrency;
  // Infinity means no limit, and differs from every number of threads that an option can set.
  if (plan.client.maxLanes === null) settings.maxThreads = Number.POSITIVE_INFINITY;
  return settings;
}

/** A profile has one load. A load with a name in genai-perf was removed from the flags before. */
function checkLoad({ load: base }: Plan, { load }: Plan): Problem[] {
  const withoutGaps = (one: Plan["load"]): object => ({ ...one, distribution: undefined });
  if (isSame(withoutGaps(base), withoutGaps(load))) return [];
  const flag = loadModeOf(load).levels === undefined ? `--${load.kind}` : `--${load.kind}-range`;
  const message = `${flag} after -- must be one plain number: a profile is measured under one load`;
  return [problem("conflict", `-- ${flag}`, message, "Use genai-perf analyze --sweep-type for several.")];
}

/** A load that fixes the number of requests leaves no time to measure or to warm up. @throws UserError */
function checkCounted({ measurement }: Plan, { load }: Plan): void {
  if (loadModeOf(load).requestCount === undefined) return;
  const { mode, warmupMs = 0 } = measurement;
  const times = [
    ...(mode.kind === "duration" ? ["--benchmark-duration"] : []),
    ...(warmupMs > 0 ? ["--warmup-duration"] : []),
  ];
  const why = "cannot be used with a load after -- that sends each of its requests once";
  if (times.length > 0)
    throw new UserError(times.map((flag) => problem("conflict", flag, `${flag} ${why}`, "Leave it out.")));
}

/** Reports whether an option changes the plan without any visible effect on reports. */
function isUnseen(name: string, { measurement, outputs }: Plan): boolean {
  const hasTable = outputs.files.perfAnalyzerCsv !== undefined || outputs.verbosity > 0;
  if (name === "--verbose-csv") return outputs.files.perfAnalyzerCsv === undefined;
  return name === "--percentile" && !hasTable && !("stabilityPct" in measurement.mode);
}

/** Returns `plan` with all values in which `passed` differs from `base`. Values without a flag in perf_analyzer are kept. */
function overlay(plan: unknown, base: unknown, passed: unknown): unknown {
  if (isSame(base, passed)) return plan;
  if (!isRecord(base) || !isRecord(passed) || base["kind"] !== passed["kind"]) return passed;
  if (!isRecord(plan) || plan["kind"] !== base["kind"]) return plan;
  const result: Record<string, unknown> = { ...plan };
  for (const key of new Set([...Object.keys(base), ...Object.keys(passed)]))
    if (!isSame(base[key], passed[key])) result[key] = overlay(plan[key], base[key], passed[key]);
  return result;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
