import type { AssertionPlan } from "../../plan/assertions.ts";
import { defined } from "../../plan/objects.ts";
import { ONLY_ONE, type Problem, problem, UserError } from "../../plan/problem.ts";
import type { Duration } from "../../plan/units.ts";
import { defineScenario, type Scenario, type ScenarioDefinition } from "../../scenario/define.ts";
import { hold } from "../../scenario/loads/concurrency.ts";
import type { Load } from "../../scenario/loads/load.ts";
import { rate } from "../../scenario/loads/rates.ts";
import { extentOptionOf } from "../../scenario/loads/table.ts";
import { readDuration } from "../flag-values.ts";
import type { FlagValues } from "../flags.ts";
import { toAssertion } from "../options/parse-limit.ts";
import { readAmount } from "../shared-flags.ts";

/** The load of a command line: `--users`, `--rate`, `--for`, `--requests`, and its limits, `--fail-if`. */

/** The load that was given. */
export interface GivenLoad {
  readonly users?: number | undefined;
  readonly perSec?: number | undefined;
  /** Length of the measurement. */
  readonly extent?: { readonly for: Duration } | { readonly requests: number } | undefined;
}

/** Reads the options of a load. @param problems receives all problems @returns undefined if none were given */
export function readGivenLoad(flags: FlagValues, door: "run" | "http", problems: Problem[]): GivenLoad | undefined {
  const requests = readAmount(flags, door, "requests", problems);
  const time = readDuration(flags, "for", problems);
  if (requests !== undefined && time !== undefined)
    problems.push(problem("conflict", "--for", "--requests already says when to end", ONLY_ONE));
  const given: GivenLoad = {
    users: readAmount(flags, door, "users", problems),
    perSec: readAmount(flags, door, "rate", problems),
    extent: requests === undefined ? time && { for: time } : { requests },
  };
  return Object.values(given).some((value) => value !== undefined) ? given : undefined;
}

/** Returns a load with the given users or rate. With a rate, users are the maximum number of requests in flight. */
export function toLoad({ users, perSec, extent }: GivenLoad, defaultUsers: number): Load {
  if (perSec === undefined) return hold(users ?? defaultUsers, extent);
  return rate(perSec, { ...extent, ...defined({ concurrencyLimit: users }) });
}

/**
 * Returns a scenario with the given load instead of its own. If no length is given, the load is measured as long as the scenario's own.
 * @throws UserError if that is not possible
 */
export function withGivenLoad(scenario: Scenario, given: GivenLoad): Scenario {
  const { users, perSec, extent } = given;
  const isReplaced = (users ?? perSec) !== undefined;
  const { load } = scenario.definition as { readonly load?: unknown };
  if (isReplaced) return withLoad(scenario, toLoad({ ...given, extent: extent ?? extentOf(load) }, 1));
  return extent === undefined ? scenario : withLoad(scenario, withExtent(load, extent));
}

function withLoad(scenario: Scenario, load: unknown): Scenario {
  return defineScenario({ ...scenario.definition, load } as ScenarioDefinition);
}

/** Returns the length of a load's measurement; undefined if it sets none, or consists of several loads. */
function extentOf(load: unknown): GivenLoad["extent"] {
  const { kind = "", options = {} } = (Array.isArray(load) ? {} : (load ?? {})) as Partial<Load>;
  if (extentOptionOf(kind, "for") === undefined) return undefined;
  const { for: time, requests } = options as { readonly for?: Duration; readonly requests?: number };
  if (requests !== undefined) return { requests };
  return time === undefined ? undefined : { for: time };
}

function withExtent(load: unknown, extent: NonNullable<GivenLoad["extent"]>): unknown {
  const single = (Array.isArray(load) ? undefined : load) as
    | { readonly kind: string; readonly options?: object }
    | undefined;
  const [given, value] = "for" in extent ? (["for", extent.for] as const) : (["requests", extent.requests] as const);
  const option = single && extentOptionOf(single.kind, given);
  if (option === undefined) {
    const hint = "Give --users or --rate too, which replace the load.";
    throw new UserError(problem("conflict", `--${given}`, "the scenario's load says itself how long it lasts", hint));
  }
  const { for: _time, requests: _count, ...options } = (single?.options ?? {}) as Record<string, unknown>;
  return { ...single, options: { ...options, [option]: value } };
}

/** Reads `--fail-if` as assertions. @param problems receives invalid limits */
export function readLimits(flags: FlagValues, problems: Problem[]): AssertionPlan[] {
  return flags.texts("fail-if").flatMap((text) => {
    const read = toAssertion(text);
    if (!("code" in read)) return [read];
    problems.push(read);
    return [];
  });
}
