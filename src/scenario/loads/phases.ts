import * as v from "valibot";
import type { RecoveryPlan } from "../../plan/load-options.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Duration, Percent } from "../../plan/units.ts";
import { refuseLoad, refuseMore, withFields } from "../arguments.ts";
import { countSchema, nameSchema, percentSchema, spanSchema, strictOptions, toMs, toRatio } from "../fields.ts";
import { hold } from "./concurrency.ts";
import { during } from "./extent.ts";
import { type Load, type LoadKind, type PartLoad, pacingOf } from "./load.ts";
import { type AnyLoad, phasesBuilder } from "./load-builder.ts";

/** Loads that are phases: a warm-up, a phase with a name, and tests that consist of several phases. */

const DEFAULT_DRIFT: Percent = "10 %";
const DEFAULT_WITHIN: Percent = "20 %";

/** Options of {@link soak}. */
export interface SoakOptions {
  /** Length of the test, for example `"4 h"`. */
  readonly for: Duration;
  /**
   * Largest change for the worse of the latency or the throughput, from the first third of the time to the last. The run fails if the
   * change is certainly larger (95 % confidence). Default: `"10 %"`.
   */
  readonly maxDrift?: Percent;
}

/** Options of {@link spike}. */
export interface SpikeOptions<S extends LoadKind = LoadKind> {
  /** The normal load: a concurrency, or a load such as `rate(50)`. */
  readonly base: number | Load<S>;
  /** The load of the spike. */
  readonly peak: number | Load<S>;
  /** Start of the spike: the length of the base load before it. */
  readonly at: Duration;
  /** Length of the spike. */
  readonly for: Duration;
  /** Length of the base load after it. Default: the same as `at`. */
  readonly after?: Duration;
  /** Latency has recovered when its median is at most this much above the median before the spike. Default: `"20 %"`. */
  readonly within?: Percent;
  /** The run fails if the recovery takes longer. Default: as long as `after`. */
  readonly recoverWithin?: Duration;
}

/**
 * A phase that is not measured: load for a time, or for a number of requests.
 * @example
 * load: [warmup("10 s", hold(4)), hold(16, { for: "1 min" })]
 */
export function warmup<S extends LoadKind>(
  extent: Duration | { readonly requests: number },
  load: Load<S>,
): Load<S, "list"> {
  refuseMore("warmup(extent, load)", arguments);
  refuseLoad("warmup(extent, load)", extent, 'Write warmup("10 s", hold(4)).');
  const options = typeof extent === "string" ? { for: extent, load } : withFields(extent, { load });
  return { kind: "warmup", pacing: pacingOf(load), values: [], options };
}

export const warmupBuilder = phasesBuilder({
  form: { name: "warmup", parts: { load: "load" } },
  options: ({ plain }) =>
    strictOptions({ for: v.optional(spanSchema()), requests: v.optional(countSchema()), load: plain() }),
  toPhases: ({ for: duration, requests, load: given }, path, read) => {
    const { plan: load, problems } = read.load(`${path}.load`, given, "continues");
    const mode = duration === undefined ? ({ kind: "requests", count: requests ?? 0 } as const) : during(duration);
    return {
      problems: [...checkWarmup(path, duration, requests), ...problems],
      phases: [{ load, mode, isWarmup: true }],
    };
  },
});

function checkWarmup(path: string, duration: Duration | undefined, requests: number | undefined): Problem[] {
  if ((duration === undefined) !== (requests === undefined)) return [];
  const hint = 'Write warmup("10 s", …) or warmup({ requests: 100 }, …).';
  return [problem("invalid-value", path, "needs a duration or a number of requests", hint)];
}

/**
 * A phase with a name for reports. Default: the description of its load.
 * @example
 * load: [warmup("10 s", hold(4)), phase("steady", hold(16, { for: "1 min" }))]
 */
export function phase<S extends LoadKind>(name: string, load: PartLoad<S>): Load<S, "list"> {
  refuseMore("phase(name, load)", arguments);
  refuseLoad("phase(name, load)", name, 'Write phase("steady", hold(16, { for: "1 min" })).');
  return { kind: "phase", pacing: pacingOf(load), values: [], options: { name, load } };
}

