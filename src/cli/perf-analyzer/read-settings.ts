import type { Problem } from "../../plan/problem.ts";
import { FLAG_READERS } from "./flag-readers.ts";
import { flagName } from "./flags.ts";
import type { GivenFlag, ParsedFlags } from "./parse.ts";
import type { Settings } from "./settings.ts";
import { ValueReader } from "./values.ts";

/** Reads the settings of perf_analyzer mode from its flags. */

/** Settings with everything that is wrong and everything the user should know. */
export interface ReadSettings {
  readonly settings: Settings;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Whole lines for stderr, in the original's words. */
  readonly lines: readonly string[];
}

/** Reads the values of all flags given. */
export async function readSettings(parsed: ParsedFlags): Promise<ReadSettings> {
  const reader = new ValueReader();
  const settings = defaults();
  for (const given of parsed.given) {
    if (given.flag.onlyValues !== undefined) refuseLater(reader, given);
    else {
      const name = flagName(given.flag);
      const read = FLAG_READERS[name] ?? (await import("./rare-flag-readers.ts")).RARE_FLAG_READERS[name];
      if (read === undefined) throw new Error(`nothing reads ${name}`);
      read(settings, reader, given.value ?? "", given);
    }
  }
  for (const argument of parsed.positional)
    reader.warnings.push(`'${argument}' is ignored: perf_analyzer takes no arguments besides flags.`);
  const { warnings, lines } = reader;
  return { settings, problems: [...parsed.problems, ...reader.problems], warnings, lines };
}

export function defaults(): Settings {
  return {
    model: "",
    modelVersion: "",
    serviceKind: "triton",
    endpoint: "",
    verbosity: 0,
    isAsync: false,
    isSync: false,
    isStreaming: false,
    concurrency: undefined,
    hasConcurrencyRange: false,
    requestRate: undefined,
    intervalsFile: undefined,
    distribution: "constant",
    isFixedSchedule: false,
    periodic: undefined,
    periodResponses: undefined,
    sessionConcurrency: undefined,
    sequences: {},
    windowMs: 5000,
    measurementMode: "time_windows",
    requestsPerWindow: 50,
    requestCount: undefined,
    warmupRequests: 0,
    stabilityPct: 10,
    maxTrials: 10,
    percentile: null,
    latencyLimitMs: null,
    isBinarySearch: false,
    maxThreads: undefined,
    batchSize: 1,
    inputData: [],
    shapes: {},
    parameters: {},
    compression: undefined,
    composingModels: [],
    stringLength: 128,
    stringData: "",
    inputTensorFormat: "binary",
    outputTensorFormat: "binary",
    sharedMemory: "none",
    outputSharedMemoryBytes: undefined,
    url: undefined,
    protocol: "http",
    headers: [],
    sslGrpc: {},
    sslHttps: {},
    isCollectingMetrics: false,
    metricsUrl: undefined,
    metricsIntervalMs: undefined,
    trace: {},
    csvFile: "",
    jsonFile: "",
    isVerboseCsv: false,
    profileExportFile: "",
    client: "own",
    stallTimeoutMs: 60_000,
    requestTimeoutMs: undefined,
    maxResponseBytes: undefined,
    isMpi: false,
    maxFailureRatio: 0,
    isDryRun: false,
    isHelp: false,
    isVersion: false,
  };
}

export function refuseLater(reader: ValueReader, given: GivenFlag): void {
  const name = flagName(given.flag);
  if (given.value !== undefined && given.flag.onlyValues?.includes(given.value) === true) return;
  const values = (given.flag.onlyValues ?? []).filter((value) => value !== "");
  const hint = values.length > 0 ? `Leave it out or give ${values.join(" or ")}.` : "Leave it out.";
  reader.fail(name, `${name} is not supported yet`, given.value, hint);
}
