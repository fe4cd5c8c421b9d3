import { combineAxes } from "../../../campaign/sweep.ts";
import type { LoadPlan } from "../../../plan/load-plan.ts";
import { word } from "../../../plan/messages.ts";
import { isUntilStable, type Plan } from "../../../plan/plan.ts";
import { type Problem, problem, UserError } from "../../../plan/problem.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";
import { kindOf } from "../../perf-analyzer/kinds/kinds.ts";
import { OPTIONS } from "../../perf-analyzer/options/table.ts";
import { checkTogether } from "../../perf-analyzer/rules.ts";
import { type ReadSettings, readSettings, Settings } from "../../perf-analyzer/settings.ts";
import { unusedOptions } from "../../perf-analyzer/unused-options.ts";
import { warnTogether } from "../../perf-analyzer/warnings.ts";
import type { Asked } from "../options/asked.ts";
import {
  givesLoad,
  isEmpty,
  isPassedOnlyLoad,
  nameOfPassed,
  type PassedFlag,
  type PassedFlags,
  wordsOf,
} from "../options/passed-flags.ts";
import { isLoadChosen } from "../options/read-load.ts";
import { applyPoint, axesOf } from "../points.ts";
import { PASSED_HINTS, PASSED_REFUSALS } from "./passed-refusals.ts";
import { type ProfilePlan, toProfilePlan } from "./to-plan.ts";
import type { Headers } from "./to-target.ts";

/**
 * Plans of profiles with flags of perf_analyzer after `--`. perf_analyzer's readers and rules work on settings, because a value may add to
 * an earlier one, and a part of a plan may depend on several options. So the flags are read into settings that contain the profile's
 * choices, taken from its plan. Then only the values of the flags are put into the plan.
 */

/** Returns the plan of one profile with the flags applied. @throws UserError for flags after `--` that cannot be applied */
export function toPassedPlan(asked: Asked, folder: string, headers: Headers): ProfilePlan {
  const plan = toProfilePlan(asked, folder, headers);
  return asked.passed.given.length === 0 ? plan : (pass(plan, asked).plan as ProfilePlan);
}

/** Finds problems that do not depend on the profile: flags that genai-perf rejects, and invalid values. */
export function findPassedProblems(passed: PassedFlags): readonly Problem[] {
  const refused = passed.given.flatMap(refuse);
  return refused.length > 0 ? [...refused, ...passed.problems] : readSettings(passed).problems;
}

/** Checks the flags after `--` before anything is created. @returns warnings, whole sentences @throws UserError with all problems */
export function checkPassed(asked: Asked): readonly string[] {
  const { passed, subcommand } = asked;
  if (isEmpty(passed)) return [];
  const refused = passed.given.flatMap(refuse);
  if (refused.length > 0) throw new UserError([...refused, ...passed.problems]);
  const [values] = subcommand === "analyze" ? combineAxes(axesOf(asked.get("analyze"))) : [];
  const point = values === undefined ? asked : applyPoint(asked, values);
  const plan = toProfilePlan(point, "", []);
  const { plan: landed, ...found } = pass(plan, point);
  const warnings = found.warnings.map((text) => text.replace(/^rampart: /, ""));
  for (const flag of passed.given) {
    const others = { ...passed, given: passed.given.filter((other) => other !== flag) };
    const without = land(plan, others, readBeside(plan, point.with({}, { subcommand, passed: others })).settings);
    const name = nameOfPassed(flag);
    const isIdle = isSame(without, landed) || isUnseen(name, landed);
    const isReported = warnings.some((text) => text.includes(name));
    if (isIdle && !isReported) warnings.push(`${wordsOf(flag).join(" ")} after -- has no effect here.`);
  }
  return warnings;
}

/** perf_analyzer's message for problems that {@link checkLoad} reports. */
const SEVERAL_LOADS = /not supported with multiple .* values in one run/;

