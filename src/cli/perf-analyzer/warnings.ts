import { isDirectory } from "../../runtime/files.ts";
import { pathsOf } from "./input-data.ts";
import { kindOf } from "./kinds/kinds.ts";
import { callModeOf } from "./options/measurement.ts";
import { concurrencyOf, requestCounts } from "./rules.ts";
import { Settings } from "./settings.ts";
import { unusedOptions } from "./unused-options.ts";

/** Warns about options without effect, and about values that are replaced: lines for stderr, in perf_analyzer's words if they are known. */
export function warnTogether(settings: Settings): string[] {
  return [
    ...warnOfThreads(settings),
    ...warnAlone(settings),
    ...unusedOptions(settings)
      .filter(({ isRampart }) => isRampart !== true)
      .map(({ names: [flag] }) => `rampart: ${flag} has no effect with --service-kind ${settings.serviceKind}.`),
    ...warnOfTls(settings),
    ...warnOfFiles(settings),
  ];
}

/** Warning lines; false for none. */
type Warnings = readonly (string | false)[];

function linesOf(warnings: Warnings): string[] {
  return warnings.filter((line) => line !== false);
}

function warnOfThreads(settings: Settings): string[] {
  const { maxThreads } = settings;
  const concurrency = concurrencyOf(settings);
  if (concurrency === undefined || callModeOf(settings) === "async") return [];
  if (concurrency.end === 0)
    return ["WARNING: The maximum attainable concurrency will be limited by max_threads specification."];
  return maxThreads === undefined
    ? []
    : ["WARNING: Overriding max_threads specification to ensure requested concurrency range."];
}

/** Warns about options that have an effect only together with another one. perf_analyzer does not warn. */
function warnAlone(settings: Settings): string[] {
  const { given, target, periodic, sessionConcurrency } = settings;
  const initial = new Settings();
  const isOfWindows =
    settings.measurementMode !== initial.measurementMode ||
    JSON.stringify(settings.measurement.mode) !== JSON.stringify(initial.measurement.mode);
  return linesOf([
    given.has("--request-period") &&
      periodic === undefined &&
      "rampart: --request-period has no effect without --periodic-concurrency-range.",
    given.has("--output-shared-memory-size") &&
      target.sharedMemory === "none" &&
      "rampart: --output-shared-memory-size has no effect without --shared-memory system or cuda.",
    ...requestCounts(settings).map(
      ([flag, count]) =>
        count > 0 &&
        sessionConcurrency !== undefined &&
        `rampart: ${flag} has no effect with --session-concurrency: every session is held once, to its end.`,
    ),
    periodic !== undefined &&
      isOfWindows &&
      "rampart: periodic concurrency has no windows: the flags of windows and stability have no effect.",
  ]);
}

const USE_SSL = "--ssl-grpc-use-ssl";

/** Warns about TLS options without effect. For HTTP, an https:// URL enables TLS. */
function warnOfTls({ given, target, metricsUrl, sslGrpc, serviceKind }: Settings): string[] {
  const isGrpc = target.protocol === "grpc";
  const { ignores } = kindOf({ serviceKind });
  const isAnyGiven = (start: string): boolean =>
    [...given].some((name) => name.startsWith(start) && ignores?.(name) !== true);
  const isTurnedOff = given.has(USE_SSL) && !sslGrpc.isEnabled;
  const usesHttps = target.url?.includes("https://") === true || metricsUrl?.startsWith("https://") === true;
  return linesOf([
    isAnyGiven("--ssl-grpc") &&
      !isTurnedOff &&
      !(isGrpc && sslGrpc.isEnabled) &&
      "rampart: the --ssl-grpc flags have no effect without -i grpc and --ssl-grpc-use-ssl.",
    isAnyGiven("--ssl-https") &&
      (isGrpc || !usesHttps) &&
      "rampart: the --ssl-https flags have no effect without an https:// URL.",
  ]);
}

function warnOfFiles({ inputData, isCollectingMetrics, outputs, ...settings }: Settings): string[] {
  const [first, ...moreFiles] = pathsOf(inputData);
  const isFolder = kindOf(settings).toInputs === undefined && first !== undefined && isDirectory(first);
  return linesOf([
    // Like perf_analyzer, which does not warn.
    ...moreFiles.map(
      (path) =>
        isFolder && `rampart: --input-data ${path} is ignored: only the directory ${first}, named first, is read.`,
    ),
    isCollectingMetrics &&
      outputs.files.perfAnalyzerCsv !== undefined &&
      !outputs.isVerboseCsv &&
      "rampart: the metrics are in the CSV only with --verbose-csv.",
  ]);
}
