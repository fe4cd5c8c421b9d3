import type { Plan } from "../plan/plan.ts";
import type { GoodputPlan } from "../plan/tokens.ts";
import { joinSketches, type Sketch, sumOfValues } from "./sketch.ts";
import { NumberTally } from "./tally/number-tally.ts";
import { LIMITED_NAMES } from "./tokens/metrics.ts";

/** The requests that meet a set of limits. */
export interface GoodRequests {
  readonly limits: GoodputPlan;
  /** 1 for each request that meets the limits, 0 for each other request with a response. */
  readonly sample: Sketch;
}

/** Times that every request has, so that they can be limits of a goodput for any target. */
const REQUEST_LIMITS = ["latency", "scheduledLatency", "firstResponse"] as const;

/** A time that every request has. */
export type RequestLimit = (typeof REQUEST_LIMITS)[number];

/** Names of all metrics that can limit a good request. */
export const LIMIT_NAMES: readonly string[] = [...new Set<string>([...REQUEST_LIMITS, ...LIMITED_NAMES])];

/** Reports whether limits apply to times that every request has. Otherwise they apply to tokens. */
export function isOfRequests(limits: GoodputPlan): boolean {
  return Object.keys(limits).every((name) => (REQUEST_LIMITS as readonly string[]).includes(name));
}

/** Reports whether limits can be judged together: a request's token metrics are known without its schedule. */
export function canJoin(limits: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(limits);
  const areIn = (known: readonly string[]): boolean => names.every((name) => known.includes(name));
  return areIn(REQUEST_LIMITS) || areIn(LIMITED_NAMES);
}

function isSameLimits(one: GoodputPlan, other: GoodputPlan): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** Returns the different limits of the goodputs that a plan judges. */
export function goodputsOf({ assertions, limits = [] }: Pick<Plan, "assertions" | "limits">): GoodputPlan[] {
  const all = [...assertions, ...limits].flatMap(({ metric }) => (metric.limits === undefined ? [] : [metric.limits]));
  return all.filter((one, at) => all.findIndex((other) => isSameLimits(one, other)) === at);
}

/** Returns the requests that meet limits; undefined if they were not counted. @param limits default: the only ones that were counted */
export function findLimits(good: readonly GoodRequests[], limits?: GoodputPlan): GoodRequests | undefined {
  if (limits === undefined) return good.length === 1 ? good[0] : undefined;
  return good.find((one) => isSameLimits(one.limits, limits));
}

/** Returns the number of requests that meet the limits. */
export function goodCountOf({ sample }: GoodRequests): number {
  return Math.round(sumOfValues(sample));
}

/** Joins the counts of consecutive or parallel measurements. @param parts not empty, with the same limits */
export function joinGood(parts: readonly (readonly GoodRequests[])[]): GoodRequests[] {
  return (parts[0] ?? []).map(({ limits }) => {
    const samples = parts.flatMap((part) => findLimits(part, limits)?.sample ?? []);
    return { limits, sample: joinSketches(samples) };
  });
}

/** Reports whether a request meets limits on times that every request has. @param times by the name of the limit, in nanoseconds */
export function isWithin(limits: GoodputPlan, times: Readonly<Record<RequestLimit, number>>): boolean {
  return REQUEST_LIMITS.every((name) => limits[name] === undefined || times[name] <= limits[name]);
}

/** Counts the requests that meet limits. */
export class GoodTally {
  private readonly counted: readonly { readonly limits: GoodputPlan; readonly sample: NumberTally }[];

  /** @param goodputs the limits of each goodput to count */
  constructor(goodputs: readonly GoodputPlan[]) {
    this.counted = goodputs.map((limits) => ({ limits, sample: new NumberTally() }));
  }

  /** Adds a successful request. @param isGood reports whether it meets limits @param endNs its end */
  add(isGood: (limits: GoodputPlan) => boolean, endNs: number): void {
    for (const { limits, sample } of this.counted) sample.add(isGood(limits) ? 1 : 0, endNs);
  }

  /** Returns the counts of a time span. Nothing may be added afterwards. */
  cut(startNs: number, endNs: number): GoodRequests[] {
    return this.counted.map(({ limits, sample }) => ({ limits, sample: sample.cut(startNs, endNs) }));
  }
}
