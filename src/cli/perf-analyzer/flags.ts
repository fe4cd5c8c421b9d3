/** Every flag of perf_analyzer, and Rampart's own in this mode, as one table: parsing, help and tests are made from it. */

/** Headings of the help text. */
export type FlagGroup = "general" | "measurement" | "input" | "server" | "output" | "rampart" | "later";

/** One flag. */
export interface FlagSpec {
  /** Long name without dashes; empty when there is only a short one. */
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in help; absent for a switch. */
  readonly value?: string;
  /** Unit of the value, in words. */
  readonly unit?: string;
  /** The default as help prints it. */
  readonly default?: string;
  readonly group: FlagGroup;
  readonly help: string;
  /** May be given several times; otherwise the last one counts. */
  readonly isRepeatable?: boolean;
  /**
   * Set for flags that this version recognises but cannot obey: values that mean the same as leaving the flag out. Any other value is
   * refused. A switch has none.
   */
  readonly onlyValues?: readonly string[];
  /** Rampart's own flag: it takes no part in matching abbreviations. */
  readonly isOwn?: boolean;
}

const now: readonly FlagSpec[] = [
  { name: "", short: "m", value: "MODEL", group: "general", help: "Model to measure. Required." },
  {
    name: "",
    short: "x",
    value: "VERSION",
    default: "the server's choice",
    group: "general",
    help: "Version of the model.",
  },
  {
    name: "",
    short: "v",
    group: "general",
    help: "Print each window as it is measured. Twice (-v -v): requests and answers too.",
  },
  { name: "version", group: "general", help: "Print the version and exit." },

  {
    name: "concurrency-range",
    value: "START[:END[:STEP]]",
    unit: "requests outstanding",
    default: "1",
    group: "measurement",
    help: "Concurrency levels to measure. END 0: rise until --latency-threshold is met.",
  },
  {
    name: "request-rate-range",
    value: "START[:END[:STEP]]",
    unit: "requests per second",
    group: "measurement",
    help: "Request rates to measure instead of concurrencies.",
  },
  {
    name: "request-distribution",
    value: "constant|poisson",
    default: "constant",
    group: "measurement",
    help: "Spacing of requests with --request-rate-range.",
  },
  {
    name: "request-intervals",
    value: "FILE",
    unit: "microseconds, one per line",
    group: "measurement",
    help: "Send requests at these gaps, over and over.",
  },
  {
    name: "measurement-interval",
    short: "p",
    value: "MSEC",
    unit: "milliseconds",
    default: "5000",
    group: "measurement",
    help: "Length of a time window; as in the original a window lasts 1.2 times as long.",
  },
  {
    name: "measurement-mode",
    value: "time_windows|count_windows",
    default: "time_windows",
    group: "measurement",
    help: "What ends a window: time, or a number of requests.",
  },
  {
    name: "measurement-request-count",
    value: "N",
    default: "50",
    group: "measurement",
    help: "Fewest requests in a window with count_windows.",
  },
  {
    name: "request-count",
    value: "N",
    group: "measurement",
    help: "Send exactly N requests and measure them all, without windows.",
  },
  {
    name: "warmup-request-count",
    value: "N",
    default: "0",
    group: "measurement",
    help: "Requests to send first and leave out of the measurement.",
  },
  {
    name: "stability-percentage",
    short: "s",
    value: "PERCENT",
    default: "10",
    group: "measurement",
    help: "Three windows in a row may differ by so much.",
  },
  { name: "max-trials", short: "r", value: "N", default: "10", group: "measurement", help: "Most windows per level." },
  {
    name: "percentile",
    value: "P",
    default: "-1, the average",
    group: "measurement",
    help: "Latency percentile, 1 to 99, to stabilise and report on.",
  },
  {
    name: "latency-threshold",
    short: "l",
    value: "MSEC",
    unit: "milliseconds",
    default: "0, none",
    group: "measurement",
    help: "Stop at the level whose latency reaches this.",
  },
  {
    name: "binary-search",
    group: "measurement",
    help: "Find the highest level under --latency-threshold by bisection; STEP is its precision.",
  },
  { name: "async", short: "a", group: "measurement", help: "Several requests outstanding per thread." },
  { name: "sync", group: "measurement", help: "One request outstanding per thread. The default." },
  {
    name: "max-threads",
    value: "N",
    default: "16, or 4 with request rates",
    group: "measurement",
    help: "Most threads; each has its connection and, with --sync, one request outstanding.",
  },

  { name: "", short: "b", value: "N", default: "1", group: "input", help: "Batch size of each request." },
  {
    name: "input-data",
    value: "random|zero|PATH",
    default: "random",
    isRepeatable: true,
    group: "input",
    help: "Data of requests: made up, JSON files (repeat the flag for several) or a directory with a file per input.",
  },
  {
    name: "shape",
    value: "NAME:D1,D2,...",
    isRepeatable: true,
    group: "input",
    help: "Shape of an input whose size varies, without the batch dimension.",
  },
  {
    name: "string-length",
    value: "N",
    unit: "characters",
    default: "128",
    group: "input",
    help: "Length of random strings.",
  },
  { name: "string-data", value: "TEXT", group: "input", help: "Use this text for every string element." },
  {
    name: "input-tensor-format",
    value: "binary|json",
    default: "binary",
    group: "input",
    help: "How input tensors are sent over HTTP.",
  },
  {
    name: "output-tensor-format",
    value: "binary|json",
    default: "binary",
    group: "input",
    help: "How output tensors are asked for over HTTP.",
  },

  {
    name: "",
    short: "u",
    value: "URL",
    default: "localhost:8000, or localhost:8001 with gRPC",
    group: "server",
    help: "Server: host:port, http://host:port or https://host:port.",
  },
  { name: "", short: "i", value: "http|grpc", default: "http", group: "server", help: "Protocol." },
  { name: "streaming", group: "server", help: "Use gRPC's bidirectional stream. Needs -i grpc." },
  {
    name: "",
    short: "H",
    value: "NAME:VALUE",
    isRepeatable: true,
    group: "server",
    help: "Header to send with every request; with gRPC, metadata.",
  },

  { name: "", short: "f", value: "FILE", group: "output", help: "Write the results as CSV." },
  { name: "verbose-csv", group: "output", help: "More columns in the CSV." },
  {
    name: "profile-export-file",
    value: "FILE",
    group: "output",
    help: "Write every request as JSON; the file must not exist yet.",
  },
];

