import { type LevelRange, stepsOf } from "../../../load/levels.ts";
import { fieldOf } from "../../../plan/objects.ts";
import type { CallModePlan, MeasurementModePlan, Plan } from "../../../plan/plan.ts";
import { DEFAULT_ASYNC_LANES, DEFAULT_SCHEDULE_LANES } from "../../../run/lanes.ts";
import { withValue } from "../../options/place.ts";
import { option, type Settings, type UngroupedOption } from "../settings.ts";
import { defaultLanes } from "../threads.ts";
import { payloadPathOf } from "./general.ts";
import { choice, count, decimal, on, whole } from "./readers.ts";

const readPercentile = whole(
  (value) => value === -1 || (value > 0 && value < 100),
  "The value must be -1 for not reporting or in range (0, 100).",
  "Give 1 to 99.",
);
const readLimit = whole(
  (value) => value >= 0,
  "The value must be >= 0 msecs.",
  "Give 0 for no limit, or milliseconds.",
);

/** Options of the measurement, and of how requests are sent. */
export const MEASUREMENT: readonly UngroupedOption[] = [
  option("measurement.mode.windowMs", {
    names: ["--measurement-interval", "-p"],
    value: "MSEC",
    unit: "milliseconds",
    help: "Length of a time window. Like perf_analyzer's, a window lasts 1.2 times as long.",
    parse: count("The value must be > 0 msec."),
  }),
  option("measurementMode", {
    names: ["--measurement-mode"],
    ...choice(["time_windows", "count_windows"]),
    help: "What ends a window: time, or a number of requests.",
    land: (plan, settings) => {
      const isOfWindows = settings.measurementMode === "count_windows" && !("count" in plan.measurement.mode);
      return isOfWindows ? landMode(plan, settings) : plan;
    },
    of: ({ measurement: { mode } }) => ("requestsPerWindow" in mode ? "count_windows" : undefined),
  }),
  option("measurement.mode.requestsPerWindow", {
    names: ["--measurement-request-count"],
    value: "N",
    help: "Fewest requests in a window with count_windows.",
    parse: count(),
  }),
  option("requestCount", {
    names: ["--request-count"],
    value: "N",
    help: "Send exactly N requests and measure them all, without windows.",
    parse: count(),
    of: requestCountOf,
    land: landMode,
  }),
  option("measurement.warmupRequests", {
    names: ["--warmup-request-count"],
    value: "N",
    help: "Requests to send first and leave out of the measurement.",
    parse: whole((value) => value >= 0, "The value must be >= 0.", "Give 0 or more."),
    land: (plan, settings) => withValue(plan, "measurement.warmupRequests", warmupRequestsOf(settings)),
  }),
  option("measurement.mode.stabilityPct", {
    names: ["--stability-percentage", "-s"],
    value: "PERCENT",
    help: "The most that three windows in a row may differ.",
    parse: decimal((value) => value >= 0, "The value must be >= 0.0.", "Give 0 or more."),
  }),
  option("measurement.mode.maxTrials", {
    names: ["--max-trials", "-r"],
    value: "N",
    help: "Most windows per level.",
    parse: count(),
  }),
  option("measurement.percentile", {
    names: ["--percentile"],
    value: "P",
    defaultText: "-1, the average",
    help: "Latency percentile, 1 to 99, to stabilise and report on.",
    parse: (reader) => toNull(-1, readPercentile(reader)),
  }),
  option("measurement.latencyLimitMs", {
    names: ["--latency-threshold", "-l"],
    value: "MSEC",
    unit: "milliseconds",
    defaultText: "0, none",
    help: "Stop at the level whose latency reaches this.",
    parse: (reader) => toNull(0, readLimit(reader)),
  }),
  option("isBinarySearch", {
    names: ["--binary-search"],
    help: "Find the highest level under --latency-threshold by bisection; STEP is its precision.",
    parse: on,
    of: ({ load }) => fieldOf(load, "search") === "binary",
  }),
  option("isAsync", {
    names: ["--async", "-a"],
    help: "Several requests in flight per thread.",
    parse: on,
    of: isAsync,
  }),
  option("isSync", {
    names: ["--sync"],
    help: "One request in flight per thread. The default.",
    parse: on,
    of: ({ client, target }) => client.callMode === "sync" && !target.isStreaming,
  }),
  option("maxThreads", {
    names: ["--max-threads"],
    setting: "client.maxLanes",
    value: "N",
    defaultText: `${DEFAULT_ASYNC_LANES}, or ${DEFAULT_SCHEDULE_LANES} with request rates`,
    help: "Most threads; each has its connection and, with --sync, one request in flight.",
    parse: count(),
    of: maxThreadsOf,
    land: (plan, { maxThreads }) => withValue(plan, "client.maxLanes", maxThreads),
  }),
  option("client.isMpi", {
    names: ["--enable-mpi"],
    help: "Under mpirun (Open MPI): all ranks begin each level together and measure it until it is stable for all of them.",
    parse: on,
  }),
];

