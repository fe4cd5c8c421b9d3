import type { LevelUnitName } from "../../../load/level-units.ts";
import { stepsOf } from "../../../load/levels.ts";
import { levelAt } from "../../../load/search.ts";
import type { LevelsPlan, LoadPlan } from "../../../plan/load-plan.ts";
import { fieldOf } from "../../../plan/objects.ts";
import type { Plan } from "../../../plan/plan.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";
import { DEFAULT_ASYNC_LANES } from "../../../run/lanes.ts";
import { withValue } from "../../options/place.ts";
import {
  ONE_REQUEST,
  option,
  type RangeValue,
  type Settings,
  type UngroupedOption,
  type ValueReader,
} from "../settings.ts";
import { callModeOf, landMode } from "./measurement.ts";
import { choice, count, existingFile, on } from "./readers.ts";

/** perf_analyzer's message. */
export const START_MESSAGE = "The start of the search range must be > 0";

/** Options of the load. */
export const LOAD: readonly UngroupedOption[] = [
  option("concurrency", {
    names: ["--concurrency-range"],
    value: "START[:END[:STEP]]",
    defaultText: "1",
    help: "Concurrency levels to measure: numbers of requests in flight. END 0: rise until --latency-threshold is met.",
    parse: readConcurrency,
    of: ({ load }) => levelsOf(load, "concurrency"),
    format: formatRange,
    land: landLoad,
  }),
  option("requestRate", {
    names: ["--request-rate-range"],
    value: "START[:END[:STEP]]",
    unit: "requests per second",
    help: "Request rates to measure instead of concurrencies.",
    parse: (reader) => {
      const range = readRange(reader, "decimal");
      if (range !== undefined) checkRange(reader, range, `Failed to parse --request-rate-range. ${START_MESSAGE}.`);
      return range;
    },
    of: ({ load }) => levelsOf(load, "request-rate"),
    format: formatRange,
    land: landLoad,
  }),
  option("distribution", {
    names: ["--request-distribution"],
    ...choice(["constant", "poisson"], {
      rule: (given) => `Unsupported type provided: '${given}'. Choices are 'poisson' or 'constant'.`,
    }),
    help: "Spacing of requests with --request-rate-range.",
    of: ({ load }) => (fieldOf(load, "distribution") === "poisson" ? "poisson" : undefined),
    land: (plan, { distribution }) => {
      const before = fieldOf(plan.load, "distribution");
      // perf_analyzer has no gamma distribution. Its default must not replace one.
      const isKept = before === undefined || (before === "gamma" && distribution === "constant");
      return isKept ? plan : withValue(plan, "load.distribution", distribution);
    },
  }),
  option("intervalsFile", {
    names: ["--request-intervals"],
    value: "FILE",
    unit: "microseconds, one per line",
    help: "Send requests at these gaps, over and over.",
    parse: existingFile(
      "The value must be a valid file path",
      "Give an existing file with one time interval in microseconds per line.",
    ),
    of: ({ load }) => fieldOf(load, "file"),
    land: landLoad,
  }),
  option("isFixedSchedule", {
    names: ["--fixed-schedule"],
    help: "Send every entry of --input-data once, at the time in milliseconds that its field 'timestamp' gives.",
    parse: on,
    of: ({ load }) => loadModeOf(load).dataOrder === "at-times",
    land: landLoad,
  }),
  option("periodic", {
    names: ["--periodic-concurrency-range"],
    value: "START:END[:STEP]",
    help: "Send START requests over streams, then STEP more (default 1) each time all requests of the last group have --request-period responses, until END are sent. Needs --profile-export-file.",
    parse: readPeriodicRange,
    of: ({ load }) => ("periodResponses" in load ? load : undefined),
    format: formatRange,
    land: (plan, settings) => landMode(landLoad(plan, settings), settings),
  }),
  option("periodResponses", {
    names: ["--request-period"],
    setting: "load.periodResponses",
    value: "N",
    help: "Responses of each request before --periodic-concurrency-range sends more.",
    parse: count("The value must be > 0"),
    of: ({ load }) => fieldOf(load, "periodResponses"),
  }),
  option("sessionConcurrency", {
    names: ["--session-concurrency"],
    setting: "load.concurrency",
    value: "N",
    help: "Run every conversation of --input-data once, N at a time; each turn carries the history. Needs --service-kind openai and payloads with a session_id; their field 'delay' is the pause in milliseconds before the next turn.",
    parse: count("Session concurrency must be > 0."),
    of: ({ load }) => fieldOf(load, "concurrency"),
    land: landLoad,
  }),
];

function readConcurrency(
  reader: ValueReader,
  before: RangeValue | undefined,
  settings: Settings,
): RangeValue | undefined {
  const range = readRange(reader, "integer");
  if (range === undefined) return undefined;
  checkRange(reader, range, START_MESSAGE);
  // Like in perf_analyzer, an end that -c has set before is kept if this option has no end.
  const isFirst = !settings.given.has(reader.name);
  return { ...range, end: range.end ?? (isFirst ? before?.end : undefined) };
}

