/**
 * The map from each flag to the test that asserts its effect on the wire, on the schedule or on the output. `flag-table.test.ts` fails
 * when a flag has no row, a row has no flag, or a row's test does not exist or never uses the flag.
 */

/** Where a flag's effect is asserted. */
export interface FlagRow {
  /** As `flagName` spells it. */
  readonly flag: string;
  readonly effect:
    | "wire"
    | "schedule"
    | "sequences"
    | "output"
    | "tls"
    | "telemetry"
    | "compression"
    | "processes"
    | "shared-memory"
    | "composing"
    | "openai"
    | "dynamic-grpc"
    | "in-process"
    | "tfserving";
  /** The name of a test in `effects-<effect>.test.ts`. */
  readonly test: string;
  /** How the test writes the flag, where it uses the short name. */
  readonly typed?: string;
}

const HTTPS_TRUST = "over https the authorities and the server's name are checked separately, like in curl";
const METRICS = "--collect-metrics reads --metrics-url every --metrics-interval and reports each GPU of each level";
const TRACE = "the trace flags are set before anything is asked and set back after the run";
const PERIODIC = "--periodic-concurrency-range sends groups of requests, paced by --request-period responses";
const SEQUENCE_LENGTH = "--sequence-length and --sequence-length-variation set how long sequences are";
const IN_PROCESS = "--triton-server-directory and --model-repository say what --service-kind triton_c_api loads";
const COUNT_WINDOWS = "--measurement-mode count_windows and --measurement-request-count make windows end by requests";

