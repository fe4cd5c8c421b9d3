import { DEFAULT_MAX_RESPONSE_BYTES } from "../../plan/response-limit.ts";

/** What help says of each flag that is obeyed. */

/** Headings of the help text. */
export type FlagGroup =
  | "general"
  | "measurement"
  | "input"
  | "server"
  | "telemetry"
  | "output"
  | "deprecated"
  | "rampart";

/** One flag's part of the help. */
export interface FlagHelp {
  readonly group: FlagGroup;
  readonly help: string;
  /** Unit of the value, in words. */
  readonly unit?: string;
  /** The default as help prints it. */
  readonly default?: string;
  /** May be given several times; otherwise the last one counts. */
  readonly isRepeatable?: boolean;
}

/** By the name that `flagName` gives a flag. */
export const FLAG_HELP: Readonly<Record<string, FlagHelp>> = {
  "-m": { group: "general", help: "Model to measure. Required." },
  "-x": { group: "general", default: "the server's choice", help: "Version of the model." },
  "-v": { group: "general", help: "Print each window as it is measured. Twice (-v -v): requests and answers too." },
  "--service-kind": {
    group: "general",
    default: "triton",
    help: "What the server speaks: triton, or openai: payloads from --input-data, sent to --endpoint; streamed where they say so.",
  },
  "--endpoint": {
    group: "general",
    help: "Path that payloads are sent to, such as v1/chat/completions. Needs --service-kind openai.",
  },
  "--version": { group: "general", help: "Print the version and exit." },
  "--concurrency-range": {
    group: "measurement",
    unit: "requests outstanding",
    default: "1",
    help: "Concurrency levels to measure. END 0: rise until --latency-threshold is met.",
  },
  "--request-rate-range": {
    group: "measurement",
    unit: "requests per second",
    help: "Request rates to measure instead of concurrencies.",
  },
  "--request-distribution": {
    group: "measurement",
    default: "constant",
    help: "Spacing of requests with --request-rate-range.",
  },
  "--request-intervals": {
    group: "measurement",
    unit: "microseconds, one per line",
    help: "Send requests at these gaps, over and over.",
  },
  "--fixed-schedule": {
    group: "measurement",
    help: "Send every entry of --input-data once, at the time in milliseconds that its field 'timestamp' gives.",
  },
  "--periodic-concurrency-range": {
    group: "measurement",
    unit: "requests",
    help: "Send START requests over streams, then STEP more (default 1) whenever all of the last ones have brought --request-period responses, until END have been sent. Needs --profile-export-file.",
  },
  "--request-period": {
    group: "measurement",
    unit: "responses",
    default: "10",
    help: "Responses of each request before --periodic-concurrency-range sends more.",
  },
  "--session-concurrency": {
    group: "measurement",
    unit: "conversations",
    help: "Hold every conversation of --input-data once, N at a time, each turn with all that was said before. Needs --service-kind openai and payloads with a session_id, and a delay in milliseconds between turns.",
  },
  "--sequence-length": {
    group: "measurement",
    unit: "requests",
    default: "20, or the length of the data stream",
    help: "Length of a sequence, for models that take sequences.",
  },
  "--sequence-length-variation": {
    group: "measurement",
    unit: "percent",
    default: "20",
    help: "A sequence is longer or shorter than --sequence-length by so much at most.",
  },
  "--sequence-id-range": {
    group: "measurement",
    default: "1, without an end",
    help: "Correlation ids of sequences: from START to END - 1, then over again.",
  },
  "--num-of-sequences": {
    group: "measurement",
    default: "4",
    help: "Sequences under way at once with request rates, intervals and schedules. With concurrency each request outstanding belongs to its own.",
  },
  "--serial-sequences": {
    group: "measurement",
    help: "With request rates, have no sequence send before its last answer has come. Only streams can send earlier: elsewhere requests could overtake one another.",
  },
  "--measurement-interval": {
    group: "measurement",
    unit: "milliseconds",
    default: "5000",
    help: "Length of a time window; as in the original a window lasts 1.2 times as long.",
  },
  "--measurement-mode": {
    group: "measurement",
    default: "time_windows",
    help: "What ends a window: time, or a number of requests.",
  },
  "--measurement-request-count": {
    group: "measurement",
    default: "50",
    help: "Fewest requests in a window with count_windows.",
  },
  "--request-count": { group: "measurement", help: "Send exactly N requests and measure them all, without windows." },
  "--warmup-request-count": {
    group: "measurement",
    default: "0",
    help: "Requests to send first and leave out of the measurement.",
  },
  "--stability-percentage": {
    group: "measurement",
    default: "10",
    help: "Three windows in a row may differ by so much.",
  },
  "--max-trials": { group: "measurement", default: "10", help: "Most windows per level." },
  "--percentile": {
    group: "measurement",
    default: "-1, the average",
    help: "Latency percentile, 1 to 99, to stabilise and report on.",
  },
  "--latency-threshold": {
    group: "measurement",
    unit: "milliseconds",
    default: "0, none",
    help: "Stop at the level whose latency reaches this.",
  },
  "--binary-search": {
    group: "measurement",
    help: "Find the highest level under --latency-threshold by bisection; STEP is its precision.",
  },
  "--async": { group: "measurement", help: "Several requests outstanding per thread." },
  "--sync": { group: "measurement", help: "One request outstanding per thread. The default." },
  "--max-threads": {
    group: "measurement",
    default: "16, or 4 with request rates",
    help: "Most threads; each has its connection and, with --sync, one request outstanding.",
  },
  "--enable-mpi": {
    group: "measurement",
    help: "Under mpirun (Open MPI): all ranks begin each level together and measure it until it is stable for all of them.",
  },
  "-b": { group: "input", default: "1", help: "Batch size of each request." },
  "--input-data": {
    group: "input",
    default: "random",
    isRepeatable: true,
    help: "Data of requests: made up, JSON files (repeat the flag for several) or a directory with a file per input.",
  },
  "--shape": {
    group: "input",
    isRepeatable: true,
    help: "Shape of an input whose size varies, without the batch dimension.",
  },
  "--string-length": { group: "input", unit: "characters", default: "128", help: "Length of random strings." },
  "--string-data": { group: "input", help: "Use this text for every string element." },
  "--shared-memory": {
    group: "input",
    default: "none",
    help: "Put tensors into memory shared with a server on this machine, the system's or a GPU's, and send only where they lie.",
  },
  "--output-shared-memory-size": {
    group: "input",
    unit: "bytes",
    default: "102400",
    help: "Shared memory for one batch item of an output of type BYTES or of varying shape.",
  },
  "--input-tensor-format": { group: "input", default: "binary", help: "How input tensors are sent over HTTP." },
  "--output-tensor-format": { group: "input", default: "binary", help: "How output tensors are asked for over HTTP." },
  "-u": {
    group: "server",
    default: "localhost:8000, or localhost:8001 with gRPC",
    help: "Server: host:port, http://host:port or https://host:port.",
  },
  "-i": { group: "server", default: "http", help: "Protocol." },
  "--streaming": {
    group: "server",
    help: "Use gRPC's bidirectional stream (needs -i grpc); with --service-kind openai, accept events.",
  },
  "-H": { group: "server", isRepeatable: true, help: "Header to send with every request; with gRPC, metadata." },
  "--request-parameter": {
    group: "server",
    isRepeatable: true,
    help: "Parameter of every request; TYPE is bool, int, uint, double or string. gRPC only.",
  },
  "--grpc-compression-algorithm": {
    group: "server",
    default: "none",
    help: "Compress requests that become shorter by it. gRPC only.",
  },
  "--bls-composing-models": {
    group: "server",
    isRepeatable: true,
    help: "Models that a BLS model calls, whose server times to report too; an ensemble's are found without.",
  },
  "--ssl-grpc-use-ssl": { group: "server", help: "Use TLS with gRPC." },
  "--ssl-grpc-root-certifications-file": { group: "server", help: "PEM of the authorities to trust with gRPC." },
  "--ssl-grpc-private-key-file": { group: "server", help: "PEM of the client's private key with gRPC." },
  "--ssl-grpc-certificate-chain-file": { group: "server", help: "PEM of the client's certificates with gRPC." },
  "--ssl-https-verify-peer": {
    group: "server",
    default: "1",
    help: "0: accept a server's certificate whoever signed it.",
  },
  "--ssl-https-verify-host": {
    group: "server",
    default: "2",
    help: "0: accept a server's certificate whatever name is in it. 1 means the same as 2.",
  },
  "--ssl-https-ca-certificates-file": { group: "server", help: "PEM of the authorities to trust with https://." },
  "--ssl-https-client-certificate-file": { group: "server", help: "The client's certificate with https://." },
  "--ssl-https-client-certificate-type": { group: "server", default: "PEM", help: "Form of that file." },
  "--ssl-https-private-key-file": { group: "server", help: "The client's private key with https://." },
  "--ssl-https-private-key-type": { group: "server", default: "PEM", help: "Form of that file." },
  "--collect-metrics": { group: "telemetry", help: "Read the server's GPU metrics in each window and report them." },
  "--metrics-url": {
    group: "telemetry",
    default: "port 8002 of the server, path /metrics",
    help: "Where the metrics are, in Prometheus' text format: host:port/path, http://… or https://….",
  },
  "--metrics-interval": {
    group: "telemetry",
    unit: "milliseconds",
    default: "1000",
    help: "Time between two readings.",
  },
  "--trace-level": {
    group: "telemetry",
    isRepeatable: true,
    help: "What the server traces; OFF: nothing.",
  },
  "--trace-rate": { group: "telemetry", help: "One request of N is traced." },
  "--trace-count": { group: "telemetry", help: "Most traces; -1: no limit." },
  "--trace-file": { group: "telemetry", help: "The server's file for traces. Triton 2.51 refuses to change it." },
  "--log-frequency": { group: "telemetry", help: "The server writes a file after so many traces; 0: at the end." },
  "-f": { group: "output", help: "Write the results as CSV." },
  "--verbose-csv": { group: "output", help: "More columns in the CSV." },
  "--profile-export-file": { group: "output", help: "Write every request as JSON; the file must not exist yet." },
  "-t": { group: "deprecated", unit: "requests outstanding", help: "START of --concurrency-range." },
  "-c": { group: "deprecated", unit: "requests outstanding", help: "END of --concurrency-range." },
  "-d": { group: "deprecated", help: "Nothing: a range of concurrencies is measured wherever -c gives its end." },
  "-z": { group: "deprecated", help: "The same as --input-data zero." },
  "--data-directory": { group: "deprecated", help: "The same as --input-data with a directory." },

  "--help": { group: "rampart", help: "Print this help and exit." },
  "--dry-run": { group: "rampart", help: "Print what would be done as JSON and exit; no server is asked." },
  "--client": {
    group: "rampart",
    default: "own",
    help: "What sends the requests: Rampart's client, or a general one to compare with.",
  },
  "--stall-timeout": {
    group: "rampart",
    unit: "seconds",
    default: "60",
    help: "A request without a byte for so long has failed.",
  },
  "--request-timeout": {
    group: "rampart",
    unit: "seconds",
    help: "A request without its complete answer for this long has failed, however often bytes arrive.",
  },
  "--max-response-bytes": {
    group: "rampart",
    unit: "bytes",
    default: String(DEFAULT_MAX_RESPONSE_BYTES),
    help: "A request whose response is longer has failed: its body, or all messages for it, decompressed.",
  },
  "--max-failure-ratio": {
    group: "rampart",
    default: "0",
    help: "Share of failed requests, 0 to 1, that does not end the run.",
  },
  "--json": {
    group: "rampart",
    help: "Write Rampart's own report too: all requests of the run, confidence, histograms, the client's CPU and lag.",
  },
};
