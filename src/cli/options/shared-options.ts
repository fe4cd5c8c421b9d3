import { DEFAULT_STALL_TIMEOUT_MS } from "../../plan/defaults.ts";
import { MOST_WORKERS, type OutputFilesPlan, type Plan } from "../../plan/plan.ts";
import { DEFAULT_MAX_RESPONSE_BYTES, MOST_RESPONSE_BYTES } from "../../plan/response-limit.ts";
import { msToSec } from "../../plan/units.ts";
import { resolveOtlpUrl } from "../../report/live/otlp/otlp-settings.ts";
import { putValue } from "./place.ts";

/**
 * Rampart's own options that several commands have, each with one name and one meaning on all of them. An entry here is all that an option
 * takes: the commands and the compatible modes read it by their own rules, show it in their help, and put its value into their plan.
 */

/** The commands and modes that measure. */
const MEASURING = ["run", "http", "perf_analyzer", "genai-perf"] as const;

/** What offers options. */
export type Door = (typeof MEASURING)[number] | "chat" | "compare";

/** How its value is read. A duration is `10s` in Rampart's commands and a number of seconds in the compatible modes. */
type Kind = "switch" | "file" | "duration" | "whole" | "decimal" | "choice" | "text";

/** One option. */
export interface SharedOption {
  /** Long name without dashes. */
  readonly name: string;
  /** Letter in Rampart's commands. */
  readonly short?: string;
  readonly help: string;
  readonly kind: Kind;
  /** Placeholder of the value. Default: that of its kind. */
  readonly value?: string;
  /** Path in the Plan of what it sets. Absent: the command itself does what it says. */
  readonly setting?: string;
  /** The value that a switch puts there. Default: true. */
  readonly puts?: number | boolean;
  readonly choices?: readonly string[];
  /** Bounds of a number. */
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
  /** A number to show in hints. */
  readonly example?: number;
  /** The plan's value without the option; durations in milliseconds. Absent: none. */
  readonly default?: number | string;
  /** Describes what applies without the option, if there is no `default`. */
  readonly defaultText?: string;
  /** What a text stands for in the plan. Absent: itself. */
  readonly resolve?: (text: string) => PlanValue;
  /** Other names in GenAI-Perf mode, such as AIPerf's. */
  readonly otherNames?: readonly string[];
  /** An earlier name in GenAI-Perf mode, which still works and is not shown. */
  readonly earlierName?: string;
  /** What offers it. Absent: everything that measures. */
  readonly doors?: readonly Door[];
  /** What is different on one of them. */
  readonly differs?: Partial<Record<Door, Partial<SharedOption>>>;
}

/** The value that an option puts into a plan, or why it cannot and the fix. */
export type PlanValue = { readonly value: unknown } | { readonly message: string; readonly hint: string };

/** How long `rampart chat` waits for a response. */
export const CHAT_TIMEOUT_MS = 60_000;

/** Rampart's own commands that measure. */
const COMMANDS = ["run", "http"] as const;

