import { DEFAULT_OSL, DEFAULT_STALL_TIMEOUT_MS } from "../../plan/defaults.ts";
import { BUS_FORM, isAddress, isBusUrl, MOST_AGENTS, MOST_WORKERS } from "../../plan/plan.ts";
import { DEFAULT_MAX_RESPONSE_BYTES, MOST_RESPONSE_BYTES } from "../../plan/response-limit.ts";
import { resolveOtlpUrl } from "../../report/live/otlp/otlp-settings.ts";
import { type Door, MEASURING, PLACEHOLDERS, type SharedOption } from "./shared-option.ts";

/**
 * Rampart's own options that several commands have, each with one name and one meaning on all of them. An entry here is all that an option
 * takes: the commands and the compatible modes read it by their own rules, show it in their help, and put its value into their plan.
 */

/** How long `rampart http` measures without a number of requests. */
export const HTTP_FOR = "10s";

/** How long `rampart chat` waits for a response. */
export const CHAT_TIMEOUT_MS = 60_000;

/** Rampart's own commands that measure. */
const COMMANDS = ["run", "http", "llm", "triton"] as const;

/** Those that find out by themselves what answers at an address. */
const BY_URL = ["llm", "triton"] as const;

const FOR_BY_URL = { help: "Measure each number of users for this long. With --slo: at most." } as const;
const REQUESTS_BY_URL = { help: "Measure this number of requests with each number of users instead." } as const;

/** Their first screen shows what is asked most, and fits. */
const NOT_SHOWN = { llm: { isCommon: false }, triton: { isCommon: false } } as const;

/** Help of `--users` of these. */
const USERS_BY_URL = {
  kind: "text",
  value: "LEVELS",
  defaultText: "1,2,4,8 and so on up to 256, until throughput stops growing",
  help: "Numbers of users, who each send the next request when the last is done: 16, 1,4,16 or 1:8. With --slo the largest number, MIN:MAX or a list.",
} as const;

/** What takes part in a run over a bus. */
const ON_BUS = [...COMMANDS, "perf_analyzer", "agent"] as const;

/** Files that a client of the bus needs. */
const BUS_FILES = [
  ["bus-creds", "credsFile", "File with the credentials of a user of the bus."],
  ["bus-nkey", "nkeyFile", "File with the seed of an NKey of the bus."],
  ["bus-ca", "caFile", "PEM file with the certificates to trust the bus by. With it the connection uses TLS."],
  ["bus-cert", "certFile", "PEM file with the certificate that the bus asks for."],
  ["bus-key", "keyFile", "PEM file with its private key."],
] as const;

