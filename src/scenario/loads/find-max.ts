import * as v from "valibot";
import { countLevels, rangeOf } from "../../load/levels.ts";
import { levelAt } from "../../load/search.ts";
import type { LevelsPlan } from "../../plan/load-plan.ts";
import { movePath, type Problem, problem } from "../../plan/problem.ts";
import { lazySchema, type Schema, withHint } from "../../plan/schema.ts";
import type { Duration, Percent } from "../../plan/units.ts";
import { refuseMore } from "../arguments.ts";
import type { AnyAssertion, Assertion, MetricOf } from "../assertion.ts";
import { assertionSchema } from "../assertion-schema.ts";
import { percentSchema, spanSchema, strictOptions, toMs, toRatio } from "../fields.ts";
import { listCalls } from "../form.ts";
import { holdBuilder, ramp, rampBuilder, stepsBuilder } from "./concurrency.ts";
import type { Load, LoadKind } from "./load.ts";
import { type AnyLoad, type LoadBuilder, loadBuilder, NO_INNER_LOADS } from "./load-builder.ts";
import { rateBuilder, rateRampBuilder, rateStepsBuilder } from "./rates.ts";

/** Options of `findMax`. */
export interface FindMaxOptions<S extends LoadKind = LoadKind> {
  /**
   * The loads to search: `ramp(1, 512)` or `rateRamp(10, 500)` for all loads between two ends (with `step`, only those at this distance),
   * or `steps([1, 2, 4])` or `rateSteps([10, 50])` for these loads only. Default: `ramp(1, 512)`.
   */
  readonly range?: Load<S>;
  /** Limits that the load must keep: one, or a list of them. */
  readonly where: LimitIn<S> | readonly LimitIn<S>[];
  /** Time of load at each point before its measurement. Default: `"1 s"`. */
  readonly settle?: Duration;
  /** Length of a measuring window. A point is measured for two windows or more. Default: `"1 s"`. */
  readonly window?: Duration;
  /** Longest measurement of a point. If a limit is not decided by then, the point is unresolved. Default: `"30 s"`. */
  readonly forAtMost?: Duration;
  /**
   * Largest accepted difference between the highest load that certainly keeps the limits and the lowest that certainly breaks one, if the
   * loads between them cannot be decided. Default: `"10 %"`.
   */
  readonly within?: Percent;
}

/** A limit in a search. */
type LimitIn<S extends LoadKind> = Assertion<MetricOf<S>, `extracted: ${string}` | `derived: ${string}`>;

const DEFAULT_RANGE = ramp(1, 512) as Load<"closed"> & SearchedLoad;
const DEFAULT_SETTLE: Duration = "1 s";
const DEFAULT_WINDOW: Duration = "1 s";
const DEFAULT_MOST: Duration = "30 s";
const DEFAULT_WITHIN: Percent = "10 %";

/**
 * The highest load that keeps all limits. Doubles the load until a limit breaks, then bisects. Each point is measured until every limit is
 * certainly kept or broken: a percentile by the share of requests above its limit, any other metric by its confidence interval. A point
 * that cannot be decided in the longest time does not end the search: it continues upwards, and then approaches such points from both
 * sides. Assertions are judged at the load that was found.
 * @example
 * findMax({ range: rateRamp(10, 1000), where: [p99("latency").below("50 ms"), errorRate().atMost("1 %")], forAtMost: "30 s" })
 */
export function findMax<S extends LoadKind = "closed">(options: FindMaxOptions<S>): Load<S, "alone"> {
  refuseMore("findMax(options)", arguments);
  return { kind: "find-max", pacing: (options.range ?? DEFAULT_RANGE).pacing as S, values: [], options };
}

/** The loads that can be searched, by kind: concurrencies and rates in the same forms. */
const SEARCHED = {
  ramp: rampBuilder,
  steps: stepsBuilder,
  hold: holdBuilder,
  "rate-ramp": rateRampBuilder,
  "rate-steps": rateStepsBuilder,
  rate: rateBuilder,
} as const satisfies Readonly<Record<string, LoadBuilder>>;

type SearchedKind = keyof typeof SEARCHED;

/** A load to search. */
interface SearchedLoad extends AnyLoad {
  readonly kind: SearchedKind;
}

