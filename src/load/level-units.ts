import { formatCount } from "../plan/units.ts";

/** The units of levels, and how each is named. */

export type LevelUnitName = "concurrency" | "request-rate";

/** What a level's value is. */
export interface LevelUnit {
  /** In running text. */
  readonly name: string;
  /** In perf_analyzer's summary and CSV files. */
  readonly title: string;
  /** The heading of its column in Rampart's tables. */
  readonly column: string;
  /** In profile exports. */
  readonly exported: "concurrency" | "request_rate";
  /** Requests are due at times, whatever the server does, so that each has two latencies. */
  readonly isScheduled: boolean;
  /** Levels are whole numbers. */
  readonly isWhole: boolean;
  /** One level in words: `concurrency 4`. */
  describe(level: number): string;
  /** The line with which perf_analyzer announces a level. @param level as it prints numbers */
  announce(level: string): string;
  /** perf_analyzer's setting of the highest level. @param level as it prints numbers */
  describeLimit(level: string): string;
}

export const LEVEL_UNITS: Readonly<Record<LevelUnitName, LevelUnit>> = {
  concurrency: {
    name: "concurrency",
    title: "Concurrency",
    column: "concurrency",
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
    exported: "request_rate",
    isScheduled: true,
    isWhole: false,
    describe: (level) => `${formatCount(level)} requests/s`,
    announce: (level) => `Request Rate: ${level} inference requests per second`,
    describeLimit: (level) => `Request Rate limit: ${level} requests per seconds`,
  },
};
