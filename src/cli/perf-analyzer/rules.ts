import { MAX_CONCURRENCY } from "../../load/levels.ts";
import type { Problem } from "../../plan/problem.ts";
import { isWritable } from "../output-files.ts";
import { checkOpenAi } from "./openai-rules.ts";
import { ONE_REQUEST, type RangeValue, type Settings, takesPayloads } from "./settings.ts";

/** The original's rules between options. */

/** What the settings contradict, all of it. */
export function checkTogether(settings: Settings): Problem[] {
  return [
    ...checkModes(settings),
    ...checkSearch(settings),
    ...checkCounts(settings),
    ...checkOutputs(settings.outputs),
    ...checkOpenAi(settings),
  ];
}

function checkModes(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  const rule = (isBroken: boolean, path: string, message: string, hint: string): void => {
    if (isBroken) problems.push({ path, message, hint });
  };
  const { given, target, client, concurrency, isAsync, isSync, inputData } = settings;
  const isGrpc = target.protocol === "grpc";
  rule(
    target.model === "",
    "-m",
    "Failed to parse -m (model name). The value must be specified.",
    "Give the model with -m.",
  );
  rule(
    Math.max(concurrency?.start ?? 1, concurrency?.end ?? 1) > MAX_CONCURRENCY,
    "--concurrency-range",
    `Failed to parse --concurrency-range. The concurrency must be ${MAX_CONCURRENCY} at most.`,
    "Give fewer requests outstanding.",
  );
  problems.push(...checkLoadModes(settings));
  rule(
    target.isStreaming && !isGrpc && !takesPayloads(settings),
    "--streaming",
    "Streaming is only allowed with gRPC protocol and Triton C API.",
    "Add -i grpc.",
  );
  rule(
    Object.keys(target.parameters).length > 0 && !isGrpc,
    "--request-parameter",
    "The --request-parameter option is currently only supported by gRPC protocol.",
    "Add -i grpc.",
  );
  rule(
    given.has("--grpc-compression-algorithm") && !isGrpc,
    "--grpc-compression-algorithm",
    "Using compression algorithm is only allowed with gRPC protocol.",
    "Add -i grpc.",
  );
  rule(isAsync && isSync, "--sync", "Cannot specify --async and --sync simultaneously.", "Give one of them.");
  rule(target.isStreaming && isSync, "--sync", "can not use streaming with synchronous API", "Leave --sync out.");
  for (const flag of ["--metrics-url", "--metrics-interval"]) {
    rule(
      given.has(flag) && !settings.isCollectingMetrics,
      flag,
      `Must specify --collect-metrics when using the ${flag} option.`,
      `Add --collect-metrics, or leave ${flag} out.`,
    );
  }
  rule(
    inputData.includes("zero") && hasPath(inputData),
    "--input-data",
    "The -z flag cannot be set when --data-directory is provided.",
    "Give --input-data zero or paths.",
  );
  rule(client.kind === "undici" && isGrpc, "--client", "Cannot use --client undici with gRPC.", "Give own or grpc-js.");
  rule(
    client.kind === "grpc-js" && !isGrpc,
    "--client",
    "Cannot use --client grpc-js with HTTP.",
    "Give own or undici.",
  );
  return problems;
}

/** One load at a time, and what each of the rarer ones needs. */
function checkLoadModes(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  const { periodic, target, outputs } = settings;
  const given: (readonly [name: string, flag: string])[] = [];
  if (periodic !== undefined) given.push(["PeriodicConcurrency", "--periodic-concurrency-range"]);
  if (settings.isFixedSchedule) given.push(["FixedSchedule", "--fixed-schedule"]);
  if (settings.sessionConcurrency !== undefined) given.push(["SessionConcurrency", "--session-concurrency"]);
  if (settings.concurrency !== undefined) given.push(["Concurrency", "--concurrency-range"]);
  if (settings.requestRate !== undefined) given.push(["RequestRate", "--request-rate-range"]);
  if (settings.intervalsFile !== undefined) given.push(["CustomIntervals", "--request-intervals"]);
  const [first, second] = given;
  if (first !== undefined && second !== undefined)
    problems.push({
      path: second[1],
      message: `Cannot use both ${first[0]} and ${second[0]} inference load modes.`,
      hint: `Give ${first[1]} or ${second[1]}.`,
    });
  if (periodic !== undefined && !(target.isStreaming && target.protocol === "grpc"))
    problems.push({
      path: "--periodic-concurrency-range",
      message: "The --periodic-concurrency-range option requires bi-directional gRPC streaming.",
      hint: "Add -i grpc --streaming.",
    });
  if (periodic !== undefined && outputs.profileExportFile === "")
    problems.push({
      path: "--profile-export-file",
      message: "Must provide --profile-export-file when using the --periodic-concurrency-range option.",
      hint: "Name the file for the measured requests.",
    });
  if (settings.sessionConcurrency !== undefined && !takesPayloads(settings))
    problems.push({
      path: "--session-concurrency",
      message: "Session concurrency mode is only supported with OpenAI service kind.",
      hint: "Add --service-kind openai.",
    });
  if (settings.isFixedSchedule && !hasPath(settings.inputData))
    problems.push({
      path: "--fixed-schedule",
      message: "Must provide --input-data when using the --fixed-schedule option.",
      hint: "Give a JSON file whose entries have a 'timestamp' in milliseconds.",
    });
  for (const [flag, count] of requestCounts(settings)) {
    if (count === 0 || (periodic === undefined && !settings.isFixedSchedule)) continue;
    const mode = periodic === undefined ? "--fixed-schedule" : "--periodic-concurrency-range";
    problems.push({
      path: flag,
      message: `Cannot specify \`${flag}\` when using \`${mode}\`.`,
      hint: "Leave it out: the load says how many requests there are.",
    });
  }
  return problems;
}

