import { clientsOf } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { whyNotWritable } from "../../report/output-place.ts";
import { asksZeros, pathsOf } from "./input-data.ts";
import { kindOf } from "./kinds/kinds.ts";
import { OPTIONS } from "./options/table.ts";
import type { Rule } from "./rule.ts";
import { ONE_REQUEST, type RangeValue, type Settings } from "./settings.ts";
import { unusedOptions } from "./unused-options.ts";

/** perf_analyzer's rules between options, in its words. */

/** Higher values are probably typos. */
const MAX_CONCURRENCY = 100_000;

/** Returns all conflicts between settings. */
export function checkTogether(settings: Settings): Problem[] {
  const rules: readonly Rule[] = [
    ...generalRules(settings),
    ...loadRules(settings),
    ...targetRules(settings),
    ...searchRules(settings),
    ...countRules(settings),
    ...outputRules(settings),
    ...kindRules(settings),
  ];
  return rules
    .filter(([isBroken]) => isBroken)
    .map(([, path, message, hint, value]) => problem("conflict", path, message, hint, value));
}

function generalRules({ target, concurrency, sessionConcurrency = 1 }: Settings): Rule[] {
  const concurrencies = [
    ["--concurrency-range", Math.max(concurrency?.start ?? 1, concurrency?.end ?? 1)],
    ["--session-concurrency", sessionConcurrency],
  ] as const;
  return [
    [
      target.model === "",
      "-m",
      "Failed to parse -m (model name). The value must be specified.",
      "Give the model with -m.",
    ],
    ...concurrencies.map(
      ([flag, most]): Rule => [
        most > MAX_CONCURRENCY,
        flag,
        `Failed to parse ${flag}. The concurrency must be ${MAX_CONCURRENCY} at most.`,
        "Give fewer requests outstanding.",
      ],
    ),
  ];
}

/** Returns the rules that allow only one load at a time, and those of the rarer loads. */
function loadRules(settings: Settings): Rule[] {
  const { periodic, target, outputs, sessionConcurrency, isFixedSchedule, inputData } = settings;
  const [first, second] = givenLoads(settings);
  const mode = periodic === undefined ? "--fixed-schedule" : "--periodic-concurrency-range";
  return [
    [
      second !== undefined,
      `${second?.[1]}`,
      `Cannot use both ${first?.[0]} and ${second?.[0]} inference load modes.`,
      `Give ${first?.[1]} or ${second?.[1]}.`,
    ],
    [
      periodic !== undefined && !(target.isStreaming && target.protocol === "grpc"),
      "--periodic-concurrency-range",
      "The --periodic-concurrency-range option requires bi-directional gRPC streaming.",
      "Add -i grpc --streaming.",
    ],
    [
      periodic !== undefined && outputs.files.profileExport === undefined,
      "--profile-export-file",
      "Must provide --profile-export-file when using the --periodic-concurrency-range option.",
      "Give the file for the measured requests.",
    ],
    [
      sessionConcurrency !== undefined && kindOf(settings).hasSessions !== true,
      "--session-concurrency",
      "Session concurrency mode is only supported with OpenAI service kind.",
      "Add --service-kind openai.",
    ],
    [
      isFixedSchedule && pathsOf(inputData).length === 0,
      "--fixed-schedule",
      "Must provide --input-data when using the --fixed-schedule option.",
      "Give a JSON file whose entries have a 'timestamp' in milliseconds.",
    ],
    ...requestCounts(settings).map(
      ([flag, count]): Rule => [
        count > 0 && (periodic !== undefined || isFixedSchedule),
        flag,
        `Cannot specify \`${flag}\` when using \`${mode}\`.`,
        "Leave it out: the load sets the number of requests.",
      ],
    ),
  ];
}

/** Returns perf_analyzer's names of the given loads, with their options. */
function givenLoads(settings: Settings): (readonly [name: string, flag: string])[] {
  const loads = [
    [settings.periodic !== undefined, "PeriodicConcurrency", "--periodic-concurrency-range"],
    [settings.isFixedSchedule, "FixedSchedule", "--fixed-schedule"],
    [settings.sessionConcurrency !== undefined, "SessionConcurrency", "--session-concurrency"],
    [settings.concurrency !== undefined, "Concurrency", "--concurrency-range"],
    [settings.requestRate !== undefined, "RequestRate", "--request-rate-range"],
    [settings.intervalsFile !== undefined, "CustomIntervals", "--request-intervals"],
  ] as const;
  return loads.filter(([isGiven]) => isGiven).map(([, name, flag]) => [name, flag]);
}

