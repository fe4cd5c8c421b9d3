import type { Plan } from "../../../../plan/plan.ts";
import { type Problem, UserError } from "../../../../plan/problem.ts";
import { flagName } from "../../../perf-analyzer/flags.ts";
import { checkOpenAi } from "../../../perf-analyzer/openai-rules.ts";
import { type GivenFlag, parseFlags } from "../../../perf-analyzer/parse.ts";
import { readSettings } from "../../../perf-analyzer/read-settings.ts";
import { toFlags } from "../../../perf-analyzer/to-flags.ts";
import { type PlanFromFlags, toPlan } from "../../../perf-analyzer/to-plan.ts";
import { writeFlags } from "../../lift-load.ts";
import { PASSED_REFUSALS } from "./pass-through-refusals.ts";

/**
 * Flags of perf_analyzer after `--`. The profile's plan is written as a command line of perf_analyzer, which is read without and with
 * them; where the two plans differ, the profile's becomes what the second one says.
 */

/** A plan that obeys the flags. */
export interface PassedPlan {
  readonly plan: Plan;
  /** Whole sentences without a line end. */
  readonly warnings: readonly string[];
}

/** Stands for "no limit of lanes", which no flag says: any number that is given differs from it. */
const NO_LIMIT_OF_THREADS = 1_000_000_000;

/**
 * Lays the flags over a profile's plan.
 * @param hasLoad whether somebody asked for the plan's load; otherwise a flag may ask for another
 * @throws UserError with everything that perf_analyzer's parser or genai-perf has against the flags
 */
export async function passThrough(plan: Plan, args: readonly string[], hasLoad: boolean): Promise<PassedPlan> {
  const parsed = parseFlags(args);
  const refused = parsed.given.flatMap(refuse);
  if (refused.length > 0) throw new UserError([...refused, ...parsed.problems]);
  const own = ownFlags(plan, hasLoad);
  const base = await readPlan(plan, own);
  const obey = async (flags: readonly GivenFlag[]): Promise<Read> => readPlan(plan, [...own, ...writeFlags(flags)]);
  const passed = await readPlan(plan, [...own, ...args]);
  const told = passed.problems.filter(({ message }) => !base.says.has(message) && !SEVERAL_LOADS.test(message));
  const problems = told.length > 0 ? told : checkLoad(base.plan, passed.plan);
  if (problems.length > 0) throw new UserError(problems);
  const merged = overlay(plan, base.plan, passed.plan) as Plan;
  const warnings = passed.warnings.filter((text) => !base.says.has(text)).map((text) => text.replace(/^rampart: /, ""));
  for (const one of parsed.given) {
    const without = await obey(parsed.given.filter((other) => other !== one));
    const isIdle = isSame(overlay(plan, base.plan, without.plan), merged) || isUnseen(one, merged);
    const isTold = warnings.some((text) => text.includes(flagName(one.flag)));
    if (isIdle && !isTold) warnings.push(`${writeFlags([one]).join(" ")} after -- has no effect here.`);
  }
  return { plan: merged, warnings };
}

/** perf_analyzer's words for what {@link checkLoad} tells. */
const SEVERAL_LOADS = /not supported with multiple .* values in one run/;

/** What is wrong with the flags whatever they are laid over: those that genai-perf does not take, and values that cannot be read. */
export async function findProblems(args: readonly string[]): Promise<readonly Problem[]> {
  const parsed = parseFlags(args);
  const refused = parsed.given.flatMap(refuse);
  if (refused.length > 0) return [...refused, ...parsed.problems];
  // A command line without any flag has problems of its own.
  const base = await readSettings(parseFlags([]));
  const read = await readSettings(parsed);
  return read.problems.filter(({ message }) => base.problems.every((one) => one.message !== message));
}

interface Read extends PlanFromFlags {
  /** Everything that was said, to tell what is new. */
  readonly says: ReadonlySet<string>;
}

function refuse({ flag, typed }: GivenFlag): Problem[] {
  const name = flagName(flag);
  const refusal = PASSED_REFUSALS[name];
  const path = `-- ${typed}`;
  if (refusal !== undefined) return [{ path, message: `${name} after -- ${refusal.why}`, hint: refusal.hint }];
  if (flag.isOwn !== true) return [];
  return [{ path, message: `${name} is no flag of perf_analyzer`, hint: "Give it before --, if genai-perf has it." }];
}

/** The command line that does what the profile does, but for its files. */
function ownFlags(plan: Plan, hasLoad: boolean): string[] {
  const { args } = toFlags({ ...plan, inputs: { kind: "random", stringLength: 128, stringData: "" } });
  const at = args.indexOf("--concurrency-range");
  const own = hasLoad || at < 0 ? [...args] : args.toSpliced(at, 2);
  if (plan.client.maxLanes === null) own.push("--max-threads", String(NO_LIMIT_OF_THREADS));
  return own;
}

/** @param plan whose inputs are used: they need not be written yet */
async function readPlan(plan: Plan, args: readonly string[]): Promise<Read> {
  const read = await readSettings(parseFlags(args));
  const { settings } = read;
  const { inputs } = plan;
  if (inputs.kind === "payloads") settings.inputData = [inputs.file];
  else if (inputs.kind === "json") settings.inputData = [...inputs.files];
  const built = toPlan(settings);
  const problems = [...read.problems, ...built.problems, ...checkOpenAi(settings)];
  const warnings = [...read.lines, ...read.warnings, ...built.warnings];
  return {
    plan: built.plan,
    problems,
    warnings,
    says: new Set([...problems.map(({ message }) => message), ...warnings]),
  };
}

/** A profile is of one load, and one that can be named was taken out of the flags before. */
function checkLoad({ load: base }: Plan, { load }: Plan): Problem[] {
  const withoutGaps = (one: Plan["load"]): object => ({ ...one, distribution: undefined });
  if (load.kind === "intervals" || isSame(withoutGaps(base), withoutGaps(load))) return [];
  const flags = { concurrency: "--concurrency-range", "request-rate": "--request-rate-range" } as const;
  const flag = load.kind === "concurrency" || load.kind === "request-rate" ? flags[load.kind] : `--${load.kind}`;
  const message = `${flag} after -- must be one plain number: a profile is measured under one load`;
  return [{ path: `-- ${flag}`, message, hint: "Use genai-perf analyze --sweep-type for several." }];
}

/** Whether a flag changes the plan and yet nothing that is reported. */
function isUnseen({ flag }: GivenFlag, { measurement, outputs }: Plan): boolean {
  const name = flagName(flag);
  const hasTable = outputs.csvFile !== "" || outputs.verbosity > 0;
  if (name === "--verbose-csv") return outputs.csvFile === "";
  return name === "--percentile" && !hasTable && !("stabilityPct" in measurement.mode);
}

/** `plan` with what is different in `passed` from `base`, part by part. What perf_analyzer has no flags for stays. */
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