/** Flags that this version obeys. */
export const OBEYED: readonly FlagRow[] = [
  { flag: "-m", effect: "wire", test: "-m names the model in every path" },
  {
    flag: "--model-signature-name",
    effect: "tfserving",
    test: "--model-signature-name and -x are in the metadata's query and in every request",
  },
  { flag: "-x", effect: "wire", test: "-x asks for a version; without it the server chooses" },
  { flag: "-v", effect: "output", test: "-v prints windows as they come, -v -v requests and answers too" },
  {
    flag: "--service-kind",
    effect: "openai",
    test: "--service-kind openai posts the payloads of --input-data to --endpoint, one after the other",
  },
  {
    flag: "--endpoint",
    effect: "openai",
    test: "--service-kind openai posts the payloads of --input-data to --endpoint, one after the other",
  },
  { flag: "--version", effect: "output", test: "--version prints the version and asks no server" },
  {
    flag: "--concurrency-range",
    effect: "schedule",
    test: "--concurrency-range keeps each level's number of requests outstanding",
  },
  {
    flag: "--request-rate-range",
    effect: "schedule",
    test: "--request-rate-range spaces requests evenly and never sends early",
  },
  {
    flag: "--request-distribution",
    effect: "schedule",
    test: "--request-distribution poisson draws the gaps, constant does not",
  },
  {
    flag: "--request-intervals",
    effect: "schedule",
    test: "--request-intervals sends at the file's gaps, over and over",
  },
  {
    flag: "--fixed-schedule",
    effect: "sequences",
    test: "--fixed-schedule sends every entry of the data once, at its time",
  },
  { flag: "--periodic-concurrency-range", effect: "sequences", test: PERIODIC },
  { flag: "--request-period", effect: "sequences", test: PERIODIC },
  {
    flag: "--session-concurrency",
    effect: "openai",
    test: "--session-concurrency holds each conversation once, this many at a time, with its history and its delays",
  },
  { flag: "--sequence-length", effect: "sequences", test: SEQUENCE_LENGTH },
  { flag: "--sequence-length-variation", effect: "sequences", test: SEQUENCE_LENGTH },
  {
    flag: "--sequence-id-range",
    effect: "sequences",
    test: "--sequence-id-range gives correlation ids, and fewer of them than sequences are refused",
  },
  {
    flag: "--num-of-sequences",
    effect: "sequences",
    test: "--num-of-sequences is how many sequences a schedule has under way",
  },
  {
    flag: "--serial-sequences",
    effect: "sequences",
    test: "--serial-sequences has a sequence wait for its answer also on a stream",
  },
  {
    flag: "--measurement-interval",
    effect: "schedule",
    test: "-p sets the length of windows, which last 1.2 times as long",
    typed: "-p",
  },
  { flag: "--measurement-mode", effect: "schedule", test: COUNT_WINDOWS },
  { flag: "--measurement-request-count", effect: "schedule", test: COUNT_WINDOWS },
  {
    flag: "--request-count",
    effect: "schedule",
    test: "--request-count sends exactly this number of requests and measures all of them",
  },
  {
    flag: "--warmup-request-count",
    effect: "schedule",
    test: "--warmup-request-count sends requests first that are not measured",
  },
  { flag: "--stability-percentage", effect: "schedule", test: "-s decides whether windows agree", typed: "-s" },
  { flag: "--max-trials", effect: "schedule", test: "-r is the most windows of a level", typed: "-r" },
  { flag: "--percentile", effect: "output", test: "--percentile determines stability and the reported latency" },
  {
    flag: "--latency-threshold",
    effect: "schedule",
    test: "-l ends the search at the level whose latency reaches it",
    typed: "-l",
  },
  {
    flag: "--binary-search",
    effect: "schedule",
    test: "--binary-search looks for the highest level under -l by halving",
  },
  {
    flag: "--enable-mpi",
    effect: "processes",
    test: "--enable-mpi: the ranks begin a level together and measure it until all are stable",
  },
  { flag: "--async", effect: "wire", test: "--async numbers its requests by lane" },
  { flag: "--sync", effect: "wire", test: "--sync sends requests without a number, as without flags" },
  {
    flag: "--max-threads",
    effect: "schedule",
    test: "--max-threads bounds the lanes of --async and the requests outstanding of a synchronous rate",
  },
  { flag: "-b", effect: "wire", test: "-b sets the number of items per request" },
  {
    flag: "--input-data",
    effect: "wire",
    test: "--input-data zero sends zeros, a file its data in turn, a directory its files, nothing the usual random bytes",
  },
  { flag: "--shape", effect: "wire", test: "--shape sets the size of a variable input" },
  { flag: "--string-length", effect: "wire", test: "--string-length sets the length of random strings" },
  { flag: "--string-data", effect: "wire", test: "--string-data is sent as every string" },
  {
    flag: "--shared-memory",
    effect: "shared-memory",
    test: "--shared-memory system puts tensors into memory shared with the server, and requests tell where",
  },
  {
    flag: "--output-shared-memory-size",
    effect: "shared-memory",
    test: "--output-shared-memory-size is the memory for one item of an output whose size varies",
  },
  { flag: "--input-tensor-format", effect: "wire", test: "--input-tensor-format json writes tensors into the JSON" },
  { flag: "--output-tensor-format", effect: "wire", test: "--output-tensor-format json asks for outputs as JSON" },
  { flag: "-u", effect: "wire", test: "-u sets the server, optionally with a scheme and a path" },
  { flag: "-i", effect: "wire", test: "-i grpc speaks gRPC, in either case of letters" },
  { flag: "--streaming", effect: "wire", test: "--streaming sends all requests of a lane over one gRPC stream" },
  { flag: "-H", effect: "wire", test: "-H adds headers to every request, and metadata with gRPC" },
  {
    flag: "--ssl-grpc-use-ssl",
    effect: "tls",
    test: "the --ssl-grpc flags: TLS, trusted authorities, and the client's certificate",
  },
  {
    flag: "--ssl-grpc-root-certifications-file",
    effect: "tls",
    test: "the --ssl-grpc flags: TLS, trusted authorities, and the client's certificate",
  },
  {
    flag: "--ssl-grpc-private-key-file",
    effect: "tls",
    test: "the --ssl-grpc flags: TLS, trusted authorities, and the client's certificate",
  },
  {
    flag: "--ssl-grpc-certificate-chain-file",
    effect: "tls",
    test: "the --ssl-grpc flags: TLS, trusted authorities, and the client's certificate",
  },
  { flag: "--ssl-https-verify-peer", effect: "tls", test: HTTPS_TRUST },
  { flag: "--ssl-https-verify-host", effect: "tls", test: HTTPS_TRUST },
  { flag: "--ssl-https-ca-certificates-file", effect: "tls", test: HTTPS_TRUST },
  {
    flag: "--ssl-https-client-certificate-file",
    effect: "tls",
    test: "the client shows its certificate over https, from PEM and from DER files",
  },
  {
    flag: "--ssl-https-client-certificate-type",
    effect: "tls",
    test: "the client shows its certificate over https, from PEM and from DER files",
  },
  {
    flag: "--ssl-https-private-key-file",
    effect: "tls",
    test: "the client shows its certificate over https, from PEM and from DER files",
  },
  {
    flag: "--ssl-https-private-key-type",
    effect: "tls",
    test: "the client shows its certificate over https, from PEM and from DER files",
  },
  { flag: "--request-parameter", effect: "wire", test: "--request-parameter goes with every request over gRPC" },
  { flag: "--collect-metrics", effect: "telemetry", test: METRICS },
  { flag: "--metrics-url", effect: "telemetry", test: METRICS },
  { flag: "--metrics-interval", effect: "telemetry", test: METRICS },
  { flag: "--trace-level", effect: "telemetry", test: TRACE },
  { flag: "--trace-rate", effect: "telemetry", test: TRACE },
  { flag: "--trace-count", effect: "telemetry", test: TRACE },
  { flag: "--trace-file", effect: "telemetry", test: TRACE },
  { flag: "--log-frequency", effect: "telemetry", test: TRACE },
  {
    flag: "--grpc-compression-algorithm",
    effect: "compression",
    test: "--grpc-compression-algorithm compresses only inference requests, and is reported",
  },
  {
    flag: "--bls-composing-models",
    effect: "composing",
    test: "--bls-composing-models reports the server times of models that the model calls",
  },
  { flag: "-f", effect: "output", test: "-f writes a row per level into a CSV, replacing an older file" },
  { flag: "--verbose-csv", effect: "output", test: "--verbose-csv adds columns" },
  {
    flag: "--profile-export-file",
    effect: "output",
    test: "--profile-export-file writes every measured request as JSON",
  },
  { flag: "-t", effect: "schedule", test: "-t and -c are the ends of the range of concurrencies, -d changes nothing" },
  { flag: "-c", effect: "schedule", test: "-t and -c are the ends of the range of concurrencies, -d changes nothing" },
  { flag: "-d", effect: "schedule", test: "-t and -c are the ends of the range of concurrencies, -d changes nothing" },
  { flag: "-z", effect: "wire", test: "-z sends zeros, --data-directory a directory's files" },
  { flag: "--data-directory", effect: "wire", test: "-z sends zeros, --data-directory a directory's files" },
  { flag: "--help", effect: "output", test: "--help prints the help, also as -h, whatever else is wrong" },
  { flag: "--json", effect: "output", test: "--json writes Rampart's own report as JSON" },
  { flag: "--report", effect: "output", test: "--report, --junit and --markdown write Rampart's reports" },
  { flag: "--junit", effect: "output", test: "--report, --junit and --markdown write Rampart's reports" },
  { flag: "--markdown", effect: "output", test: "--report, --junit and --markdown write Rampart's reports" },
  { flag: "--live", effect: "output", test: "--live shows the run's state on stderr, and stdout keeps its bytes" },
  { flag: "--watch-port", effect: "output", test: "--watch-port serves the run's state, --otlp sends its metrics" },
  { flag: "--otlp", effect: "output", test: "--watch-port serves the run's state, --otlp sends its metrics" },
  { flag: "--dry-run", effect: "output", test: "--dry-run prints a sound plan as JSON and asks no server" },
  { flag: "--client", effect: "wire", test: "--client selects the library that sends the requests" },
  { flag: "--stall-timeout", effect: "schedule", test: "--stall-timeout ends a run whose server answers nothing" },
  { flag: "--request-timeout", effect: "schedule", test: "--request-timeout fails a request that takes too long" },
  {
    flag: "--max-response-bytes",
    effect: "wire",
    test: "--max-response-bytes fails requests whose responses are longer",
  },
  {
    flag: "--max-failure-ratio",
    effect: "schedule",
    test: "--max-failure-ratio lets a run continue despite failed requests",
  },
  {
    flag: "--grpc-method",
    effect: "dynamic-grpc",
    test: "--grpc-method names what is called, -H its metadata; without a description all messages go in one call",
  },
  {
    flag: "--proto",
    effect: "dynamic-grpc",
    test: "--proto and --proto-path describe the method instead of reflection",
  },
  {
    flag: "--proto-path",
    effect: "dynamic-grpc",
    test: "--proto and --proto-path describe the method instead of reflection",
  },
  { flag: "--triton-server-directory", effect: "in-process", test: IN_PROCESS },
  { flag: "--model-repository", effect: "in-process", test: IN_PROCESS },
];