function searchedSchema(): Schema<SearchedLoad> {
  return lazySchema<SearchedLoad>((input) => {
    const { kind } = (input ?? {}) as { readonly kind?: unknown };
    if (typeof kind !== "string" || !Object.hasOwn(SEARCHED, kind))
      return withHint(
        v.never(`must be ${listCalls(Object.values(SEARCHED))}`),
        `Write ramp(1, ${typeof input === "number" ? input : 64}).`,
      );
    const builder: LoadBuilder = SEARCHED[kind as SearchedKind];
    const values = builder.values?.() ?? v.array(v.never());
    return v.object({ kind: v.literal(kind), values, options: builder.options(NO_INNER_LOADS) });
  });
}

/** Options of loads that have no meaning in a search. */
const NOT_SEARCHED: Readonly<Record<string, string>> = {
  for: "has no effect here: a search measures each load as long as its limits need",
  requests: "has no effect here: a search measures each load as long as its limits need",
  over: "changes the load over a time, and a search measures one load after the other",
  until: "has no effect here: a search ends when the limits are known to break",
  rampUp: "has no effect here: each load of a search is there at once",
};

/** Schema of a limit, or of a list of them. */
function limitsSchema(): Schema<AnyAssertion | readonly AnyAssertion[]> {
  const list = v.pipe(
    v.array(assertionSchema()),
    v.minLength(1, 'must have a limit, such as p99("latency").below("25 ms")'),
  );
  return lazySchema(
    (input): Schema<AnyAssertion | readonly AnyAssertion[]> => (Array.isArray(input) ? list : assertionSchema()),
  );
}

function checkSearched(range: SearchedLoad): Problem[] {
  const given = range.options as Readonly<Record<string, unknown>>;
  const problems = Object.entries(NOT_SEARCHED).flatMap(([name, message]) =>
    given[name] === undefined
      ? []
      : [problem("conflict", `load.range.${name}`, message, "Leave it out.", String(given[name]))],
  );
  const found = (SEARCHED[range.kind] as LoadBuilder).check?.(range) ?? [];
  return problems.length > 0
    ? problems
    : found.map((one) => movePath(one, (path) => path.replace(/^load/, "load.range")));
}

/** Returns the levels of a search: two ends, or a list. */
function searchedLevels(levels: LevelsPlan, options: object): LevelsPlan {
  if (rangeOf(levels) === undefined || !("step" in options)) return levels;
  const count = countLevels(levels) ?? 1;
  return { kind: "list", values: Array.from({ length: count }, (_, index) => levelAt(levels, index) as number) };
}

export const findMaxBuilder = loadBuilder({
  form: { name: "findMax", parts: { range: "load", where: "limits" } },
  options: () =>
    strictOptions({
      range: v.optional(searchedSchema()),
      where: limitsSchema(),
      settle: v.optional(spanSchema()),
      window: v.optional(spanSchema()),
      forAtMost: v.optional(spanSchema()),
      within: v.optional(percentSchema()),
    }),
  check: ({ options: { range = DEFAULT_RANGE, window = DEFAULT_WINDOW, forAtMost = DEFAULT_MOST } }) => {
    if (toMs(forAtMost) >= 2 * toMs(window)) return checkSearched(range);
    const hint = "Raise it, or lower window.";
    return [
      problem("conflict", "load.forAtMost", "is shorter than two windows", hint, forAtMost),
      ...checkSearched(range),
    ];
  },
  toPlan: ({ options: { range = DEFAULT_RANGE } }, folder) => {
    const plan = (SEARCHED[range.kind] as LoadBuilder).toPlan(range, folder);
    if (!("search" in plan)) return plan;
    return { ...plan, levels: searchedLevels(plan.levels, range.options), search: "highest" };
  },
  extent: ({ window = DEFAULT_WINDOW, forAtMost = DEFAULT_MOST, within = DEFAULT_WITHIN }) => ({
    kind: "until-resolved",
    windowMs: toMs(window),
    maxMs: toMs(forAtMost),
    withinRatio: toRatio(within),
  }),
  search: ({ where, settle = DEFAULT_SETTLE }) => ({ limits: [where].flat(), settleMs: toMs(settle) }),
});
