import { LEVEL_UNITS } from "../load/level-units.ts";
import { labelPhase } from "../load/phases.ts";
import type { LoadPlan } from "../plan/load-plan.ts";
import type { Plan } from "../plan/plan.ts";
import { plural } from "../plan/units.ts";
import { levelUnitOf, loadModeOf, phaseOf } from "./load-modes.ts";
import { tokensPlanOf } from "./mix.ts";

/** Names of levels in all of Rampart's native output: tables, notes, checks, charts, progress, the live view and comparisons. */

/** The parts of a plan that determine the names of its levels. */
export type NamedPlan = Pick<Plan, "load" | "target" | "measurement">;

/**
 * Formats a level: `concurrency 4`, or `4 users` if responses have tokens; `10 requests/s`. If a phase has several levels, the
 * phase's name comes first.
 */
export function describeLevel(plan: NamedPlan, level: number, phaseIndex?: number): string {
  const { load } = plan;
  const phase = phaseOf({ load }, phaseIndex);
  if (phase === undefined) return loadModeOf(load).describeLevel?.(load, level) ?? describeNumber(plan, load, level);
  const text = describeLevel({ ...plan, load: phase.load }, level);
  if (phase.name === undefined && phase.isWarmup !== true) return text;
  return `${labelPhase(phase, loadModeOf(phase.load))}: ${text}`;
}

function describeNumber(plan: NamedPlan, load: LoadPlan, level: number): string {
  return areUsers(plan) ? describeUsers(level) : LEVEL_UNITS[levelUnitOf(load)].describe(level);
}

/** Reports whether levels are numbers of users, who wait for a response before they send again, and may think in between. */
function areUsers(plan: NamedPlan): boolean {
  if (loadModeOf(plan.load).areUsers?.(plan.load) === true) return true;
  return !LEVEL_UNITS[levelUnitOf(plan.load)].isScheduled && tokensPlanOf(plan) !== undefined;
}

/** Describes a plan's load for the head of a report: `concurrency 1, 2, 4`. */
export function describeLoad(plan: NamedPlan): string {
  return loadModeOf(plan.load).describe(plan.load, areUsers(plan));
}

/** Formats a number of users. */
export function describeUsers(count: number | string): string {
  return `${count} ${plural(Number(count), "user")}`;
}

/** Joins the names of levels of one load: `concurrency 1, 2 and 4`, `1 and 4 users`, `10 and 20 requests/s`. */
export function joinLevels(names: readonly string[]): string {
  const list = (texts: readonly string[]): string =>
    texts.length <= 1 ? (texts[0] ?? "") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
  const numbersOf = (pattern: RegExp): string[] => names.flatMap((name) => pattern.exec(name)?.[1] ?? []);
  const [concurrency, users] = [numbersOf(/^concurrency (\S+)$/), numbersOf(/^(\S+) users?$/)];
  const rates = numbersOf(/^(\S+) requests\/s$/);
  if (concurrency.length === names.length) return `concurrency ${list(concurrency)}`;
  if (rates.length === names.length) return `${list(rates)} requests/s`;
  return users.length === names.length ? describeUsers(list(users)) : list(names);
}

/** Returns the column heading of a plan's levels, and the title of their axis in charts. */
export function levelTitles(plan: NamedPlan): { readonly column: string; readonly axis: string } {
  return areUsers(plan) ? { column: "users", axis: "Users" } : LEVEL_UNITS[levelUnitOf(plan.load)];
}
