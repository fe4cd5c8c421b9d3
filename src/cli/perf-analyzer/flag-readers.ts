import type { RequestParameterPlan } from "../../plan/plan.ts";
import { fileSystem } from "../../runtime/files.ts";
import { isParameterValue, PARAMETER_TYPES } from "../../service/triton/parameters.ts";
import { flagName } from "./flags.ts";
import type { GivenFlag } from "./parse.ts";
import type { Settings } from "./settings.ts";
import { type RangeValue, readRange, type ValueReader } from "./values.ts";

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAK = /[\r\n\0]/;
const START_MESSAGE = "The start of the search range must be > 0";

/** Takes one flag's value into the settings, or says what is wrong with it. */
type FlagReader = (settings: Settings, reader: ValueReader, value: string, given: GivenFlag) => void;

/** What each flag does with its value, by the name that `flagName` gives it. */
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
  "-d": (_settings, reader) => {
    reader.deprecate("-d", "--concurrency-range");
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
  "--request-intervals": (settings, reader, value) => {
    settings.intervalsFile = value;
    if (isFile(value)) return;
    reader.fail(
      "--request-intervals",
      "Failed to parse --request-intervals. The value must be a valid file path",
      value,
      "Give an existing file with one time interval in microseconds per line.",
    );
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
  "--ssl-grpc-use-ssl": (settings) => {
    settings.sslGrpc.isEnabled = true;
  },
  "--ssl-grpc-root-certifications-file": (settings, reader, value, given) => {
    settings.sslGrpc.caFile = readFilePath(reader, value, given);
  },
  "--ssl-grpc-private-key-file": (settings, reader, value, given) => {
    settings.sslGrpc.keyFile = readFilePath(reader, value, given);
  },
  "--ssl-grpc-certificate-chain-file": (settings, reader, value, given) => {
    settings.sslGrpc.certFile = readFilePath(reader, value, given);
  },
  "--ssl-https-verify-peer": (settings, reader, value) => {
    if (value === "0" || value === "1") settings.sslHttps.verifyPeer = value === "1";
    else
      reader.fail(
        "--ssl-https-verify-peer",
        "Failed to parse --ssl-https-verify-peer. The value must be either 0 or 1.",
        value,
        "Give 0 or 1.",
      );
  },
  "--ssl-https-verify-host": (settings, reader, value) => {
    if (value === "0" || value === "1" || value === "2") settings.sslHttps.verifyHost = value !== "0";
    else
      reader.fail(
        "--ssl-https-verify-host",
        "Failed to parse --ssl-https-verify-host. The value must be either 0, 1, or 2.",
        value,
        "Give 0, 1 or 2.",
      );
  },
  "--ssl-https-ca-certificates-file": (settings, reader, value, given) => {
    settings.sslHttps.caFile = readFilePath(reader, value, given);
  },
  "--ssl-https-client-certificate-file": (settings, reader, value, given) => {
    settings.sslHttps.certFile = readFilePath(reader, value, given);
  },
  "--ssl-https-client-certificate-type": (settings, reader, value, given) => {
    settings.sslHttps.certType = readFileType(reader, value, given);
  },
  "--ssl-https-private-key-file": (settings, reader, value, given) => {
    settings.sslHttps.keyFile = readFilePath(reader, value, given);
  },
  "--ssl-https-private-key-type": (settings, reader, value, given) => {
    settings.sslHttps.keyType = readFileType(reader, value, given);
  },
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
    settings.jsonFile = value;
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

function checkRange(reader: ValueReader, flag: string, startMessage: string, range: RangeValue, value: string): void {
  if (range.start <= 0) reader.fail(flag, startMessage, value, `Write for example ${flag} 1:8:2.`);
  if (range.end !== undefined && range.end < 0)
    reader.fail(
      flag,
      `Failed to parse ${flag}. The end of the search range must be >= 0.`,
      value,
      "Give 0 for no end.",
    );
  if (range.step !== undefined && range.step <= 0)
    reader.fail(
      flag,
      `Failed to parse ${flag}. The step of the search range must be > 0.`,
      value,
      "Give a step of 1 or more.",
    );
}

/** The number of `-t` or `-c`, which give the ends of the range of concurrencies; undefined (and a problem) when it has none or may not. */
function readDeprecatedEnd(settings: Settings, reader: ValueReader, flag: string, value: string): number | undefined {
  if (!settings.hasConcurrencyRange) return reader.integer(flag, flag, value);
  const message = "Cannot use both Concurrency and DeprecatedConcurrency inference load modes.";
  reader.fail(flag, message, value, "Give --concurrency-range alone.");
  return undefined;
}

/** A whole number above 0. @param label the flag as the original's messages name it */
function readCount(reader: ValueReader, flag: string, label: string, text: string, rule: string): number | undefined {
  const count = reader.integer(flag, label, text);
  if (count === undefined || count > 0) return count;
  reader.fail(flag, `Failed to parse ${label}. ${rule}`, text, "Give 1 or more.");
  return undefined;
}

function readFormat(reader: ValueReader, flag: string, value: string): "binary" | "json" | undefined {
  const format = value.toLowerCase();
  if (format === "binary" || format === "json") return format;
  reader.fail(
    flag,
    `Failed to parse ${flag}. Unsupported type provided: '${value}'. The available options are 'binary' or 'json'.`,
    value,
    "Give binary or json.",
  );
  return undefined;
}

function readShape(settings: Settings, reader: ValueReader, value: string): void {
  const colon = value.lastIndexOf(":");
  if (colon < 0) {
    reader.fail(
      "--shape",
      "Failed to parse --shape. There must be a colon after input name.",
      value,
      "Write for example --shape INPUT0:3,224,224.",
    );
    return;
  }
  const dims = value
    .slice(colon + 1)
    .split(",")
    .map((dim) => reader.integer("--shape", "--shape", dim));
  if (dims.some((dim) => dim === undefined)) return;
  if (dims.some((dim) => (dim as number) <= 0)) {
    reader.fail(
      "--shape",
      "Failed to parse --shape. The dimensions of input tensor must be > 0.",
      value,
      "Give the size of every dimension.",
    );
    return;
  }
  settings.shapes[value.slice(0, colon)] = dims as number[];
}

function readParameter(settings: Settings, reader: ValueReader, text: string): void {
  const [name = "", value = "", type, ...more] = text.split(":");
  if (name === "" || type === undefined || more.length > 0) {
    reader.fail(
      "--request-parameter",
      "Failed to parse --request-parameter. The value does not match <name:value:type>.",
      text,
      "Write for example --request-parameter max_tokens:256:int.",
    );
    return;
  }
  const parameter = { type, value } as RequestParameterPlan;
  if (!PARAMETER_TYPES.includes(parameter.type))
    reader.fail(
      "--request-parameter",
      `Failed to parse --request-parameter. Unsupported type provided: '${type}'.`,
      text,
      `Give one of the types ${PARAMETER_TYPES.join(", ")}.`,
    );
  else if (!isParameterValue(parameter))
    reader.fail(
      "--request-parameter",
      `Failed to parse --request-parameter. '${value}' is no ${type}.`,
      text,
      "Give a value of the type: true or false, a whole number of 64 bits, or a decimal number.",
    );
  else settings.parameters[name] = parameter;
}

function readFilePath(reader: ValueReader, value: string, { flag }: GivenFlag): string {
  const name = flagName(flag);
  if (!isFile(value))
    reader.fail(name, `Failed to parse ${name}. The value must be a valid file path.`, value, "Give an existing file.");
  return value;
}

function readFileType(reader: ValueReader, value: string, { flag }: GivenFlag): "PEM" | "DER" {
  if (value === "PEM" || value === "DER") return value;
  const name = flagName(flag);
  reader.fail(
    name,
    `Failed to parse ${name}. Unsupported type provided: '${value}'. The available options are 'PEM' or 'DER'.`,
    value,
    "Give PEM or DER.",
  );
  return "PEM";
}

function isFile(path: string): boolean {
  return fileSystem().statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