/** The options, in the order of the help. */
const OPTIONS: readonly SharedOption[] = [
  {
    name: "header",
    short: "H",
    kind: "text",
    value: '"NAME: VALUE"',
    doors: ["http", "chat"],
    help: "Header; may be given several times.",
  },
  { name: "insecure", short: "k", kind: "switch", doors: ["http", "chat"], help: "Accept any certificate." },
  {
    name: "report",
    kind: "file",
    setting: "outputs.files.html",
    doors: [...MEASURING, "compare"],
    help: "Write the report as a page: one HTML file with verdicts, charts and tables that needs no network.",
    differs: {
      compare: { help: "Write the comparison as a page: one HTML file that needs no other file." },
    },
  },
  {
    name: "json",
    kind: "file",
    setting: "outputs.files.json",
    doors: [...COMMANDS, "perf_analyzer", "compare"],
    help: "Write the report as JSON, with histograms. - is standard output; the text then goes to stderr.",
    differs: {
      compare: { help: "Write the comparison as JSON. - is standard output; the text then goes to stderr." },
    },
  },
  {
    name: "csv",
    kind: "file",
    setting: "outputs.files.csv",
    doors: COMMANDS,
    help: "Write the tables of the report as CSV, the levels first: a line for each row, times in microseconds, ratios 0 to 1.",
  },
  {
    name: "profile-export-file",
    kind: "file",
    setting: "outputs.files.profileExport",
    // The compatible modes have it as an option of the original.
    doors: COMMANDS,
    help: "Write every request, in perf_analyzer's profile export layout.",
  },
  {
    name: "records",
    kind: "file",
    setting: "outputs.files.records",
    doors: [...COMMANDS, "genai-perf"],
    earlierName: "records-file",
    help: "Write every request, also failed ones, as one line of JSON: times, outcome, sizes and level.",
  },
  {
    name: "junit",
    kind: "file",
    setting: "outputs.files.junit",
    doors: [...MEASURING, "compare"],
    help: "Write the verdicts as JUnit XML, for GitLab, Jenkins and GitHub: a test case for each assertion and level.",
    differs: {
      compare: {
        help: "Write the limits of --fail-if as JUnit XML. A limit without a result is an error where the exit code is 66.",
      },
    },
  },
  {
    name: "markdown",
    kind: "file",
    setting: "outputs.files.markdown",
    doors: [...MEASURING, "compare"],
    help: "Write a summary in Markdown, for pull requests and $GITHUB_STEP_SUMMARY. - is standard output; the text then goes to stderr.",
    differs: {
      compare: {
        help: "Write the comparison as Markdown, for a pull request. - is standard output; the text then goes to stderr.",
      },
    },
  },
  {
    name: "seed",
    kind: "whole",
    setting: "seed",
    doors: ["run"],
    min: 0,
    max: 999_999_999_999_999,
    default: 0,
    help: "Seed of all random draws: the same number repeats arrivals and data, also of all runs of a scenario with repeat.",
  },
  {
    name: "client",
    kind: "choice",
    setting: "client.kind",
    doors: [...COMMANDS, "perf_analyzer"],
    choices: ["own", "undici", "grpc-js"],
    default: "own",
    help: "Library that sends the requests: Rampart's own, or a general one to compare with.",
    differs: { http: { choices: ["own", "undici"] } },
  },
  {
    name: "stall-timeout",
    kind: "duration",
    setting: "client.stallTimeoutMs",
    default: DEFAULT_STALL_TIMEOUT_MS,
    help: "A request fails when no byte arrives for this long.",
  },
  {
    name: "request-timeout",
    kind: "duration",
    setting: "client.requestTimeoutMs",
    defaultText: "no limit",
    otherNames: ["request-timeout-seconds"],
    doors: [...MEASURING, "chat"],
    help: "A request fails when its response is not complete after this long, however often bytes arrive.",
    differs: { chat: { default: CHAT_TIMEOUT_MS } },
  },
  {
    name: "max-response-bytes",
    kind: "whole",
    setting: "client.maxResponseBytes",
    min: 1,
    max: MOST_RESPONSE_BYTES,
    unit: "bytes",
    default: DEFAULT_MAX_RESPONSE_BYTES,
    example: 1_000_000_000,
    help: "A request fails when its response is longer: its body, or all messages for it, decompressed.",
  },
  {
    name: "max-failure-ratio",
    kind: "decimal",
    setting: "failures.maxRatio",
    value: "RATIO",
    doors: ["perf_analyzer", "genai-perf"],
    min: 0,
    max: 1,
    example: 0.01,
    otherNames: ["failed-request-threshold"],
    help: "Share of failed requests, 0 to 1, that does not end the run.",
    differs: {
      "genai-perf": {
        defaultText: "none may fail, but the run lasts",
        help: "Share of requests that may fail, 0 to 1; with more of them the run ends, and the exit code is 1.",
      },
    },
  },
  {
    name: "max-outstanding",
    kind: "whole",
    setting: "client.maxOutstanding",
    doors: COMMANDS,
    min: 1,
    example: 50_000,
    defaultText: "what memory, open files and ports allow",
    help: "Most requests in flight, above which the run ends with its report and exit code 66.",
  },
  {
    name: "workers",
    kind: "whole",
    setting: "client.workers",
    min: 1,
    max: MOST_WORKERS,
    example: 4,
    defaultText: "1, the main thread",
    help: "Number of threads that send, each a share of the load on a core of its own. The report is that of one. Not with files of single requests, shared memory, targets inside this process or functions of a scenario.",
  },
  {
    name: "live",
    kind: "switch",
    setting: "outputs.isLive",
    help: "Show the state of the run on stderr while it lasts: redrawn on a terminal, otherwise a line every 5 s. Without this option Rampart's own commands show it on a terminal, and elsewhere print a line every 30 s.",
  },
  {
    name: "no-live",
    kind: "switch",
    setting: "outputs.isLive",
    puts: false,
    doors: COMMANDS,
    help: "Do not show the state of the run.",
  },
  {
    name: "quiet",
    short: "q",
    kind: "switch",
    setting: "outputs.isLive",
    puts: false,
    doors: COMMANDS,
    help: "Print only errors, and why a run did not pass.",
  },
  {
    name: "watch-port",
    kind: "whole",
    setting: "outputs.watchPort",
    value: "PORT",
    min: 0,
    max: 65_535,
    example: 9000,
    help: "Serve the state of the run on 127.0.0.1 while it lasts: a web page, and /metrics for Prometheus. 0 takes a free port and prints it.",
  },
  {
    name: "otlp",
    kind: "text",
    setting: "outputs.otlpUrl",
    value: "URL|env",
    help: "Send metrics to this OpenTelemetry collector while the run lasts, as OTLP over HTTP (default path: /v1/metrics). env takes the address from OTEL_EXPORTER_OTLP_ENDPOINT.",
    resolve: (text) => {
      const resolved = resolveOtlpUrl(text, process.env);
      return "url" in resolved ? { value: resolved.url } : resolved;
    },
  },
  {
    name: "verbose",
    short: "v",
    kind: "switch",
    setting: "outputs.verbosity",
    puts: 1,
    // The compatible modes have it as an option of the original.
    doors: COMMANDS,
    help: "Show all tables and notes of the report, and each measuring window.",
  },
  {
    name: "dry-run",
    kind: "switch",
    help: "Check everything, print the plan as JSON, send and write nothing.",
  },
];

