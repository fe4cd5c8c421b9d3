/** Every flag of perf_analyzer, and Rampart's own in this mode, as one table: parsing, help and tests are made from it. */

/** One flag, as far as it concerns parsing; what it means is in the help. */
export interface FlagSpec {
  /** Long name without dashes; empty when there is only a short one. */
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in help; absent for a switch. */
  readonly value?: string;
  /**
   * Set for flags that this version recognises but cannot obey: values that mean the same as leaving the flag out. Any other value is
   * refused. A switch has none.
   */
  readonly onlyValues?: readonly string[];
  /** Rampart's own flag: it takes no part in matching abbreviations. */
  readonly isOwn?: boolean;
}

/** The flags that are obeyed. */
export const OBEYED_FLAGS: readonly FlagSpec[] = [
  { name: "", short: "m", value: "MODEL" },
  { name: "", short: "x", value: "VERSION" },
  { name: "", short: "v" },
  { name: "version" },
  { name: "service-kind", value: "triton|openai" },
  { name: "endpoint", value: "PATH" },

  { name: "concurrency-range", value: "START[:END[:STEP]]" },
  { name: "request-rate-range", value: "START[:END[:STEP]]" },
  { name: "request-distribution", value: "constant|poisson" },
  { name: "request-intervals", value: "FILE" },
  { name: "fixed-schedule" },
  { name: "periodic-concurrency-range", value: "START:END[:STEP]" },
  { name: "request-period", value: "N" },
  { name: "session-concurrency", value: "N" },
  { name: "sequence-length", value: "N" },
  { name: "sequence-length-variation", value: "PERCENT" },
  { name: "sequence-id-range", value: "START[:END]" },
  { name: "num-of-sequences", value: "N" },
  { name: "serial-sequences" },
  { name: "measurement-interval", short: "p", value: "MSEC" },
  { name: "measurement-mode", value: "time_windows|count_windows" },
  { name: "measurement-request-count", value: "N" },
  { name: "request-count", value: "N" },
  { name: "warmup-request-count", value: "N" },
  { name: "stability-percentage", short: "s", value: "PERCENT" },
  { name: "max-trials", short: "r", value: "N" },
  { name: "percentile", value: "P" },
  { name: "latency-threshold", short: "l", value: "MSEC" },
  { name: "binary-search" },
  { name: "async", short: "a" },
  { name: "sync" },
  { name: "max-threads", value: "N" },
  { name: "enable-mpi" },

  { name: "", short: "b", value: "N" },
  { name: "input-data", value: "random|zero|PATH" },
  { name: "shape", value: "NAME:D1,D2,..." },
  { name: "string-length", value: "N" },
  { name: "string-data", value: "TEXT" },
  { name: "shared-memory", value: "none|system|cuda" },
  { name: "output-shared-memory-size", value: "BYTES" },
  { name: "input-tensor-format", value: "binary|json" },
  { name: "output-tensor-format", value: "binary|json" },

  { name: "", short: "u", value: "URL" },
  { name: "", short: "i", value: "http|grpc" },
  { name: "streaming" },
  { name: "", short: "H", value: "NAME:VALUE" },
  { name: "request-parameter", value: "NAME:VALUE:TYPE" },
  { name: "grpc-compression-algorithm", value: "none|gzip|deflate" },
  { name: "bls-composing-models", value: "NAME[:VERSION],..." },
  { name: "ssl-grpc-use-ssl" },
  { name: "ssl-grpc-root-certifications-file", value: "FILE" },
  { name: "ssl-grpc-private-key-file", value: "FILE" },
  { name: "ssl-grpc-certificate-chain-file", value: "FILE" },
  { name: "ssl-https-verify-peer", value: "0|1" },
  { name: "ssl-https-verify-host", value: "0|1|2" },
  { name: "ssl-https-ca-certificates-file", value: "FILE" },
  { name: "ssl-https-client-certificate-file", value: "FILE" },
  { name: "ssl-https-client-certificate-type", value: "PEM|DER" },
  { name: "ssl-https-private-key-file", value: "FILE" },
  { name: "ssl-https-private-key-type", value: "PEM|DER" },

  { name: "collect-metrics" },
  { name: "metrics-url", value: "URL" },
  { name: "metrics-interval", value: "MSEC" },
  { name: "trace-file", value: "FILE" },
  { name: "trace-level", value: "OFF|TIMESTAMPS|TENSORS" },
  { name: "trace-rate", value: "N" },
  { name: "trace-count", value: "N" },
  { name: "log-frequency", value: "N" },

  { name: "", short: "f", value: "FILE" },
  { name: "verbose-csv" },
  { name: "profile-export-file", value: "FILE" },

  { name: "", short: "t", value: "N" },
  { name: "", short: "c", value: "N" },
  { name: "", short: "d" },
  { name: "", short: "z" },
  { name: "data-directory", value: "DIR" },

  { name: "help", short: "h", isOwn: true },
  { name: "dry-run", isOwn: true },
  { name: "client", value: "own|undici|grpc-js", isOwn: true },
  { name: "stall-timeout", value: "SEC", isOwn: true },
  { name: "request-timeout", value: "SEC", isOwn: true },
  { name: "max-response-bytes", value: "N", isOwn: true },
  { name: "max-failure-ratio", value: "RATIO", isOwn: true },
  { name: "json", value: "FILE", isOwn: true },
];

/** The flags that are recognised only, with the values that mean "as if not given"; made when a command line names none of the others. */
export function laterFlags(): FlagSpec[] {
  return [
    laterFlag("model-signature-name", "NAME", ["serving_default"]),
    laterFlag("triton-server-directory", "DIR", ["/opt/tritonserver"]),
    laterFlag("model-repository", "DIR", [""]),
    laterFlag("grpc-method", "PACKAGE.SERVICE/METHOD", []),
  ];
}

/** All flags. */
export function allFlags(): FlagSpec[] {
  return [...OBEYED_FLAGS, ...laterFlags()];
}

function laterFlag(name: string, value?: string, onlyValues: readonly string[] = []): FlagSpec {
  return { name, ...(value === undefined ? {} : { value }), onlyValues };
}

/** A flag as a user types it. */
export function flagName(flag: FlagSpec): string {
  return flag.name === "" ? `-${flag.short}` : `--${flag.name}`;
}