/** Puts the flags into a profile's plan. @returns the plan, and lines for stderr @throws UserError with all problems */
function pass(plan: Plan, asked: Asked): { readonly plan: Plan; readonly warnings: readonly string[] } {
  const { passed } = asked;
  const read = readBeside(plan, asked);
  // Conflicts within the profile itself are not problems of the flags.
  const known = new Set(checkTogether(chosenBy(plan, asked)).map(({ message }) => word(message)));
  const found = [...read.problems, ...checkTogether(read.settings)].filter(
    ({ message }) => !known.has(word(message)) && !SEVERAL_LOADS.test(word(message)),
  );
  if (found.length > 0) throw new UserError(found.map(hintLikeGenai));
  const landed = land(plan, passed, read.settings);
  const several = passed.given.some(isPassedOnlyLoad) ? [] : checkLoad(plan.load, landed.load);
  const problems = several.length > 0 ? several : checkCounted(plan, landed);
  if (problems.length > 0) throw new UserError(problems);
  return { plan: landed, warnings: [...read.lines, ...read.warnings, ...warnTogether(read.settings)] };
}

/** Makes each option put its value into the plan. */
function land(plan: Plan, { given }: PassedFlags, settings: Settings): Plan {
  const unused = unusedOptions(settings);
  const used = given.filter(({ option }) => !unused.includes(option));
  return used.reduce((changed, { option }) => option.land?.(changed, settings) ?? changed, plan);
}

/** Reads the flags' values into settings with the profile's choices. */
function readBeside(plan: Plan, asked: Asked): ReadSettings {
  const read = readSettings(asked.passed, chosenBy(plan, asked));
  // A load that fixes the number of requests replaces genai-perf's default number.
  if (read.settings.periodic !== undefined && !asked.given.has("perf_analyzer.measurement.num"))
    delete read.settings.requestCount;
  return read;
}

/** Returns the profile's choices, as perf_analyzer's rules and readers see them. The profile's default load can be replaced. */
function chosenBy(plan: Plan, asked: Asked): Settings {
  const chosen = new Settings();
  const hasLoad = isLoadChosen(asked);
  for (const option of OPTIONS) if (hasLoad || !givesLoad({ option })) option.take?.(chosen, plan);
  kindOf(chosen).prepare?.(chosen);
  return chosen;
}

function refuse({ option, typed }: PassedFlag): Problem[] {
  const [name] = option.names;
  const refusal = PASSED_REFUSALS[name];
  const path = `-- ${typed}`;
  if (refusal !== undefined) return [problem("unsupported", path, `${name} after -- ${refusal.why}`, refusal.hint)];
  if (option.isRampart !== true) return [];
  const message = `${name} is not an option of perf_analyzer`;
  return [problem("unknown-name", path, message, "Give it before --, if genai-perf has it.")];
}

/** Replaces a hint that names options of perf_analyzer that are rejected here. */
function hintLikeGenai(found: Problem): Problem {
  const [words, hint] = PASSED_HINTS[word(found.path)] ?? [];
  return words === undefined || hint === undefined || !word(found.message).includes(words) ? found : { ...found, hint };
}

/** Checks that the profile has a single load. A load that genai-perf also has is part of the profile's settings. */
function checkLoad(asked: LoadPlan, load: LoadPlan): Problem[] {
  const withoutGaps = (one: LoadPlan): object => ({ ...one, distribution: undefined });
  if (isSame(withoutGaps(asked), withoutGaps(load))) return [];
  const flag = loadModeOf(load).levels === undefined ? `--${load.kind}` : `--${load.kind}-range`;
  const message = `${flag} after -- must be one plain number: a profile is measured under one load`;
  return [problem("conflict", `-- ${flag}`, message, "Use genai-perf analyze --sweep-type for several.")];
}

/** Checks a load that fixes the number of requests, which leaves no time to measure or to warm up. */
function checkCounted({ measurement }: Plan, { load }: Plan): Problem[] {
  if (loadModeOf(load).requestCount === undefined) return [];
  const { mode, warmupMs = 0 } = measurement;
  const times = [
    ...(mode.kind === "duration" ? ["--benchmark-duration"] : []),
    ...(warmupMs > 0 ? ["--warmup-duration"] : []),
  ];
  const why = "cannot be used with a load after -- that sends each of its requests once";
  return times.map((flag) => problem("conflict", flag, `${flag} ${why}`, "Leave it out."));
}

/** Reports whether an option changes the plan without any visible effect on reports. */
function isUnseen(name: string, { measurement, outputs }: Plan): boolean {
  const hasTable = outputs.files.perfAnalyzerCsv !== undefined || outputs.verbosity > 0;
  if (name === "--verbose-csv") return outputs.files.perfAnalyzerCsv === undefined;
  return name === "--percentile" && !hasTable && !isUntilStable(measurement.mode);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