/** Recognised, with the values that mean "as if not given". */
const later: readonly FlagSpec[] = [
  laterFlag("sequence-length", "N", ["20"]),
  laterFlag("sequence-length-variation", "PERCENT", ["20", "20.0"]),
  laterFlag("sequence-id-range", "START:END", ["1"]),
  laterFlag("num-of-sequences", "N", ["4"]),
  laterFlag("serial-sequences"),
  laterFlag("periodic-concurrency-range", "START:END[:STEP]", []),
  laterFlag("request-period", "N", ["10"]),
  laterFlag("request-parameter", "NAME:VALUE:TYPE", []),
  laterFlag("session-concurrency", "N", []),
  laterFlag("fixed-schedule"),
  laterFlag("shared-memory", "none|system|cuda", ["none"]),
  laterFlag("output-shared-memory-size", "BYTES", ["102400"]),
  laterFlag("service-kind", "triton|...", ["triton"]),
  laterFlag("endpoint", "PATH", [""]),
  laterFlag("model-signature-name", "NAME", ["serving_default"]),
  laterFlag("triton-server-directory", "DIR", ["/opt/tritonserver"]),
  laterFlag("model-repository", "DIR", [""]),
  laterFlag("grpc-method", "PACKAGE.SERVICE/METHOD", []),
  laterFlag("grpc-compression-algorithm", "none|gzip|deflate", ["none"]),
  laterFlag("bls-composing-models", "NAME[:VERSION],...", [""]),
  laterFlag("ssl-grpc-use-ssl"),
  laterFlag("ssl-grpc-root-certifications-file", "FILE", []),
  laterFlag("ssl-grpc-private-key-file", "FILE", []),
  laterFlag("ssl-grpc-certificate-chain-file", "FILE", []),
  laterFlag("ssl-https-verify-peer", "0|1", ["1"]),
  laterFlag("ssl-https-verify-host", "0|1|2", ["2"]),
  laterFlag("ssl-https-ca-certificates-file", "FILE", []),
  laterFlag("ssl-https-client-certificate-file", "FILE", []),
  laterFlag("ssl-https-client-certificate-type", "PEM|DER", ["PEM"]),
  laterFlag("ssl-https-private-key-file", "FILE", []),
  laterFlag("ssl-https-private-key-type", "PEM|DER", ["PEM"]),
  laterFlag("collect-metrics"),
  laterFlag("metrics-url", "URL", []),
  laterFlag("metrics-interval", "MSEC", []),
  laterFlag("trace-file", "FILE", [""]),
  laterFlag("trace-level", "OFF|TIMESTAMPS|TENSORS", ["OFF"]),
  laterFlag("trace-rate", "N", ["1000"]),
  laterFlag("trace-count", "N", ["-1"]),
  laterFlag("log-frequency", "N", ["0"]),
  laterFlag("enable-mpi"),
  laterFlag("data-directory", "DIR", []),
  { ...laterFlag("", "N", []), short: "t" },
  { ...laterFlag("", "N", []), short: "c" },
  { ...laterFlag(""), short: "d" },
  { ...laterFlag(""), short: "z" },
];

const own: readonly FlagSpec[] = [
  { name: "help", short: "h", group: "rampart", isOwn: true, help: "Print this help and exit." },
  {
    name: "dry-run",
    group: "rampart",
    isOwn: true,
    help: "Print what would be done as JSON and exit; no server is asked.",
  },
  {
    name: "client",
    value: "own|undici|grpc-js",
    default: "own",
    group: "rampart",
    isOwn: true,
    help: "What sends the requests: Rampart's client, or a general one to compare with.",
  },
  {
    name: "stall-timeout",
    value: "SEC",
    unit: "seconds",
    default: "60",
    group: "rampart",
    isOwn: true,
    help: "A request without a byte for so long has failed.",
  },
  {
    name: "max-failure-ratio",
    value: "RATIO",
    default: "0",
    group: "rampart",
    isOwn: true,
    help: "Share of failed requests, 0 to 1, that does not end the run.",
  },
  {
    name: "json",
    value: "FILE",
    group: "rampart",
    isOwn: true,
    help: "Write Rampart's own report too: all requests of the run, confidence, histograms, the client's CPU and lag.",
  },
];

/** The table. */
export const FLAGS: readonly FlagSpec[] = [...now, ...later, ...own];

function laterFlag(name: string, value?: string, onlyValues: readonly string[] = []): FlagSpec {
  return { name, ...(value === undefined ? {} : { value }), group: "later", help: "Not supported yet.", onlyValues };
}

/** A flag as a user types it. */
export function flagName(flag: FlagSpec): string {
  return flag.name === "" ? `-${flag.short}` : `--${flag.name}`;
}
