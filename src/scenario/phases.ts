import type { Duration } from "../plan/units.ts";
import { hold, type Load, type LoadKind, pacingOf } from "./loads.ts";

/** Loads in sequence: a list, a warm-up, and the tests that are made of several phases. */

/**
 * Loads that run one after the other, without a pause between them: one or more. `[]` does not compile; a list that code makes does, and is
 * refused when it turns out to be empty.
 */
export type LoadList<S extends LoadKind = LoadKind> =
  | readonly [Load<S>, ...Load<S>[]]
  // No load can be looked for in the type of `[]`, which is a list of nothing.
  | (readonly Load<S>[] & { readonly indexOf: (load: Load<never>) => number });

/** Options of {@link soak}. */
export interface SoakOptions {
  /** Length of the test, for example `"4 h"`. */
  readonly for: Duration;
  /**
   * Largest change for the worse of the latency or the throughput, in percent, from the first third of the time to the last. The run fails
   * when the change is certainly larger (95 % confidence). Default: 10.
   */
  readonly maxDriftPercent?: number;
}

/** Options of {@link spike}. */
export interface SpikeOptions<S extends LoadKind = LoadKind> {
  /** The normal load: a concurrency, or a load such as `rate(50)`. */
  readonly base: number | Load<S>;
  /** The load of the spike. */
  readonly peak: number | Load<S>;
  /** When the spike begins: the length of the base load before it. */
  readonly at: Duration;
  /** Length of the spike. */
  readonly for: Duration;
  /** Length of the base load after it. Default: the same as `at`. */
  readonly after?: Duration;
  /** Latency is back when its median is at most this much above the median before the spike, in percent. Default: 20. */
  readonly withinPercent?: number;
  /** The run fails when the recovery takes longer. Default: as long as `after`. */
  readonly recoverWithin?: Duration;
}

/**
 * A phase that is not measured: load for a time, or for a number of requests.
 * @example
 * load: [warmup("10 s", hold(4)), hold(16, { for: "1 min" })]
 */
export function warmup<S extends LoadKind>(extent: Duration | { readonly requests: number }, load: Load<S>): Load<S> {
  const options = typeof extent === "string" ? { for: extent, load } : { ...extent, load };
  return { kind: "warmup", pacing: pacingOf(load), values: [], options };
}

/**
 * A phase with a name for reports. Default: the description of its load.
 * @example
 * load: [warmup("10 s", hold(4)), phase("steady", hold(16, { for: "1 min" }))]
 */
export function phase<S extends LoadKind>(name: string, load: Load<S>): Load<S> {
  return { kind: "phase", pacing: pacingOf(load), values: [], options: { name, load } };
}

/**
 * A steady load for a long time, which fails when latency or throughput drift: a leak becomes visible. A number is a concurrency.
 * @example
 * load: soak(16, { for: "2 h", maxDriftPercent: 5 })
 */
export function soak<S extends LoadKind = "closed">(load: number | Load<S>, options: SoakOptions): Load<S> {
  const steady = toLoad(load);
  return { kind: "soak", pacing: pacingOf(steady), values: [], options: { ...options, load: steady } };
}

/**
 * A base load, a sudden peak, and the base load again. Reports how long the latency takes to be back.
 * @example
 * load: spike({ base: 4, peak: 64, at: "1 min", for: "10 s", after: "2 min", recoverWithin: "30 s" })
 */
export function spike<S extends LoadKind = "closed">(options: SpikeOptions<S>): Load<S> {
  const [base, peak] = [toLoad(options.base), toLoad(options.peak)];
  const pacing = pacingOf(base) === "scheduled" ? pacingOf(base) : pacingOf(peak);
  return { kind: "spike", pacing, values: [], options: { ...options, base, peak } };
}

/** Untyped callers may pass anything, which the schema then rejects. */
function toLoad<S extends LoadKind>(load: number | Load<S>): Load<S> {
  return typeof load === "number" ? (hold(load) as unknown as Load<S>) : load;
}
