import { parseSequenceMix } from "../../../inputs/lengths.ts";
import type { InputFormat } from "../../../inputs/prompts/settings.ts";
import type { SchedulePartPlan } from "../../../plan/load-options.ts";
import { fieldOf } from "../../../plan/objects.ts";
import { secToMs } from "../../../plan/units.ts";
import type { PlotFormat } from "../../../report/plot.ts";
import { withValue } from "../../options/place.ts";
import { LIMITED, type Limits, readLimits } from "./flag-readers.ts";
import { holds, inGroup, type Land, lands } from "./genai-option.ts";
import { SHARED_OPTIONS } from "./shared.ts";

/** Options that Rampart adds to this mode. If AIPerf has such a flag, its name works too. */

/** The formats of plots. Also used for `process-export-files`. */
const PLOT_FORMATS = {
  names: ["--plot-formats"],
  key: "rampart.plot_formats",
  ...lands<readonly PlotFormat[]>("texts", "outputs.genaiPerf.plotFormats", ["html"], { choices: ["html", "svg"] }),
  help: "What --generate-plots makes: one HTML page with all plots, an SVG file for each, or both.",
} as const;

/** The whole schedule, if the plan sets no part. */
const WHOLE: SchedulePartPlan = { startMs: null, endMs: null, startsAtFirst: false, speedRatio: 1 };

/** Returns a function that puts a value into the part of a schedule. */
function landInPart<Name extends keyof SchedulePartPlan>(name: Name): Land<NonNullable<SchedulePartPlan[Name]>> {
  return (plan, value) => {
    if (value === WHOLE[name]) return plan;
    return withValue(plan, "load.part", { ...WHOLE, ...fieldOf(plan.load, "part"), [name]: value });
  };
}

const OF_SCHEDULE = { needs: "fixed_schedule" } as const;

const landSmoothness: Land<number> = (plan, smoothness) =>
  fieldOf(plan.load, "distribution") === "gamma" ? withValue(plan, "load.smoothness", smoothness) : plan;

const landRamp: Land<number> = (plan, sec) =>
  sec === 0 ? plan : withValue(plan, "load.ramp", { fromPerSec: 0, overMs: secToMs(sec) });

const CANCELLATION = { within: ["rampart.cancel_percentage"] };

const landCancelled: Land<number> = (plan, sharePct) =>
  withValue(plan, "cancellation", { sharePct, delayMs: 0, seed: plan.requests?.prompts.seed ?? 0 });