export const phaseBuilder = phasesBuilder({
  form: { name: "phase", parts: { load: "load" } },
  options: ({ part }) => strictOptions({ name: nameSchema("a name"), load: part() }),
  namedBy: "has a name already",
  toPhases: ({ name, load }, path, read, firstIndex) => {
    const message = read.namedBy(load);
    const { phases, problems } = read.part(`${path}.load`, load, firstIndex);
    const named = phases.map((plan) => ({ ...plan, name }));
    if (message === undefined) return { problems, phases: named };
    return {
      problems: [problem("conflict", `${path}.load`, message, "Leave phase(…) out.", load.kind)],
      phases: named,
    };
  },
});

/**
 * A steady load for a long time. The run fails if latency or throughput drift, which reveals leaks. A number is a concurrency.
 * @example
 * load: soak(16, { for: "2 h", maxDrift: "5 %" })
 */
export function soak<S extends LoadKind = "closed">(load: number | Load<S>, options: SoakOptions): Load<S, "list"> {
  refuseMore("soak(load, options)", arguments);
  const steady = toLoad(load);
  return { kind: "soak", pacing: pacingOf(steady), values: [], options: withFields(options, { load: steady }) };
}

export const soakBuilder = phasesBuilder({
  form: { name: "soak", parts: { load: "steady-load" } },
  options: ({ plain }) => strictOptions({ for: spanSchema(), maxDrift: v.optional(percentSchema()), load: plain() }),
  toPhases: ({ load: given, maxDrift = DEFAULT_DRIFT, for: duration }, path, read) => {
    const { plan: load, problems } = read.load(`${path}.load`, given, "steady");
    const drift = { maxRatio: toRatio(maxDrift) };
    return { problems, phases: [{ name: "soak", load, mode: during(duration), drift }] };
  },
});

/**
 * A base load, a sudden peak, and the base load again. Reports how long the latency takes to recover.
 * @example
 * load: spike({ base: 4, peak: 64, at: "1 min", for: "10 s", after: "2 min", recoverWithin: "30 s" })
 */
export function spike<S extends LoadKind = "closed">(options: SpikeOptions<S>): Load<S, "list"> {
  refuseMore("spike(options)", arguments);
  const [base, peak] = [toLoad(options.base), toLoad(options.peak)];
  const pacing = pacingOf(base) === "scheduled" ? pacingOf(base) : pacingOf(peak);
  return { kind: "spike", pacing, values: [], options: { ...options, base, peak } };
}

export const spikeBuilder = phasesBuilder({
  form: { name: "spike", parts: { base: "steady-load", peak: "steady-load" } },
  options: ({ plain }) =>
    strictOptions({
      base: plain(),
      peak: plain(),
      at: spanSchema(),
      for: spanSchema(),
      after: v.optional(spanSchema()),
      within: v.optional(percentSchema()),
      recoverWithin: v.optional(spanSchema()),
    }),
  namedBy: "is several phases, which have names",
  toPhases: (options, path, read, firstIndex) => {
    const { at, after = at, recoverWithin, within = DEFAULT_WITHIN } = options;
    const base = read.load(`${path}.base`, options.base, "steady");
    const peak = read.load(`${path}.peak`, options.peak, "steady");
    const recovery: RecoveryPlan = {
      baseIndex: firstIndex,
      withinRatio: toRatio(within),
      ...(recoverWithin === undefined ? {} : { limitMs: toMs(recoverWithin) }),
    };
    return {
      problems: [...base.problems, ...peak.problems, ...checkPeak(path, options.base, options.peak)],
      phases: [
        { name: "base", load: base.plan, mode: during(at) },
        { name: "peak", load: peak.plan, mode: during(options.for) },
        { name: "recovery", load: base.plan, mode: during(after), recovery },
      ],
    };
  },
});

/** Loads of different kinds cannot be compared. */
function checkPeak(path: string, base: AnyLoad, peak: AnyLoad): Problem[] {
  const [low = 0, high = 0] = [base.values[0], peak.values[0]];
  if (base.kind !== peak.kind || high > low) return [];
  return [problem("conflict", `${path}.peak`, `must be above the base of ${low}`, "Give a higher peak.", String(high))];
}

/** Untyped callers may pass anything, which the schema then rejects. */
function toLoad<S extends LoadKind>(load: number | Load<S>): Load<S> {
  return typeof load === "number" ? (hold(load) as Load<never>) : load;
}
