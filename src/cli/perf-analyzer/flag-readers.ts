import { MOST_RESPONSE_BYTES } from "../../plan/response-limit.ts";
import { fileSystem } from "../../runtime/files.ts";
import { toOutputPath } from "../output-files.ts";
import {
  checkRange,
  type FlagReader,
  readComposingModels,
  readCompression,
  readCount,
  readDeprecatedEnd,
  readFormat,
  readParameter,
  readShape,
  refuseBothLoads,
} from "./flag-values.ts";
import { readRange } from "./values.ts";

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAK = /[\r\n\0]/;
const START_MESSAGE = "The start of the search range must be > 0";

/** What flags do with their values, by the names that `flagName` gives them; the others are in `rare-flag-readers.ts`. */
export const FLAG_READERS: Readonly<Record<string, FlagReader>> = {
  "-m": (settings, _reader, value) => {
    settings.model = value;
  },
  "-x": (settings, _reader, value) => {
    settings.modelVersion = value;
  },
  "-v": (settings) => {
    settings.verbosity = settings.verbosity === 0 ? 1 : 2;
  },
  "--version": (settings) => {
    settings.isVersion = true;
  },
  "--help": (settings) => {
    settings.isHelp = true;
  },
  "--dry-run": (settings) => {
    settings.isDryRun = true;
  },
  "--async": (settings) => {
    settings.isAsync = true;
  },
  "--sync": (settings) => {
    settings.isSync = true;
  },
  "--streaming": (settings) => {
    settings.isStreaming = true;
  },
  "--binary-search": (settings) => {
    settings.isBinarySearch = true;
  },
  "--enable-mpi": (settings) => {
    settings.isMpi = true;
  },
  "--verbose-csv": (settings) => {
    settings.isVerboseCsv = true;
  },
  "--concurrency-range": (settings, reader, value) => {
    const range = readRange(reader, "--concurrency-range", value, "integer");
    const isFirst = !settings.hasConcurrencyRange;
    settings.hasConcurrencyRange = true;
    if (range === undefined) return;
    checkRange(reader, "--concurrency-range", START_MESSAGE, range, value);
    // As in the original an end that -c gave before stays where this flag gives none.
    const end = range.end ?? (isFirst ? settings.concurrency?.end : undefined);
    settings.concurrency = { ...range, end };
  },
  "-t": (settings, reader, value) => {
    reader.deprecate("-t", "--concurrency-range");
    const start = readDeprecatedEnd(settings, reader, "-t", value);
    if (start === undefined) return;
    if (start <= 0) reader.fail("-t", START_MESSAGE, value, "Give 1 or more.");
    else settings.concurrency = { step: undefined, end: undefined, ...settings.concurrency, start };
  },
  "-c": (settings, reader, value) => {
    reader.deprecate("-c", "--concurrency-range");
    const end = readDeprecatedEnd(settings, reader, "-c", value);
    if (end === undefined) return;
    if (end < 0) reader.fail("-c", "Failed to parse -c. The value must be >= 0.", value, "Give 0 for no end.");
    else settings.concurrency = { start: 1, step: undefined, ...settings.concurrency, end };
  },
  "-d": (settings, reader) => {
    reader.deprecate("-d", "--concurrency-range");
    // As the original: only where the flag comes after the range.
    if (settings.hasConcurrencyRange) refuseBothLoads(reader, "-d", undefined);
  },
  "-z": (settings, reader) => {
    reader.deprecate("-z", "--input-data=zero");
    settings.inputData.push("zero");
  },
  "--data-directory": (settings, reader, value) => {
    reader.deprecate("--data-directory", "--input-data");
    if (fileSystem().existsSync(value)) settings.inputData.push(value);
    else
      reader.fail(
        "--data-directory",
        "failed to open file for reading provided data",
        value,
        "Give an existing directory.",
      );
  },
  "--request-rate-range": (settings, reader, value) => {
    settings.requestRate = readRange(reader, "--request-rate-range", value, "decimal");
    const message = "Failed to parse --request-rate-range. The start of the search range must be > 0.";
    if (settings.requestRate !== undefined)
      checkRange(reader, "--request-rate-range", message, settings.requestRate, value);
  },
  "--request-distribution": (settings, reader, value) => {
    if (value === "constant" || value === "poisson") settings.distribution = value;
    else
      reader.fail(
        "--request-distribution",
        `Failed to parse --request-distribution. Unsupported type provided: '${value}'. Choices are 'poisson' or 'constant'.`,
        value,
        "Give constant or poisson.",
      );
  },
  "--measurement-interval": (settings, reader, value) => {
    settings.windowMs =
      readCount(
        reader,
        "--measurement-interval",
        "--measurement-interval (-p)",
        value,
        "The value must be > 0 msec.",
      ) ?? settings.windowMs;
  },
  "--measurement-mode": (settings, reader, value) => {
    if (value === "time_windows" || value === "count_windows") settings.measurementMode = value;
    else
      reader.fail(
        "--measurement-mode",
        `Failed to parse --measurement-mode. Unsupported type provided: '${value}'. The available options are 'time_windows' or 'count_windows'.`,
        value,
        "Give time_windows or count_windows.",
      );
  },
  "--measurement-request-count": (settings, reader, value) => {
    settings.requestsPerWindow =
      readCount(
        reader,
        "--measurement-request-count",
        "--measurement-request-count",
        value,
        "The value must be > 0.",
      ) ?? settings.requestsPerWindow;
  },
  "--request-count": (settings, reader, value) => {
    settings.requestCount = readCount(reader, "--request-count", "--request-count", value, "The value must be > 0.");
  },
  "--warmup-request-count": (settings, reader, value) => {
    const count = reader.integer("--warmup-request-count", "--warmup-request-count", value);
    if (count !== undefined && count < 0)
      reader.fail(
        "--warmup-request-count",
        "Failed to parse --warmup-request-count. The value must be >= 0.",
        value,
        "Give 0 or more.",
      );
    else settings.warmupRequests = count ?? 0;
  },
  "--stability-percentage": (settings, reader, value) => {
    const percentage = reader.decimal("--stability-percentage", "--stability-percentage (-s)", value);
    if (percentage !== undefined && percentage < 0)
      reader.fail(
        "--stability-percentage",
        "Failed to parse --stability-percentage (-s). The value must be >= 0.0.",
        value,
        "Give 0 or more.",
      );
    else settings.stabilityPct = percentage ?? settings.stabilityPct;
  },
  "--max-trials": (settings, reader, value) => {
    settings.maxTrials =
      readCount(reader, "--max-trials", "--max-trials (-r)", value, "The value must be > 0.") ?? settings.maxTrials;
  },
  "--percentile": (settings, reader, value) => {
    const percentile = reader.integer("--percentile", "--percentile", value);
    if (percentile === undefined) return;
    settings.percentile = percentile === -1 ? null : percentile;
    if (percentile === -1 || (percentile > 0 && percentile < 100)) return;
    reader.fail(
      "--percentile",
      "Failed to parse --percentile. The value must be -1 for not reporting or in range (0, 100).",
      value,
      "Give 1 to 99.",
    );
  },
  "--latency-threshold": (settings, reader, value) => {
    const limit = reader.integer("--latency-threshold", "--latency-threshold (-l)", value);
    if (limit !== undefined && limit < 0)
      reader.fail(
        "--latency-threshold",
        "Failed to parse --latency-threshold (-l). The value must be >= 0 msecs.",
        value,
        "Give 0 for no limit, or milliseconds.",
      );
    else settings.latencyLimitMs = limit === undefined || limit === 0 ? null : limit;
  },
  "--max-threads": (settings, reader, value) => {
    settings.maxThreads = readCount(reader, "--max-threads", "--max-threads", value, "The value must be > 0.");
  },
  "-b": (settings, reader, value) => {
    settings.batchSize =
      readCount(reader, "-b", "-b (batch size)", value, "The value must be > 0.") ?? settings.batchSize;
  },
  "--input-data": (settings, reader, value) => {
    if (value === "random") return;
    if (value === "zero" || fileSystem().existsSync(value)) settings.inputData.push(value);
    else
      reader.fail(
        "--input-data",
        `Failed to parse --input-data. Unsupported type provided: '${value}'. The available options are 'zero', 'random', path to a directory, or a json file.`,
        value,
        "Give zero, random or an existing path.",
      );
  },
  "--shape": readShape,
  "--string-length": (settings, reader, value) => {
    settings.stringLength =
      readCount(reader, "--string-length", "--string-length", value, "The value must be > 0") ?? settings.stringLength;
  },
  "--string-data": (settings, _reader, value) => {
    settings.stringData = value;
  },
  "--input-tensor-format": (settings, reader, value) => {
    settings.inputTensorFormat = readFormat(reader, "--input-tensor-format", value) ?? settings.inputTensorFormat;
  },
  "--output-tensor-format": (settings, reader, value) => {
    settings.outputTensorFormat = readFormat(reader, "--output-tensor-format", value) ?? settings.outputTensorFormat;
  },
  "-u": (settings, _reader, value) => {
    settings.url = value;
  },
  "-i": (settings, reader, value) => {
    const protocol = value.toLowerCase();
    if (protocol === "http" || protocol === "grpc") settings.protocol = protocol;
    else
      reader.fail(
        "-i",
        "Failed to parse -i (protocol). The value should be either HTTP or gRPC.",
        value,
        "Give http or grpc.",
      );
  },
  "-H": (settings, reader, value) => {
    const colon = value.indexOf(":");
    const name = value.slice(0, Math.max(0, colon));
    let problem = "";
    if (colon <= 0) problem = "There must be a colon after the header's name.";
    else if (!HEADER_NAME.test(name)) problem = "The part before the colon is not a header's name.";
    else if (LINE_BREAK.test(value)) problem = "A header cannot contain a line break.";
    if (problem === "") settings.headers.push([name, value.slice(colon + 1).trim()]);
    else
      reader.fail(
        "-H",
        `Failed to parse -H (header). ${problem}`,
        value,
        "Write for example -H 'Authorization: Bearer abc'.",
      );
  },
  "--request-parameter": readParameter,
  "--grpc-compression-algorithm": readCompression,
  "--bls-composing-models": readComposingModels,
  "-f": (settings, _reader, value) => {
    settings.csvFile = value;
  },
  "--profile-export-file": (settings, reader, value) => {
    settings.profileExportFile = value;
    if (fileSystem().existsSync(value))
      reader.fail(
        "--profile-export-file",
        "Failed to parse --profile-export-file. Path must not already exist.",
        value,
        "Remove it or give another path.",
      );
  },
  "--json": (settings, _reader, value) => {
    settings.jsonFile = toOutputPath(value);
  },
  "--client": (settings, reader, value) => {
    if (value === "own" || value === "undici" || value === "grpc-js") settings.client = value;
    else
      reader.fail(
        "--client",
        `Failed to parse --client. Unsupported type provided: '${value}'.`,
        value,
        "Give own, undici or grpc-js.",
      );
  },
  "--stall-timeout": (settings, reader, value) => {
    const seconds = reader.decimal("--stall-timeout", "--stall-timeout", value);
    if (seconds !== undefined && seconds <= 0)
      reader.fail(
        "--stall-timeout",
        "Failed to parse --stall-timeout. The value must be > 0 seconds.",
        value,
        "Give seconds, for example 30.",
      );
    else if (seconds !== undefined) settings.stallTimeoutMs = seconds * 1000;
  },
  "--request-timeout": (settings, reader, value) => {
    const seconds = reader.decimal("--request-timeout", "--request-timeout", value);
    if (seconds !== undefined && seconds <= 0)
      reader.fail(
        "--request-timeout",
        "Failed to parse --request-timeout. The value must be > 0 seconds.",
        value,
        "Give seconds, for example 300.",
      );
    else if (seconds !== undefined) settings.requestTimeoutMs = seconds * 1000;
  },
  "--max-response-bytes": (settings, reader, value) => {
    const bytes = reader.integer("--max-response-bytes", "--max-response-bytes", value);
    if (bytes !== undefined && (bytes <= 0 || bytes > MOST_RESPONSE_BYTES))
      reader.fail(
        "--max-response-bytes",
        `Failed to parse --max-response-bytes. The value must be from 1 to ${MOST_RESPONSE_BYTES} bytes.`,
        value,
        "Give bytes, for example 1000000000.",
      );
    else settings.maxResponseBytes = bytes;
  },
  "--max-failure-ratio": (settings, reader, value) => {
    const ratio = reader.decimal("--max-failure-ratio", "--max-failure-ratio", value);
    if (ratio !== undefined && (ratio < 0 || ratio > 1))
      reader.fail(
        "--max-failure-ratio",
        "Failed to parse --max-failure-ratio. The value must be from 0 to 1.",
        value,
        "Give for example 0.01.",
      );
    else settings.maxFailureRatio = ratio ?? 0;
  },
};