/** Options of all subcommands that measure. */
export const RAMPART_OPTIONS = inGroup("Rampart", [
  {
    names: ["--request-rate-distribution", "--arrival-pattern", "--request-rate-mode"],
    key: "rampart.request_rate_distribution",
    ...lands<string>("text", "load.distribution", "constant", {
      choices: ["constant", "poisson", "gamma"],
      needs: "request_rate",
    }),
    help: "Gaps between requests at a request rate: even, or drawn by --random-seed.",
  },
  {
    names: ["--request-rate-smoothness", "--arrival-smoothness", "--vllm-burstiness"],
    key: "rampart.request_rate_smoothness",
    ...lands("decimal", landSmoothness, 1, { min: 0.01 }),
    help: "Shape of gamma, like vLLM's burstiness: 1 is Poisson, more is smoother, less is burstier.",
  },
  {
    names: ["--concurrency-limit"],
    key: "rampart.concurrency_limit",
    ...lands<number | null>("integer", "load.maxOutstanding", null, { min: 1, max: 100_000, needs: "request_rate" }),
    help: "Most requests in flight at a request rate; those due meanwhile wait, and are sent in order.",
  },
  {
    names: ["--concurrency-ramp-duration"],
    key: "rampart.concurrency_ramp",
    ...lands<number | null>("decimal", "load.rampMs", null, { min: 0, unit: "seconds", needs: "concurrency" }),
    help: "Time in which the concurrency rises from 1, measured with the rest.",
  },
  {
    names: ["--request-rate-ramp-duration"],
    key: "rampart.request_rate_ramp",
    ...lands<number | null>("decimal", landRamp, null, { min: 0, unit: "seconds", needs: "request_rate" }),
    help: "Time in which the request rate rises from 0, measured with the rest.",
  },
  {
    names: ["--benchmark-duration"],
    key: "rampart.duration",
    ...holds<number | null>("decimal", null, { min: 0.001, unit: "seconds" }),
    excludes: "measurement",
    help: "Measure for this long, once, instead of a number of requests.",
  },
  {
    names: ["--benchmark-grace-period"],
    key: "rampart.grace_period",
    ...lands("decimal", "measurement.mode.graceMs", 30, { min: 0, unit: "seconds", ifThere: true }),
    help: "How long to wait for responses after --benchmark-duration; requests without one by then are cancelled and counted apart.",
  },
  {
    names: ["--warmup-duration"],
    key: "rampart.warmup_duration",
    ...lands<number | null>("decimal", "measurement.warmupMs", null, { min: 0, unit: "seconds" }),
    help: "Time of load before the measurement; with --warmup-request-count until both are reached.",
  },
  {
    names: ["--fixed-schedule-auto-offset"],
    key: "rampart.schedule_auto_offset",
    ...lands("boolean", landInPart("startsAtFirst"), WHOLE.startsAtFirst, OF_SCHEDULE),
    help: "Send the first request of a schedule at once, whenever it is due, and keep the gaps to the others.",
  },
  {
    names: ["--fixed-schedule-start-offset"],
    key: "rampart.schedule_start",
    ...lands("decimal", landInPart("startMs"), WHOLE.startMs, { min: 0, unit: "milliseconds", ...OF_SCHEDULE }),
    help: "Leave out what is due before this time of a schedule, and start at this time.",
  },
  {
    names: ["--fixed-schedule-end-offset"],
    key: "rampart.schedule_end",
    ...lands("decimal", landInPart("endMs"), WHOLE.endMs, { min: 0, unit: "milliseconds", ...OF_SCHEDULE }),
    help: "Leave out what is due after this time of a schedule.",
  },
  {
    names: ["--fixed-schedule-speed"],
    key: "rampart.schedule_speed",
    ...lands("decimal", landInPart("speedRatio"), WHOLE.speedRatio, { min: 0.001, ...OF_SCHEDULE }),
    help: "2 replays a schedule in half its time, 0.5 in twice its time.",
  },
  {
    names: ["--request-cancellation-rate"],
    key: "rampart.cancel_percentage",
    ...lands("decimal", landCancelled, 0, { min: 0, max: 100, unit: "percent", ...CANCELLATION }),
    help: "Share of requests to cancel, drawn by --random-seed. They are counted apart from failures.",
  },
  {
    names: ["--request-cancellation-delay"],
    key: "rampart.cancel_delay",
    ...lands("decimal", "cancellation.delayMs", 0, { min: 0, unit: "seconds", ...CANCELLATION }),
    help: "Time from the end of sending a request until it is cancelled, if it is not finished by then.",
  },
  {
    names: ["--more-urls"],
    key: "rampart.more_urls",
    ...lands<readonly string[]>("texts", "target.moreUrls", [], { within: ["rampart.more_urls"] }),
    help: "More servers beside --url; each request goes to the next one in turn.",
  },
  {
    names: ["--shared-system-prompt-length"],
    key: "rampart.system_prompt_length",
    ...lands("integer", "requests.prompts.systemTokens", 0, {
      min: 0,
      unit: "tokens",
      within: ["rampart.system_prompt_length"],
    }),
    help: "Length of a system prompt that all requests share.",
  },
  {
    names: ["--sequence-distribution", "--seq-dist"],
    key: "rampart.sequence_mix",
    ...lands("text", "requests.prompts.mix", "", {
      within: ["rampart.sequence_mix"],
      convert: (text) => parseSequenceMix(text, "--sequence-distribution"),
    }),
    help: "Mix of lengths, as ISL,OSL:PERCENT;…, for example 256,128:60;1024,64:40.",
  },
  {
    names: ["--input-format", "--custom-dataset-type"],
    setting: "inputs.format",
    key: "rampart.input_format",
    ...holds<InputFormat>("text", "auto", {
      choices: ["auto", "jsonl", "payload", "sharegpt", "azure", "burstgpt"],
    }),
    help: "What --input-file holds; auto looks at it. Of sharegpt conversations the first question is sent, with --session-concurrency all.",
  },
  {
    names: ["--no-server-usage"],
    key: "rampart.no_server_usage",
    ...lands("boolean", "requests.body.asksUsage", false, { ifThere: true, convert: (isLeftOut) => !isLeftOut }),
    help: "Leave stream_options.include_usage out of streamed chats and completions, for servers that refuse it: bodies are then like the original's, without the server's token counts.",
  },
  {
    names: ["--request-timeout-seconds"],
    key: "rampart.request_timeout_seconds",
    ...lands<number | null>("decimal", "client.requestTimeoutMs", null, { min: 0.001, unit: "seconds" }),
    help: "The same as --timeout, as AIPerf has it.",
  },
  {
    names: ["--failed-request-threshold"],
    key: "rampart.failed_request_threshold",
    ...lands<number | null>("decimal", "failures.maxRatio", null, { min: 0, max: 1 }),
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
    ...holds<Limits | null>("limits", null, LIMITED),
    read: readLimits("rampart.search_limits"),
    help: "Find the highest load of the sweep that keeps these limits on averages, or on percentiles such as request_latency.p99.",
    syntax: "METRIC:VALUE or METRIC.p99:VALUE.",
  },
]);

/** Options of `process-export-files`. */
export const RAMPART_MERGE_OPTIONS = inGroup("Rampart", [
  PLOT_FORMATS,
  {
    names: ["--tokenizer"],
    key: "tokenizer.name",
    ...holds("text", ""),
    defaultText: "the one that the reports name",
    help: "Counts tokens: a folder with tokenizer.json, a name on the Hugging Face hub, or none.",
  },
]);
