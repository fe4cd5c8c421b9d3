import { parseSequenceMix } from "../../../inputs/lengths.ts";
import { secToMs } from "../../../plan/units.ts";
import { withValue } from "../../options/place.ts";
import { readLimits } from "./flag-readers.ts";
import { type Entry, inGroup, lands, sets } from "./genai-option.ts";
import { SHARED_OPTIONS } from "./shared-settings.ts";

/** Options that Rampart adds to this mode. Where AIPerf has such a flag, its name works too. */

/** The formats of plots. Also used for `process-export-files`. */
const PLOT_FORMATS = {
  names: ["--plot-formats"],
  key: "rampart.plot_formats",
  ...sets("texts", "rampart.plotFormats", ["html"], { choices: ["html", "svg"] }),
  help: "What --generate-plots makes: one HTML page with all plots, an SVG file for each, or both.",
} as const;

/** The part of a payload file that is sent by its times. Without any of its options all of it is. */
const OF_SCHEDULE: Pick<Entry, "needs" | "land"> = {
  needs: "fixed_schedule",
  land: (plan, { schedule }) => withValue(plan, "load.part", schedule),
};

/** For all subcommands that measure. */
export const RAMPART_OPTIONS = inGroup("Rampart", [
  {
    names: ["--request-rate-distribution", "--arrival-pattern", "--request-rate-mode"],
    key: "rampart.request_rate_distribution",
    ...sets("text", "rampart.rateDistribution", "constant", { choices: ["constant", "poisson", "gamma"] }),
    needs: "request_rate",
    land: (plan, { rampart: { rateDistribution, rateSmoothness } }) => {
      const landed = withValue(plan, "load.distribution", rateDistribution);
      return rateDistribution === "gamma" ? withValue(landed, "load.smoothness", rateSmoothness) : landed;
    },
    help: "Gaps between requests at a request rate: even, or drawn by --random-seed.",
  },
  {
    names: ["--request-rate-smoothness", "--arrival-smoothness", "--vllm-burstiness"],
    key: "rampart.request_rate_smoothness",
    ...sets("decimal", "rampart.rateSmoothness", 1, { min: 0.01 }),
    help: "Shape of gamma, like vLLM's burstiness: 1 is Poisson, more is smoother, less is burstier.",
  },
  {
    names: ["--concurrency-limit"],
    key: "rampart.concurrency_limit",
    ...lands("integer", "load.maxOutstanding", { min: 1, max: 100_000, needs: "request_rate" }),
    help: "Most requests in flight at a request rate; those due meanwhile wait, and are sent in order.",
  },
  {
    names: ["--concurrency-ramp-duration"],
    key: "rampart.concurrency_ramp",
    ...lands("decimal", "load.rampMs", { min: 0, unit: "seconds", needs: "concurrency" }),
    help: "Time in which the concurrency rises from 1, measured with the rest.",
  },
  {
    names: ["--request-rate-ramp-duration"],
    key: "rampart.request_rate_ramp",
    ...sets("decimal", "rampart.rateRampSec", null, { min: 0, unit: "seconds" }),
    needs: "request_rate",
    land: (plan, { rampart: { rateRampSec: sec } }) =>
      sec ? withValue(plan, "load.ramp", { fromPerSec: 0, overMs: secToMs(sec) }) : plan,
    help: "Time in which the request rate rises from 0, measured with the rest.",
  },
  {
    names: ["--benchmark-duration"],
    key: "rampart.duration",
    ...sets("decimal", "rampart.durationSec", null, { min: 0.001, unit: "seconds" }),
    excludes: "measurement",
    help: "Measure for this long, once, instead of a number of requests.",
  },
  {
    names: ["--benchmark-grace-period"],
    key: "rampart.grace_period",
    ...sets("decimal", "rampart.gracePeriodSec", 30, { min: 0, unit: "seconds" }),
    help: "How long to wait for responses after --benchmark-duration; requests without one by then are cancelled and counted apart.",
  },
  {
    names: ["--warmup-duration"],
    key: "rampart.warmup_duration",
    ...lands("decimal", "measurement.warmupMs", { min: 0, unit: "seconds" }),
    help: "Time of load before the measurement; with --warmup-request-count until both are reached.",
  },
  {
    names: ["--fixed-schedule-auto-offset"],
    key: "rampart.schedule_auto_offset",
    ...sets("boolean", "schedule.startsAtFirst", false),
    ...OF_SCHEDULE,
    help: "Send the first request of a schedule at once, whenever it is due, and keep the gaps to the others.",
  },
  {
    names: ["--fixed-schedule-start-offset"],
    key: "rampart.schedule_start",
    ...sets("decimal", "schedule.startMs", null, { min: 0, unit: "milliseconds" }),
    ...OF_SCHEDULE,
    help: "Leave out what is due before this time of a schedule, and start at this time.",
  },
  {
    names: ["--fixed-schedule-end-offset"],
    key: "rampart.schedule_end",
    ...sets("decimal", "schedule.endMs", null, { min: 0, unit: "milliseconds" }),
    ...OF_SCHEDULE,
    help: "Leave out what is due after this time of a schedule.",
  },
  {
    names: ["--fixed-schedule-speed"],
    key: "rampart.schedule_speed",
    ...sets("decimal", "schedule.speedRatio", 1, { min: 0.001 }),
    ...OF_SCHEDULE,
    help: "2 replays a schedule in half its time, 0.5 in twice its time.",
  },
  {
    names: ["--request-cancellation-rate"],
    key: "rampart.cancel_percentage",
    ...sets("decimal", "rampart.cancelPct", 0, { min: 0, max: 100, unit: "percent" }),
    land: (plan, { prompts, rampart: { cancelPct: sharePct, cancelDelaySec } }) =>
      withValue(plan, "cancellation", { sharePct, delayMs: secToMs(cancelDelaySec), seed: prompts.seed }),
    help: "Share of requests to cancel, drawn by --random-seed. They are counted apart from failures.",
  },
  {
    names: ["--request-cancellation-delay"],
    key: "rampart.cancel_delay",
    ...sets("decimal", "rampart.cancelDelaySec", 0, { min: 0, unit: "seconds" }),
    help: "Time from the end of sending a request until it is cancelled, if it is not finished by then.",
  },
  {
    names: ["--more-urls"],
    key: "rampart.more_urls",
    ...sets("texts", "rampart.moreUrls", []),
    land: (plan, { rampart }) => withValue(plan, "target.moreUrls", rampart.moreUrls),
    help: "More servers beside --url; each request goes to the next one in turn.",
  },
  {
    names: ["--shared-system-prompt-length"],
    key: "rampart.system_prompt_length",
    ...sets("integer", "prompts.systemTokens", 0, { min: 0, unit: "tokens" }),
    help: "Length of a system prompt that all requests share.",
  },
  {
    names: ["--sequence-distribution", "--seq-dist"],
    key: "rampart.sequence_mix",
    ...sets("text", "rampart.sequenceMix", ""),
    land: (plan, { rampart }) =>
      withValue(plan, "requests.prompts.mix", parseSequenceMix(rampart.sequenceMix, "--sequence-distribution")),
    help: "Mix of lengths, as ISL,OSL:PERCENT;…, for example 256,128:60;1024,64:40.",
  },
  {
    names: ["--input-format", "--custom-dataset-type"],
    setting: "inputs.format",
    key: "rampart.input_format",
    ...sets("text", "input.format", "auto", {
      choices: ["auto", "jsonl", "payload", "sharegpt", "azure", "burstgpt"],
    }),
    help: "What --input-file holds; auto looks at it. Of sharegpt conversations the first question is sent, with --session-concurrency all.",
  },
  {
    names: ["--no-server-usage"],
    key: "rampart.no_server_usage",
    ...sets("boolean", "rampart.isUsageLeftOut", false),
    land: (plan) => (plan.requests?.body.kind === "format" ? withValue(plan, "requests.body.asksUsage", false) : plan),
    help: "Leave stream_options.include_usage out of streamed chats and completions, for servers that refuse it: bodies are then like the original's, without the server's token counts.",
  },
  {
    names: ["--request-timeout-seconds"],
    key: "rampart.request_timeout_seconds",
    ...lands("decimal", "client.requestTimeoutMs", { min: 0.001, unit: "seconds" }),
    help: "The same as --timeout, as AIPerf has it.",
  },
  {
    names: ["--failed-request-threshold"],
    key: "rampart.failed_request_threshold",
    ...lands("decimal", "failures.maxRatio", { min: 0, max: 1 }),
    help: "The same as --max-error-rate, as AIPerf has it: a share from 0 to 1.",
  },
  PLOT_FORMATS,
  ...SHARED_OPTIONS,
]);

/** Additional options of `analyze` and `config`. */
export const RAMPART_SWEEP_OPTIONS = inGroup("Rampart", [
  {
    names: ["--search-limits"],
    key: "rampart.search_limits",
    ...sets("limits", "rampart.searchLimits", null, { unit: "milliseconds, or tokens per second for throughputs" }),
    read: readLimits("rampart.searchLimits"),
    help: "Find the highest load of the sweep that keeps these limits on averages, or on percentiles such as request_latency.p99.",
    syntax: "METRIC:VALUE or METRIC.p99:VALUE.",
  },
]);

/** For `process-export-files`. */
export const RAMPART_MERGE_OPTIONS = inGroup("Rampart", [
  PLOT_FORMATS,
  {
    names: ["--tokenizer"],
    kind: "text",
    at: "tokenizer.name",
    defaultText: "the one that the reports name",
    help: "Counts tokens: a folder with tokenizer.json, a name on the Hugging Face hub, or none.",
  },
]);