function targetRules(settings: Settings): Rule[] {
  const { given, target, client, isAsync, isSync, inputData } = settings;
  const isGrpc = target.protocol === "grpc";
  const clients = clientsOf(isGrpc ? "grpc" : "http");
  return [
    [
      Object.keys(target.parameters).length > 0 && !isGrpc,
      "--request-parameter",
      "The --request-parameter option is currently only supported by gRPC protocol.",
      "Add -i grpc.",
    ],
    [
      given.has("--grpc-compression-algorithm") && !isGrpc,
      "--grpc-compression-algorithm",
      "Using compression algorithm is only allowed with gRPC protocol.",
      "Add -i grpc.",
    ],
    [isAsync && isSync, "--sync", "Cannot specify --async and --sync simultaneously.", "Give one of them."],
    [target.isStreaming && isSync, "--sync", "can not use streaming with synchronous API", "Leave --sync out."],
    ...["--metrics-url", "--metrics-interval"].map(
      (flag): Rule => [
        given.has(flag) && !settings.isCollectingMetrics,
        flag,
        `Must specify --collect-metrics when using the ${flag} option.`,
        `Add --collect-metrics, or leave ${flag} out.`,
      ],
    ),
    [
      asksZeros(inputData) && pathsOf(inputData).length > 0,
      "--input-data",
      "The -z flag cannot be set when --data-directory is provided.",
      "Give --input-data zero or paths.",
    ],
    [
      !clients.includes(client.kind),
      "--client",
      `Cannot use --client ${client.kind} with ${isGrpc ? "gRPC" : "HTTP"}.`,
      `Give ${clients.join(" or ")}.`,
    ],
  ];
}

/** Returns the flags that set the number of requests, with their numbers; 0: not given. */
export function requestCounts({ requestCount = 0, measurement }: Settings): [flag: string, count: number][] {
  return [
    ["--request-count", requestCount],
    ["--warmup-request-count", measurement.warmupRequests],
  ];
}

function searchRules({ requestRate, concurrency, measurement, isBinarySearch }: Settings): Rule[] {
  const { start = 1, end = 1 } = requestRate ?? concurrency ?? ONE_REQUEST;
  const flag = requestRate === undefined ? "--concurrency-range" : "--request-rate-range";
  const hasLimit = measurement.latencyLimitMs !== null;
  return [
    [
      end === 0 && !hasLimit,
      flag,
      "The end of the search range and the latency limit can not be both 0 (or 0.0) simultaneously",
      `Give ${flag} an end, or give --latency-threshold.`,
    ],
    [
      isBinarySearch && end === 0,
      flag,
      "The end of the range can not be 0 (or 0.0) for binary search mode.",
      "Give an end.",
    ],
    [
      isBinarySearch && end !== 0 && end < start,
      flag,
      "The end of the range can not be less than start of the range for binary search mode.",
      `Write ${flag} ${end}:${start}.`,
    ],
    [
      isBinarySearch && !hasLimit,
      "--latency-threshold",
      "The --latency-threshold cannot be 0 for binary search mode.",
      "Give the limit in milliseconds with -l.",
    ],
  ];
}

function countRules(settings: Settings): Rule[] {
  const { requestRate, requestCount } = settings;
  const levels = [
    [concurrencyOf(settings), "concurrency"],
    [requestRate, "request rate"],
  ] as const;
  return [
    ...requestCounts(settings).flatMap(([flag, count]) =>
      levels.map(
        ([range, unit]): Rule => [
          count > 0 && hasManyLevels(range),
          flag,
          `${flag} not supported with multiple ${unit} values in one run`,
          `Give a single ${unit}.`,
        ],
      ),
    ),
    ...levels.map(([range, unit]): Rule => {
      const least = Math.trunc(range?.start ?? 0);
      const message = `--request-count can not be less than ${unit}`;
      const isFewer = requestCount !== undefined && requestCount < least;
      return [isFewer, "--request-count", message, `Give ${least} or more.`, String(requestCount)];
    }),
  ];
}

/** Returns the concurrency; undefined with another load. */
export function concurrencyOf(settings: Settings): RangeValue | undefined {
  const isConcurrency = givenLoads(settings).every(([name]) => name === "Concurrency");
  return isConcurrency ? (settings.concurrency ?? ONE_REQUEST) : undefined;
}

function hasManyLevels(range: RangeValue | undefined): boolean {
  return range !== undefined && range.start < (range.end ?? 1);
}

/** perf_analyzer's names of its output files. */
const OUTPUTS: Readonly<Record<string, string>> = { "-f": "the report", "--profile-export-file": "raw profile data" };

/** Checks output files before a run, so that the run does not fail at its end. */
function outputRules({ outputs: { files } }: Settings): Rule[] {
  const hint = "Give a path in an existing folder that can be written.";
  return OPTIONS.flatMap(({ names: [flag], setting }): Rule[] => {
    const path = files[/^outputs\.files\.(\w+)$/.exec(setting ?? "")?.[1] as keyof typeof files];
    const isBroken = path !== undefined && whyNotWritable(path) !== undefined;
    return [[isBroken, flag, `failed to open file for outputting ${OUTPUTS[flag] ?? flag}`, hint, path ?? ""]];
  });
}

/** Returns the rules of the service kind, and one against each of Rampart's own options of another kind. */
function kindRules(settings: Settings): Rule[] {
  const kind = kindOf(settings);
  const ofOtherKinds = unusedOptions(settings).filter(({ isRampart }) => isRampart === true);
  const message = `cannot be used with --service-kind ${settings.serviceKind}.`;
  return [
    ...kind.rules(settings),
    ...ofOtherKinds.map(({ names: [flag] }): Rule => [true, flag, `${flag} ${message}`, "Leave it out."]),
  ];
}