/** All flag names of perf_analyzer, long names first, as its help and its command line know them: kept by hand, apart from the code. */
export const PERF_ANALYZER_FLAGS: readonly string[] = [
  "--async --binary-search --bls-composing-models --collect-metrics --concurrency-range --data-directory --enable-mpi --endpoint",
  "--fixed-schedule --grpc-compression-algorithm --grpc-method --input-data --input-tensor-format --latency-threshold",
  "--log-frequency --max-threads --max-trials --measurement-interval --measurement-mode --measurement-request-count",
  "--metrics-interval --metrics-url --model-repository --model-signature-name --num-of-sequences --output-shared-memory-size",
  "--output-tensor-format --percentile --periodic-concurrency-range --profile-export-file --request-count",
  "--request-distribution --request-intervals --request-parameter --request-period --request-rate-range --sequence-id-range",
  "--sequence-length --sequence-length-variation --serial-sequences --service-kind --session-concurrency --shape",
  "--shared-memory --ssl-grpc-certificate-chain-file --ssl-grpc-private-key-file --ssl-grpc-root-certifications-file",
  "--ssl-grpc-use-ssl --ssl-https-ca-certificates-file --ssl-https-client-certificate-file",
  "--ssl-https-client-certificate-type --ssl-https-private-key-file --ssl-https-private-key-type --ssl-https-verify-host",
  "--ssl-https-verify-peer --stability-percentage --streaming --string-data --string-length --sync --trace-count --trace-file",
  "--trace-level --trace-rate --triton-server-directory --verbose-csv --version --warmup-request-count",
  "-H -a -b -c -d -f -i -l -m -p -r -s -t -u -v -x -z",
]
  .join(" ")
  .split(" ");

/** perf_analyzer's switches: flags without a value. */
export const PERF_ANALYZER_SWITCHES: readonly string[] = [
  "--async --binary-search --collect-metrics --enable-mpi --fixed-schedule --serial-sequences --ssl-grpc-use-ssl --streaming",
  "--sync --verbose-csv --version -a -d -v -z",
]
  .join(" ")
  .split(" ");