const PLACEHOLDERS: Readonly<Record<Kind, string | undefined>> = {
  switch: undefined,
  file: "FILE",
  duration: "DURATION",
  whole: "N",
  decimal: "N",
  choice: "NAME",
  text: "TEXT",
};

/** Returns what a command or mode offers. */
export function sharedOptions(door: Door): SharedOption[] {
  return OPTIONS.filter(({ doors = MEASURING }) => doors.some((one) => one === door)).map((option) => {
    const { differs, ...rest } = option;
    const value = option.value ?? PLACEHOLDERS[option.kind];
    return { ...rest, ...(value === undefined ? {} : { value }), ...differs?.[door] };
  });
}

/** Returns the option that sets a setting of the Plan, as its user types it. Undefined without one. */
export function sharedNameOf(door: Door, path: string): string | undefined {
  const option = sharedOptions(door).find(({ setting }) => setting === path);
  return option && `--${option.name}`;
}

/** Returns the key of an option's file in a plan; undefined if its value is no output file. */
export function fileKeyOf({ kind, setting }: SharedOption): keyof OutputFilesPlan | undefined {
  return kind === "file" ? (setting?.split(".").at(-1) as keyof OutputFilesPlan | undefined) : undefined;
}

/** Describes what applies without an option; undefined if that is nothing. @param hasUnit whether the unit of a number is part of it */
export function defaultTextOf(option: SharedOption, hasUnit: boolean): string | undefined {
  const { kind, default: value, defaultText, unit } = option;
  if (value === undefined) return defaultText;
  if (kind === "duration") return `${msToSec(value as number)}${hasUnit ? "s" : ""}`;
  return hasUnit && unit !== undefined ? `${value} ${unit}` : String(value);
}

/** Standard output as a file. */
export const STDOUT_FILE = "/dev/stdout";

/** Returns the path of an output file: `-` stands for standard output. */
export function toOutputPath<T extends string | undefined>(path: T): T | typeof STDOUT_FILE {
  return path === "-" ? STDOUT_FILE : path;
}

/** Returns what an option puts into a plan. @param given what was read: a text, a number, milliseconds, or true */
export function toPlanValue({ kind, puts, resolve }: SharedOption, given: string | number | true): PlanValue {
  if (kind === "file") return { value: toOutputPath(String(given)) };
  if (kind === "switch") return { value: puts ?? given };
  return resolve?.(String(given)) ?? { value: given };
}

/** What options put into a plan, by the path of the setting. */
export type PlanValues = ReadonlyMap<string, unknown>;

/** Returns a plan with the values of options. */
export function withPlanValues(plan: Plan, values: PlanValues): Plan {
  const changed = { ...plan };
  for (const [path, value] of values) putValue(changed, path, value);
  return changed;
}