/** What says how many requests there are, and the numbers; 0: not given. */
export function requestCounts({ requestCount = 0, measurement }: Settings): [flag: string, count: number][] {
  return [
    ["--request-count", requestCount],
    ["--warmup-request-count", measurement.warmupRequests],
  ];
}

function hasPath(inputData: readonly string[]): boolean {
  for (const value of inputData) if (value !== "zero") return true;
  return false;
}

function checkSearch(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  const range = settings.requestRate ?? settings.concurrency;
  const flag = settings.requestRate === undefined ? "--concurrency-range" : "--request-rate-range";
  const isEndless = range?.end === 0;
  if (isEndless && settings.measurement.latencyLimitMs === null) {
    problems.push({
      path: flag,
      message: "The end of the search range and the latency limit can not be both 0 (or 0.0) simultaneously",
      hint: `Give ${flag} an end, or give --latency-threshold.`,
    });
  }
  if (!settings.isBinarySearch) return problems;
  if (isEndless) {
    problems.push({
      path: flag,
      message: "The end of the range can not be 0 (or 0.0) for binary search mode.",
      hint: "Give an end.",
    });
  } else if ((range?.end ?? 1) < (range?.start ?? 1)) {
    problems.push({
      path: flag,
      message: "The end of the range can not be less than start of the range for binary search mode.",
      hint: `Write ${flag} ${range?.end ?? 1}:${range?.start ?? 1}.`,
    });
  }
  if (settings.measurement.latencyLimitMs === null) {
    problems.push({
      path: "--latency-threshold",
      message: "The --latency-threshold cannot be 0 for binary search mode.",
      hint: "Give the limit in milliseconds with -l.",
    });
  }
  return problems;
}

function checkCounts(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  const rate = settings.requestRate;
  const concurrency =
    rate === undefined &&
    settings.intervalsFile === undefined &&
    !settings.isFixedSchedule &&
    settings.periodic === undefined &&
    settings.sessionConcurrency === undefined
      ? (settings.concurrency ?? ONE_REQUEST)
      : undefined;
  const hasManyLevels = (range: RangeValue | undefined): boolean =>
    range !== undefined && range.start < (range.end ?? 1);
  const { requestCount } = settings;
  for (const [flag, count] of requestCounts(settings)) {
    if (count === 0) continue;
    if (hasManyLevels(concurrency))
      problems.push({
        path: flag,
        message: `${flag} not supported with multiple concurrency values in one run`,
        hint: "Give a single concurrency.",
      });
    if (hasManyLevels(rate))
      problems.push({
        path: flag,
        message: `${flag} not supported with multiple request rate values in one run`,
        hint: "Give a single request rate.",
      });
  }
  if (requestCount === undefined) return problems;
  if (concurrency !== undefined && requestCount < concurrency.start) {
    problems.push({
      path: "--request-count",
      message: "--request-count can not be less than concurrency",
      value: String(requestCount),
      hint: `Give ${concurrency.start} or more.`,
    });
  }
  if (rate !== undefined && requestCount < Math.trunc(rate.start)) {
    problems.push({
      path: "--request-count",
      message: "--request-count can not be less than request rate",
      value: String(requestCount),
      hint: `Give ${Math.trunc(rate.start)} or more.`,
    });
  }
  return problems;
}

/** Output files are refused before a run, not after it. */
function checkOutputs({ jsonFile, csvFile, profileExportFile }: Settings["outputs"]): Problem[] {
  const problems: Problem[] = [];
  for (const [flag, path, said] of [
    ["--json", jsonFile, "failed to open file for outputting the JSON report"],
    ["-f", csvFile, "failed to open file for outputting the report"],
    ["--profile-export-file", profileExportFile, "failed to open file for outputting raw profile data"],
  ] as const) {
    if (path !== "" && !isWritable(path))
      problems.push({
        path: flag,
        message: said,
        value: path,
        hint: "Give a path in an existing folder that can be written.",
      });
  }
  return problems;
}
