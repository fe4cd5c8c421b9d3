import { formatCount } from "../plan/units.ts";

export type LevelUnitName = "concurrency" | "request-rate" | "session-rate";

/** The unit of a level's value. */
export interface LevelUnit {
  /** Name in text. */
  readonly name: string;
  /** Name in perf_analyzer's summary and CSV files. */
  readonly title: string;
  /** Heading of its column in Rampart's tables. */
  readonly column: string;
  /** Title of its axis in charts. */
  readonly axis: string;
  readonly exported: "concurrency" | "request_rate" | "session_rate";
  /** Whether requests have due times, independent of responses, so that each has two latencies. */
  readonly isScheduled: boolean;
  readonly isWhole: boolean;
  /** Formats a level: `concurrency 4`. */
  describe(level: number): string;
  /** Returns the line with which perf_analyzer announces a level. @param level formatted like perf_analyzer */
  announce(level: string): string;
  /** Returns perf_analyzer's line for the highest level. @param level formatted like perf_analyzer */
  describeLimit(level: string): string;
}

export const LEVEL_UNITS: Readonly<Record<LevelUnitName, LevelUnit>> = {
  concurrency: {
    name: "concurrency",
    title: "Concurrency",
    column: "concurrency",
    axis: "Requests in flight",
    exported: "concurrency",
    isScheduled: false,
    isWhole: true,
    describe: (level) => `concurrency ${level}`,
    announce: (level) => `Request concurrency: ${level}`,
    describeLimit: (level) => `Concurrency limit: ${level} concurrent requests`,
  },
  "request-rate": {
    name: "request rate",
    title: "Request Rate",
    column: "req/s asked",
    axis: "Requests/s asked for",
    exported: "request_rate",
    isScheduled: true,
    isWhole: false,
    describe: (level) => `${formatCount(level)} requests/s`,
    announce: (level) => `Request Rate: ${level} inference requests per second`,
    describeLimit: (level) => `Request Rate limit: ${level} requests per seconds`,
  },
  "session-rate": {
    name: "session rate",
    title: "Session Rate",
    column: "sessions/s",
    axis: "Sessions/s asked for",
    exported: "session_rate",
    isScheduled: true,
    isWhole: false,
    describe: (level) => `${formatCount(level)} sessions/s`,
    announce: (level) => `Session Rate: ${level} sessions per second`,
    describeLimit: (level) => `Session Rate limit: ${level} sessions per second`,
  },
};