/** Returns the measurement mode, with its duration or number of requests. */
export function toMode(settings: Settings): MeasurementModePlan {
  const { periodic, requestCount, sessionConcurrency, isFixedSchedule } = settings;
  const { windowMs, requestsPerWindow, ...stability } = settings.measurement.mode;
  if (isFixedSchedule || sessionConcurrency !== undefined) return { kind: "requests", count: null };
  if (periodic !== undefined) return { kind: "requests", count: periodic.end };
  if (requestCount !== undefined) return { kind: "requests", count: requestCount };
  if (settings.measurementMode === "count_windows") return { kind: "count-windows", requestsPerWindow, ...stability };
  return { kind: "time-windows", windowMs, ...stability };
}

/** Puts the mode into a plan. */
export function landMode(plan: Plan, settings: Settings): Plan {
  return withValue(plan, "measurement.mode", toMode(settings));
}

/** Like perf_analyzer, which never warms up with sessions. A warning says so. */
export function warmupRequestsOf({ sessionConcurrency, measurement }: Settings): number {
  return sessionConcurrency === undefined ? measurement.warmupRequests : 0;
}

/** Returns the call mode, which determines how requests are sent. */
export function callModeOf({ isAsync, isSync, target }: Settings): CallModePlan {
  if (isAsync || target.isStreaming) return "async";
  return isSync ? "sync" : "auto";
}

/** Converts the option's number for "none" to the plan's null. */
function toNull(none: number, value: number | undefined): number | null | undefined {
  return value === none ? null : value;
}

/** Returns the number of measured requests of a single level. A growing group of requests determines its own number. */
function requestCountOf({ load, measurement: { mode } }: Plan): number | undefined {
  if (!("count" in mode) || fieldOf(load, "periodResponses") !== undefined || hasManyLevels(load)) return undefined;
  return mode.count ?? undefined;
}

/** Reports whether a load has several levels by perf_analyzer's rules, which ignore an open end. */
export function hasManyLevels(load: Plan["load"]): boolean {
  const range = rangeOfLoad(load);
  return range !== undefined && range.isThreadLimited !== true && range.start < (range.end ?? 0);
}

function rangeOfLoad(load: Plan["load"]): LevelRange | undefined {
  const levels = fieldOf(load, "levels");
  return levels && stepsOf(levels);
}

/** Returns the number of threads if it differs from perf_analyzer's default; with an open end, it limits the levels. */
function maxThreadsOf({ client, load }: Plan): number | undefined {
  const range = rangeOfLoad(load);
  const isLimit = range?.isThreadLimited === true;
  const threads = isLimit ? range.end : client.maxLanes;
  const preset = isLimit ? DEFAULT_ASYNC_LANES : defaultLanes(load, client.callMode);
  return threads === null || threads === preset ? undefined : threads;
}

/** Reports whether requests are asynchronous. Streams always are, and payloads are unless the plan is synchronous. */
function isAsync({ client, target }: Plan): boolean {
  if (target.isStreaming) return false;
  return client.callMode === "async" || (client.callMode === "auto" && payloadPathOf(target) !== undefined);
}