/** The options, in the order of the help. */
const OPTIONS: readonly SharedOption[] = [
  {
    name: "url",
    kind: "text",
    value: "URL",
    isFirst: true,
    doors: ["run", "http", ...BY_URL, "chat", "doctor", "init"],
    isCommon: true,
    help: "Address of the server, instead of the argument.",
    differs: {
      ...NOT_SHOWN,
      run: {
        help: "Address of the server, instead of the scenario's. May be given several times: requests go to all in turn.",
      },
      http: {
        help: "Address of the server, instead of the argument. May be given several times: requests go to all in turn.",
      },
      doctor: { help: "Server to measure: host:port, or http://host:port. It only gets connections." },
    },
  },
  {
    name: "protocol",
    isCommon: true,
    kind: "choice",
    isFirst: true,
    doors: ["doctor", "init"],
    choices: ["http", "grpc"],
    default: "http",
    help: "Protocol of the load. HTTP/1.1 needs a connection for each request in flight.",
  },
  {
    name: "model",
    short: "m",
    isCommon: true,
    kind: "text",
    value: "NAME",
    isFirst: true,
    doors: [...BY_URL, "chat", "init"],
    defaultText: "the server's only model",
    help: "Model to ask.",
    differs: { llm: { help: "Model to measure." }, triton: { help: "Model to measure." } },
  },
  {
    name: "tokenizer",
    isCommon: true,
    kind: "text",
    value: "NAME",
    doors: ["llm", "chat", "init", "mock"],
    defaultText: "the server's own counts",
    help: "Also count tokens with this tokenizer: a folder, a model of Hugging Face's hub, or an encoding of tiktoken.",
    differs: {
      llm: {
        defaultText: "what the server says, or none if that cannot be loaded",
        help: "Tokenizer of the model: a folder, a model of Hugging Face's hub, an encoding such as o200k_base, or none. With none the server counts, and prompts have approximate lengths.",
      },
      mock: {
        defaultText: "none, which counts words",
        help: "Tokenizer of prompts and responses, as that of the client: a folder with a tokenizer.json, a model of Hugging Face's hub, an encoding such as o200k_base, or none.",
      },
    },
  },
  {
    name: "osl",
    isCommon: true,
    kind: "whole",
    isFirst: true,
    doors: ["llm", "chat", "init"],
    min: 1,
    default: 64,
    meant: ["--max-tokens", "--output-tokens"],
    help: "Most tokens of the response.",
    differs: { llm: { default: DEFAULT_OSL } },
  },
  {
    name: "users",
    short: "c",
    kind: "whole",
    isFirst: true,
    doors: ["run", "http", ...BY_URL, "doctor", "init"],
    isCommon: true,
    min: 1,
    meant: ["--concurrency", "--connections", "--vus"],
    help: "Requests in flight that will be asked for.",
    differs: {
      run: { help: "Requests in flight, instead of the scenario's load, for as long. With --rate: at most." },
      llm: USERS_BY_URL,
      triton: USERS_BY_URL,
      http: {
        default: 1,
        help: "Requests in flight: users who each send the next when the last is done. With --rate: at most.",
      },
    },
  },
  {
    name: "rate",
    short: "r",
    kind: "decimal",
    isFirst: true,
    doors: ["run", "http", "doctor", "init"],
    isCommon: true,
    min: 0.001,
    example: 100,
    meant: ["--request-rate", "--rps", "--qps"],
    help: "Requests per second that will be asked for.",
    differs: {
      run: { help: "Send N requests per second, instead of the scenario's load, for as long." },
      http: { help: "Send N requests per second, whatever the server does." },
    },
  },
  {
    name: "for",
    short: "z",
    kind: "duration",
    isFirst: true,
    doors: ["run", "http", ...BY_URL, "init"],
    isCommon: true,
    meant: ["--duration", "--time"],
    help: "Measure for this long.",
    differs: {
      llm: { ...FOR_BY_URL, defaultText: "10s; with --slo at most 60s" },
      triton: { ...FOR_BY_URL, defaultText: "5s; with --slo at most 30s" },
      run: { help: "Measure each level for this long." },
      http: { defaultText: `${HTTP_FOR}, without --requests` },
    },
  },
  {
    name: "requests",
    short: "n",
    kind: "whole",
    isFirst: true,
    doors: COMMANDS,
    isCommon: true,
    min: 1,
    meant: ["--iterations", "--request-count"],
    help: "Measure this number of requests instead.",
    differs: {
      run: { help: "Measure this number of requests at each level." },
      llm: { ...REQUESTS_BY_URL, isCommon: false },
      triton: { ...REQUESTS_BY_URL, isCommon: false },
    },
  },
  {
    name: "sweep",
    kind: "text",
    value: "NAME=VALUE,…",
    isFirst: true,
    isRepeatable: true,
    doors: COMMANDS,
    help: "Measure each of these values of an option, such as users=1,8,64, in one report.",
    differs: {
      run: {
        isCommon: true,
        help: "Measure each of these values of a parameter of the scenario, or of an option, such as users=1,8,64, in one report. Several give all combinations.",
      },
    },
  },
  {
    name: "fail-if",
    kind: "text",
    value: "LIMIT",
    meant: ["--assert", "--threshold", "--thresholds", "--slo", "--goodput"],
    isFirst: true,
    doors: [...COMMANDS, "compare"],
    isCommon: true,
    help: "Also fail, with exit code 65, when this is measured: 'p99 > 25ms', 'errorRate > 1%', 'throughput < 100'; may be given several times.",
    differs: {
      http: {
        help: "Fail, with exit code 65, when this is measured: 'p99 > 25ms', 'errorRate > 1%', 'throughput < 100'; may be given several times.",
      },
      compare: {
        help: "Exit with 65 when this is shown: 'p99 > +5%', 'throughput < -3%', 'timeToFirstToken.p99 > +10%', 'p99 > 25ms', 'errorRate > 1%'; may be given several times.",
      },
    },
  },
  {
    name: "header",
    short: "H",
    isCommon: true,
    kind: "text",
    value: '"NAME: VALUE"',
    doors: ["http", ...BY_URL, "chat"],
    help: "Header; may be given several times.",
    differs: NOT_SHOWN,
  },
  {
    name: "insecure",
    short: "k",
    kind: "switch",
    isCommon: true,
    doors: ["http", ...BY_URL, "chat"],
    help: "Accept any certificate.",
    differs: NOT_SHOWN,
  },
  {
    name: "html",
    isCommon: true,
    kind: "file",
    setting: "outputs.files.html",
    doors: [...MEASURING, "report", "compare"],
    meant: ["--report"],
    help: "Write the report as a page: one HTML file with verdicts, charts and tables that needs no network.",
    differs: {
      report: besideReport(
        ".html",
        "Write the page: one HTML file with verdicts, charts and tables that needs no network.",
      ),
      compare: { help: "Write the comparison as a page: one HTML file that needs no other file." },
    },
  },
  {
    name: "json",
    isCommon: true,
    kind: "file",
    setting: "outputs.files.json",
    doors: [...COMMANDS, "perf_analyzer", "chat", "report", "compare", "doctor"],
    meant: ["--out", "--output", "-o", "--summary-export"],
    help: "Write the report as JSON, with histograms. - is standard output; the text then goes to stderr.",
    differs: {
      chat: {
        help: "Write the response with its times and counts as JSON. - is standard output; the text then goes to stderr.",
      },
      report: {
        help: "Write the JSON report again, once it is known to be one. - is standard output; the text then goes to stderr.",
      },
      compare: { help: "Write the comparison as JSON. - is standard output; the text then goes to stderr." },
      doctor: { help: "Write the findings as JSON. - is standard output; the text then goes to stderr." },
    },
  },
  {
    name: "csv",
    kind: "file",
    setting: "outputs.files.csv",
    doors: [...COMMANDS, "report"],
    help: "Write the tables of the report as CSV, the levels first: a line for each row, times in microseconds, ratios 0 to 1.",
    differs: {
      report: besideReport(".csv", "Write its tables as CSV, the levels first: times in microseconds, ratios 0 to 1."),
    },
  },
  {
    name: "profile-export-file",
    kind: "file",
    setting: "outputs.files.profileExport",
    // The compatible modes have it as an option of the original.
    doors: COMMANDS,
    help: "Write every request, in perf_analyzer's profile export layout.",
  },
  {
    name: "records",
    kind: "file",
    setting: "outputs.files.records",
    doors: [...COMMANDS, "genai-perf"],
    meant: ["--records-file"],
    help: "Write every request, also failed ones, as one line of JSON: times, outcome, sizes and level.",
  },
  {
    name: "junit",
    isCommon: true,
    kind: "file",
    setting: "outputs.files.junit",
    doors: [...MEASURING, "report", "compare"],
    help: "Write the verdicts as JUnit XML, for GitLab, Jenkins and GitHub: a test case for each assertion and level.",
    differs: {
      report: besideReport(".xml", "Write the verdicts as JUnit XML: a test case for each assertion and level."),
      compare: {
        help: "Write the limits of --fail-if as JUnit XML. A limit without a result is an error where the exit code is 66.",
      },
    },
  },
  {
    name: "markdown",
    isCommon: true,
    kind: "file",
    setting: "outputs.files.markdown",
    doors: [...MEASURING, "report", "compare"],
    help: "Write a summary in Markdown, for pull requests and $GITHUB_STEP_SUMMARY. - is standard output; the text then goes to stderr.",
    differs: {
      report: besideReport(".md", "Write a summary in Markdown. - is standard output; the text then goes to stderr."),
      compare: {
        help: "Write the comparison as Markdown, for a pull request. - is standard output; the text then goes to stderr.",
      },
    },
  },
  {
    name: "seed",
    kind: "whole",
    setting: "seed",
    doors: ["run"],
    min: 0,
    max: 999_999_999_999_999,
    default: 0,
    help: "Seed of all random draws: the same number repeats arrivals and data, also of all runs of a scenario with repeat.",
  },
  {
    name: "api-key-env",
    isCommon: true,
    kind: "text",
    value: "NAME",
    doors: ["llm", "chat", "genai-perf"],
    help: "Environment variable with the API key, sent as a bearer token (to the type messages as x-api-key) and never printed or exported.",
  },
  {
    name: "client",
    kind: "choice",
    setting: "client.kind",
    doors: [...COMMANDS, "perf_analyzer"],
    choices: ["own", "undici", "grpc-js"],
    default: "own",
    help: "Library that sends the requests: Rampart's own, or a general one to compare with.",
    differs: { http: { choices: ["own", "undici"] }, llm: { choices: ["own", "undici"] } },
  },
  {
    name: "stall-timeout",
    kind: "duration",
    setting: "client.stallTimeoutMs",
    default: DEFAULT_STALL_TIMEOUT_MS,
    help: "A request fails when no byte arrives for this long.",
  },
  {
    name: "timeout",
    isCommon: true,
    kind: "duration",
    setting: "client.requestTimeoutMs",
    defaultText: "no limit",
    meant: ["--request-timeout", "--max-time"],
    doors: [...MEASURING, "chat"],
    help: "A request fails when its response is not complete after this long, however often bytes arrive.",
    differs: { ...NOT_SHOWN, chat: { default: CHAT_TIMEOUT_MS } },
  },
  {
    name: "max-response-bytes",
    kind: "whole",
    setting: "client.maxResponseBytes",
    min: 1,
    max: MOST_RESPONSE_BYTES,
    unit: "bytes",
    default: DEFAULT_MAX_RESPONSE_BYTES,
    example: 1_000_000_000,
    help: "A request fails when its response is longer: its body, or all messages for it, decompressed.",
  },
  {
    name: "max-error-rate",
    kind: "percent",
    setting: "failures.maxRatio",
    meant: ["--max-failure-ratio"],
    help: "Share of failed requests that does not end the run: 1%.",
    differs: {
      run: { help: "The run ends when a larger share of requests fails: 1%." },
      http: { help: "The run ends when a larger share of requests fails: 1%." },
      llm: { help: "The run ends when a larger share of requests fails: 1%." },
      triton: { help: "The run ends when a larger share of requests fails: 1%." },
      "genai-perf": {
        defaultText: "none may fail, but the run lasts",
        help: "Share of requests that may fail: 1%. With more of them the run ends, and the exit code is 1.",
      },
    },
  },
  {
    name: "max-outstanding",
    kind: "whole",
    setting: "client.maxOutstanding",
    doors: COMMANDS,
    min: 1,
    example: 50_000,
    defaultText: "what memory, open files and ports allow",
    help: "Most requests in flight, above which the run ends with its report and exit code 66.",
  },
  {
    name: "source-address",
    kind: "text",
    value: "ADDRESS",
    setting: "client.sourceAddresses",
    isRepeatable: true,
    defaultText: "what the system chooses",
    meant: ["--local-addr", "--local-address", "--interface", "--bind-address"],
    help: "Address of this host that connections to the servers come from, in turn where there are several. Each has ports of its own, so that more connections can be open.",
    resolve: (text) =>
      isAddress(text)
        ? { value: text }
        : { message: "is not an IP address", hint: "Give an address of this host, such as 10.0.0.5.", given: text },
  },
  {
    name: "workers",
    isCommon: true,
    kind: "text",
    value: "N|auto",
    setting: "client.workers",
    defaultText: "1, the main thread",
    help: "Number of threads that send, each its share of the load, where one core is not enough. The report, and files of single requests, are those of one. auto begins with one, and adds one after each level for which the client was the limit: a level never changes its threads. Not with shared memory or targets inside this process.",
    differs: NOT_SHOWN,
    resolve: (text) => {
      const count = text === "auto" ? text : /^\d+$/.test(text) ? Number(text) : 0;
      if (count === "auto" || (count >= 1 && count <= MOST_WORKERS)) return { value: count };
      return { message: `is neither a number of threads up to ${MOST_WORKERS} nor auto`, hint: "Give 4, or auto." };
    },
  },
  {
    name: "bus",
    kind: "text",
    setting: "client.bus.url",
    resolve: (text) =>
      isBusUrl(text) ? { value: text } : { message: "is no address of a bus", hint: `Give ${BUS_FORM}.` },
    value: "URL",
    doors: ON_BUS,
    differs: {
      agent: {
        isFirst: true,
        help: "NATS server on which to wait for runs: nats://USER:PASSWORD@HOST:4222, or tls://…",
      },
    },
    help: "Let agents on other hosts send the load, which wait on this NATS server with rampart agent: nats://USER:PASSWORD@HOST:4222, or tls://…",
  },
  {
    name: "agents",
    kind: "whole",
    setting: "client.bus.agentCount",
    doors: [...COMMANDS, "perf_analyzer"],
    min: 1,
    max: MOST_AGENTS,
    example: 2,
    default: 1,
    help: "Number of agents that send, each its share of the load, with as many threads as --workers says.",
  },
  {
    name: "fleet",
    kind: "choice",
    value: "mpi",
    setting: "client.fleet",
    choices: ["mpi"],
    doors: ["perf_analyzer"],
    help: "Under mpirun, let the ranks send one load: rank 0 measures and reports, and the others send for it. Without this option each rank measures for itself.",
  },
  {
    name: "allow-lost",
    kind: "whole",
    setting: "client.bus.allowLost",
    doors: [...COMMANDS, "perf_analyzer"],
    min: 0,
    max: MOST_AGENTS,
    example: 1,
    default: 0,
    help: "Number of agents that may be lost during the run. It continues without their share of the load, and the report says what is missing.",
  },
  {
    name: "agents-wait",
    kind: "duration",
    setting: "client.bus.waitMs",
    doors: [...COMMANDS, "perf_analyzer"],
    default: 10_000,
    help: "Longest wait for that many agents.",
  },
  ...BUS_FILES.map(
    ([name, key, help]): SharedOption => ({
      ...{ name, help, kind: "text", value: "FILE", setting: `client.bus.${key}`, doors: ON_BUS },
    }),
  ),
  {
    name: "live",
    kind: "switch",
    setting: "outputs.isLive",
    help: "Show the state of the run on stderr while it lasts: redrawn on a terminal, otherwise a line every 5 s. Without this option Rampart's own commands show it on a terminal, and elsewhere print a line every 30 s.",
  },
  {
    name: "no-live",
    kind: "switch",
    setting: "outputs.isLive",
    puts: false,
    doors: COMMANDS,
    help: "Do not show the state of the run.",
  },
  {
    name: "quiet",
    short: "q",
    isCommon: true,
    kind: "switch",
    setting: "outputs.isLive",
    puts: false,
    doors: COMMANDS,
    help: "Print only errors, and why a run did not pass.",
  },
  {
    name: "watch-port",
    kind: "whole",
    setting: "outputs.watchPort",
    value: "PORT",
    min: 0,
    max: 65_535,
    example: 9000,
    help: "Serve the state of the run on 127.0.0.1 while it lasts: a web page, and /metrics for Prometheus. 0 takes a free port and prints it.",
  },
  {
    name: "otlp",
    kind: "text",
    setting: "outputs.otlpUrl",
    value: "URL|env",
    help: "Send metrics to this OpenTelemetry collector while the run lasts, as OTLP over HTTP (default path: /v1/metrics). env takes the address from OTEL_EXPORTER_OTLP_ENDPOINT.",
    resolve: (text) => {
      const resolved = resolveOtlpUrl(text, process.env);
      return "url" in resolved ? { value: resolved.url } : resolved;
    },
  },
  {
    name: "verbose",
    short: "v",
    isCommon: true,
    kind: "switch",
    setting: "outputs.verbosity",
    puts: 1,
    // The compatible modes have it as an option of the original.
    doors: [...COMMANDS, "report", "compare"],
    help: "Show all tables and notes of the report, and each measuring window.",
    differs: {
      report: { help: "Show all tables and notes." },
      compare: {
        meant: ["--all"],
        help: "Show all metrics and notes. Without it: the metrics that changed or that --fail-if names; with one run on a side, the main ones.",
      },
    },
  },
  {
    name: "dry-run",
    isCommon: true,
    kind: "switch",
    help: "Check everything, print the plan as JSON, send and write nothing.",
  },
];

/** Describes a file of `rampart report`, which has the name of its input when none is given. @param ending of that name */
function besideReport(ending: string, help: string): Partial<SharedOption> {
  return { ending, help: `${help} Without a name: beside the JSON, with the ending ${ending}.` };
}

/** Returns what a command or mode offers. */
export function sharedOptions(door: Door): SharedOption[] {
  return OPTIONS.filter(({ doors = MEASURING }) => doors.some((one) => one === door)).map((option) => {
    const { differs, ...rest } = option;
    const value = option.value ?? PLACEHOLDERS[option.kind];
    return { ...rest, ...(value === undefined ? {} : { value }), ...differs?.[door] };
  });
}

/** Returns the option that sets a setting of the Plan, as its user types it. Undefined without one. */
export function sharedNameOf(door: Door, path: string): string | undefined {
  const option = sharedOptions(door).find(({ setting }) => setting === path);
  return option && `--${option.name}`;
}
