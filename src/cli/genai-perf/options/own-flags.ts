import type { FlagSection, GenaiFlag } from "./flags.ts";

/** Also of `process-export-files`. */
export const PLOT_FORMATS_FLAG: GenaiFlag = {
  names: ["--plot-formats"],
  shape: "some",
  kind: "text",
  at: "rampart.plotFormats",
  choices: ["html", "svg"],
  help: "What --generate-plots makes: one HTML page with all plots, an SVG file for each, or both.",
};

/** Rampart's own flags in this mode; where AIPerf has such a flag, by AIPerf's name too. */
const OWN_FLAGS: readonly GenaiFlag[] = [
  {
    names: ["--request-rate-distribution", "--arrival-pattern", "--request-rate-mode"],
    shape: "one",
    kind: "text",
    at: "rampart.rateDistribution",
    choices: ["constant", "poisson", "gamma"],
    help: "Gaps between requests with --request-rate: even, or drawn by --random-seed.",
  },
  {
    names: ["--request-rate-smoothness", "--arrival-smoothness", "--vllm-burstiness"],
    shape: "one",
    kind: "decimal",
    at: "rampart.rateSmoothness",
    help: "Shape of gamma, as vLLM's burstiness: 1 is Poisson, more is smoother, less is burstier.",
  },
  {
    names: ["--concurrency-limit"],
    shape: "one",
    kind: "integer",
    at: "rampart.concurrencyLimit",
    help: "Most requests outstanding with --request-rate; those due meanwhile wait, and go in their order.",
  },
  {
    names: ["--concurrency-ramp-duration"],
    shape: "one",
    kind: "decimal",
    at: "rampart.concurrencyRampSec",
    unit: "seconds",
    help: "Time in which --concurrency is reached from 1, measured with the rest.",
  },
  {
    names: ["--request-rate-ramp-duration"],
    shape: "one",
    kind: "decimal",
    at: "rampart.rateRampSec",
    unit: "seconds",
    help: "Time in which --request-rate is reached from 0, measured with the rest.",
  },
  {
    names: ["--benchmark-duration"],
    shape: "one",
    kind: "decimal",
    at: "rampart.durationSec",
    unit: "seconds",
    excludes: "measurement",
    help: "Measure for this long, once, instead of a number of requests.",
  },
  {
    names: ["--benchmark-grace-period"],
    shape: "one",
    kind: "decimal",
    at: "rampart.gracePeriodSec",
    unit: "seconds",
    help: "How long to await answers after --benchmark-duration; what has none then is given up and counted apart.",
  },
  {
    names: ["--warmup-duration"],
    shape: "one",
    kind: "decimal",
    at: "rampart.warmupSec",
    unit: "seconds",
    help: "Load before the measurement, as a time; with --warmup-request-count until both have come about.",
  },
  {
    names: ["--fixed-schedule-auto-offset"],
    shape: "switch",
    kind: "text",
    at: "rampart.hasScheduleAutoOffset",
    help: "Send the first request of the schedule at once, whenever it is due, and the others as long after it as they are due.",
  },
  {
    names: ["--fixed-schedule-start-offset"],
    shape: "one",
    kind: "decimal",
    at: "rampart.scheduleStartMs",
    unit: "milliseconds",
    help: "Leave out what is due before this time of the schedule, and begin at it.",
  },
  {
    names: ["--fixed-schedule-end-offset"],
    shape: "one",
    kind: "decimal",
    at: "rampart.scheduleEndMs",
    unit: "milliseconds",
    help: "Leave out what is due after this time of the schedule.",
  },
  {
    names: ["--fixed-schedule-speed"],
    shape: "one",
    kind: "decimal",
    at: "rampart.scheduleSpeedRatio",
    help: "2 replays the schedule in half its time, 0.5 in twice its time.",
  },
  {
    names: ["--request-cancellation-rate"],
    shape: "one",
    kind: "decimal",
    at: "rampart.cancelPct",
    unit: "percent",
    help: "Share of requests to cancel, drawn by --random-seed. They are counted apart from failures.",
  },
  {
    names: ["--request-cancellation-delay"],
    shape: "one",
    kind: "decimal",
    at: "rampart.cancelDelaySec",
    unit: "seconds",
    help: "Time from when a request was sent as a whole until it is cancelled, if it is not over by then.",
  },
  {
    names: ["--more-urls"],
    shape: "some",
    kind: "text",
    at: "rampart.moreUrls",
    help: "More servers beside --url; each request goes to the next one in turn.",
  },
  {
    names: ["--api-key-env"],
    shape: "one",
    kind: "text",
    at: "rampart.apiKeyEnv",
    help: "Environment variable with the API key, sent as a bearer token (to the type messages as x-api-key) and never printed or exported.",
  },
  {
    names: ["--shared-system-prompt-length"],
    shape: "one",
    kind: "integer",
    at: "rampart.systemPromptTokens",
    unit: "tokens",
    help: "Length of a system prompt that all requests share.",
  },
  {
    names: ["--sequence-distribution", "--seq-dist"],
    shape: "one",
    kind: "text",
    at: "rampart.sequenceMix",
    help: "Mix of lengths, as ISL,OSL:PERCENT;…, for example 256,128:60;1024,64:40.",
  },
  {
    names: ["--input-format", "--custom-dataset-type"],
    shape: "one",
    kind: "text",
    at: "rampart.inputFormat",
    choices: ["auto", "jsonl", "payload", "sharegpt", "azure", "burstgpt"],
    help: "What --input-file holds; auto looks at it. Of sharegpt conversations the first question is sent, with --session-concurrency all.",
  },
  {
    names: ["--no-server-usage"],
    shape: "switch",
    kind: "text",
    at: "rampart.isUsageLeftOut",
    help: "Leave stream_options.include_usage out of streamed chats and completions, for servers that refuse it: bodies are the original's then, without the server's token counts.",
  },
  {
    names: ["--max-failure-ratio", "--failed-request-threshold"],
    shape: "one",
    kind: "decimal",
    at: "rampart.maxFailureRatio",
    help: "Share of requests that may fail, 0 to 1; with more of them the exit code is 1.",
  },
  {
    names: ["--stall-timeout"],
    shape: "one",
    kind: "decimal",
    at: "rampart.stallTimeoutSec",
    unit: "seconds",
    help: "A request without a byte for so long has failed.",
  },
  {
    names: ["--request-timeout", "--request-timeout-seconds"],
    shape: "one",
    kind: "decimal",
    at: "rampart.requestTimeoutSec",
    unit: "seconds",
    help: "A request without its complete answer for this long has failed, however often bytes arrive.",
  },
  {
    names: ["--max-response-bytes"],
    shape: "one",
    kind: "integer",
    at: "rampart.maxResponseBytes",
    unit: "bytes",
    help: "A request whose response is longer has failed; events count together.",
  },
  PLOT_FORMATS_FLAG,
  {
    names: ["--records-file"],
    shape: "one",
    kind: "text",
    at: "rampart.recordsFile",
    help: "JSONL file with one line per request, failed ones included.",
  },
  {
    names: ["--live"],
    shape: "switch",
    kind: "text",
    at: "rampart.isLive",
    help: "Show the state of the run on stderr while it lasts.",
  },
  {
    names: ["--dry-run"],
    shape: "switch",
    kind: "text",
    at: "rampart.isDryRun",
    help: "Check everything, print the plan as JSON, send and write nothing.",
  },
];

const SEARCH_FLAG: GenaiFlag = {
  names: ["--search-limits"],
  shape: "some",
  kind: "text",
  at: "rampart.searchLimits",
  unit: "milliseconds, or tokens per second for throughputs",
  help: "Find the highest load of the sweep that keeps these limits on results, as METRIC:VALUE for the average or METRIC.p99:VALUE.",
};

function section(flags: readonly GenaiFlag[]): FlagSection {
  return {
    group: "Rampart",
    flags: flags.map((flag) => ({ ...flag, isOwn: true })),
  };
}

/** For `profile`. */
export const OWN_SECTION: FlagSection = section(OWN_FLAGS);

/** For `analyze` and `config`. */
export const OWN_SWEEP_SECTION: FlagSection = section([...OWN_FLAGS, SEARCH_FLAG]);
