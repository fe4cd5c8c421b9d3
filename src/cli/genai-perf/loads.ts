import { LEVEL_UNITS } from "../../load/level-units.ts";
import type { LoadPlan } from "../../plan/load-plan.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { formatFloat } from "../../report/genai-perf/python-format.ts";

/** The loads of genai-perf: everything that the rest of the mode asks about them. */

/** A load. Its flag has its name: `--request-rate`. */
interface Entry {
  /** Its flag in perf_analyzer, which may be given after `--`. */
  readonly passedFlag: string;
  /** Whether the load has a number. Default: true. */
  readonly hasNumber?: boolean;
  /** Returns the load of a plan, without the fields that options set. */
  toPlan(value: number): LoadPlan;
}

/** The loads by their name in files, in the order of GenAI-Perf's help. */
const LOADS = {
  concurrency: {
    passedFlag: "--concurrency-range",
    toPlan: (value) => ({ kind: "concurrency", levels: { kind: "list", values: [value] }, search: "linear" }),
  },
  request_rate: {
    passedFlag: "--request-rate-range",
    toPlan: (value) => ({
      kind: "request-rate",
      levels: { kind: "list", values: [value] },
      search: "linear",
      distribution: "constant",
      seed: 0,
    }),
  },
  session_concurrency: {
    passedFlag: "--session-concurrency",
    toPlan: (value) => ({ kind: "session-concurrency", concurrency: value }),
  },
  fixed_schedule: { passedFlag: "--fixed-schedule", hasNumber: false, toPlan: () => ({ kind: "fixed-schedule" }) },
} satisfies Readonly<Record<string, Entry>>;

export type LoadName = keyof typeof LOADS;

/** The load; exactly one. Like in GenAI-Perf, session concurrency takes precedence over all others. */
export interface Stimulus {
  readonly kind: LoadName;
  /** Requests in flight, requests per second, or sessions. Absent for a load without a number. */
  readonly value?: number;
}

/** Names of all loads. */
export const LOAD_NAMES = Object.keys(LOADS) as LoadName[];

/** A load, as the rest of the mode sees it. */
export interface GenaiLoad extends Omit<Entry, "hasNumber"> {
  /** Kind of its number. Undefined: no number. */
  readonly number: "whole" | "decimal" | undefined;
  /** Name of its number in GenAI-Perf's table of a sweep and, in lower case, in messages; `Concurrency` without a number. */
  readonly title: string;
  /** Whether its number is the number of requests in flight, and of connections. */
  readonly isInFlight: boolean;
  /** Whether it sends each request of the data once. Otherwise the measurement determines the number of requests. */
  readonly sendsOnce: boolean;
  /** Whether it runs conversations: their turns in order, with their pauses. */
  readonly holdsSessions: boolean;
  /** Whether it sends requests at the times in a payload file. */
  readonly followsTimes: boolean;
}

/** Returns a load by name. */
export function loadOf(kind: LoadName): GenaiLoad {
  const { hasNumber = true, ...load }: Entry = LOADS[kind];
  const { unit, dataOrder, requestCount } = loadModeOf(load.toPlan(1));
  const { isWhole, title } = LEVEL_UNITS[hasNumber ? unit : "concurrency"];
  return {
    ...load,
    title,
    number: hasNumber ? (isWhole ? "whole" : "decimal") : undefined,
    isInFlight: hasNumber && isWhole,
    sendsOnce: requestCount !== undefined,
    holdsSessions: dataOrder === "in-sessions",
    followsTimes: dataOrder === "at-times",
  };
}

/** Whether a name, for example of a swept parameter, is the name of a load. */
export function isLoadName(name: string): name is LoadName {
  return Object.hasOwn(LOADS, name);
}

const MIN_REQUESTS = 10;

/** Returns the default number of requests to measure for a load: twice its number, and at least 10. */
export function countFor(value: number): number {
  return Math.max(MIN_REQUESTS, Math.ceil(2 * value));
}

/** Returns genai-perf's flag of a load: `--request-rate`. */
export function flagOf(kind: LoadName): string {
  return `--${kind.replace("_", "-")}`;
}

/** Returns the load with its number as one word, for names of folders: `concurrency2`, `request_rate2.5`. */
export function nameLoad({ kind, value }: Stimulus): string {
  if (value === undefined) return kind;
  return `${kind}${loadOf(kind).number === "decimal" ? formatFloat(value) : value}`;
}