function readRange(reader: ValueReader, kind: "integer" | "decimal"): RangeValue | undefined {
  const parts = reader.text.split(":");
  if (parts.length > 3) {
    reader.fail("The value does not match <start:end:step>.", `Write for example ${reader.name} 1:8:2.`);
    return undefined;
  }
  const numbers = parts.map((part) => reader[kind](part));
  const [start, end, step] = numbers;
  return start === undefined || numbers.includes(undefined) ? undefined : { start, end, step };
}

/** @param startMessage perf_analyzer's message for a start that is not above 0 */
function checkRange(reader: ValueReader, { start, end, step }: RangeValue, startMessage: string): void {
  if (start <= 0) reader.refuse(startMessage, `Write for example ${reader.name} 1:8:2.`);
  if (end !== undefined && end < 0) reader.fail("The end of the search range must be >= 0.", "Give 0 for no end.");
  if (step !== undefined && step <= 0)
    reader.fail("The step of the search range must be > 0.", "Give a step of 1 or more.");
}

function readPeriodicRange(reader: ValueReader): { start: number; end: number; step: number } | undefined {
  const range = readRange(reader, "integer");
  if (range === undefined) return undefined;
  const { start, end, step = 1 } = range;
  const fail = (rule: string): void => reader.fail(rule, `Write for example ${reader.name} 10:50:10.`);
  if (end === undefined) fail("Both <start> and <end> values must be provided.");
  else if (start <= 0) fail("The <start> value must be > 0.");
  else if (step <= 0) fail("The <step> value must be > 0.");
  else if (start > end) fail("The <start> must be <= <end>.");
  else if ((end - start) % step !== 0) fail("The <step> value must be a factor of the range size (<end> - <start>).");
  else return { start, end, step };
  return undefined;
}

/** Returns the levels of a load in a unit as a range; for a list with unequal steps, its first value; for a change that lasts a whole level, that level. */
function levelsOf(load: Plan["load"], of: LevelUnitName): RangeValue | undefined {
  const { unit, levels: read, ramp, prepare } = loadModeOf(load);
  if (unit !== of) return undefined;
  if (ramp?.(load)?.isWhole === true) return { start: prepare(load).level ?? 1 };
  const levels = read?.(load).levels;
  if (levels === undefined) return undefined;
  const range = stepsOf(levels);
  const first = levelAt(levels, 0);
  if (range === undefined) return first === undefined ? undefined : { start: first };
  return { start: range.start, end: range.isThreadLimited === true ? 0 : (range.end ?? 0), step: range.step };
}

function formatRange({ start, end, step }: RangeValue): string {
  return [start, end, step].filter((part) => part !== undefined).join(":");
}

const POISSON_SEED = 5489; // default seed of C++ generators

/** Returns the load. */
export function toLoad(settings: Settings): LoadPlan {
  const { periodic, periodResponses, sessionConcurrency, intervalsFile, requestRate, distribution } = settings;
  if (settings.isFixedSchedule) return { kind: "fixed-schedule" };
  if (periodic !== undefined) return { kind: "periodic-concurrency", ...periodic, periodResponses };
  if (sessionConcurrency !== undefined) return { kind: "session-concurrency", concurrency: sessionConcurrency };
  if (intervalsFile !== undefined) return { kind: "intervals", file: intervalsFile };
  const search = settings.isBinarySearch ? "binary" : "linear";
  if (requestRate !== undefined)
    return { kind: "request-rate", levels: toLevels(requestRate, search), search, distribution, seed: POISSON_SEED };
  return { kind: "concurrency", levels: toConcurrency(settings), search };
}

function toConcurrency(settings: Settings): LevelsPlan {
  const { concurrency = ONE_REQUEST, isBinarySearch, maxThreads } = settings;
  const { start, end, step = 1 } = concurrency;
  if (end === 0 && callModeOf(settings) !== "async")
    return { kind: "range", start, end: maxThreads ?? DEFAULT_ASYNC_LANES, step, isThreadLimited: true };
  return toLevels(concurrency, isBinarySearch ? "binary" : "linear");
}

/** Converts a range like perf_analyzer: an end of 1 (or no end) is a single level, and an end of 0 means no end. A binary search has an end. */
function toLevels({ start, end = 1, step = 1 }: RangeValue, search: "linear" | "binary"): LevelsPlan {
  if (search === "binary") return { kind: "range", start, end, step };
  if (end === 1) return { kind: "list", values: [start] };
  return { kind: "range", start, end: end === 0 ? null : end, step };
}

/** Puts the load into a plan. If the plan has the same kind of levels, only the levels are replaced. */
function landLoad(plan: Plan, settings: Settings): Plan {
  const load = toLoad(settings);
  return "levels" in load && load.kind === plan.load.kind
    ? withValue(plan, "load.levels", load.levels)
    : { ...plan, load };
}
