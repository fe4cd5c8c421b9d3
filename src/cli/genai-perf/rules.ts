import type { Problem } from "../../plan/problem.ts";
import { parseMetricsUrl } from "../../telemetry/metrics-url.ts";
import { checkOutputFiles, isDirectory } from "../output-files.ts";
import { ENDPOINT_TYPES, TOKENLESS_TYPES } from "./endpoints.ts";
import { isFileOrFolder } from "./flag-values.ts";
import { checkInputFormat, isPayloadFile } from "./input-format.ts";
import { checkMedia } from "./media-rules.ts";
import { checkPhases, checkServers } from "./run-rules.ts";
import { checkSessions } from "./session-rules.ts";
import { type GenaiSettings, isDefault, type SettingPath } from "./settings.ts";
import type { GivenSettings } from "./settings-builder.ts";
import { checkSweep } from "./sweep-rules.ts";
import { checkTemplate } from "./template-options.ts";

/** The original's rules between settings, and those that Rampart's own options bring. */

/** What the settings contradict, all of it. */
export function checkTogether(settings: GenaiSettings, given: GivenSettings): Problem[] {
  const rules = new Rules(settings, given);
  if (settings.subcommand === "create-template") return [];
  if (settings.subcommand === "process-export-files") {
    checkProcess(rules);
    return rules.problems;
  }
  checkEndpoint(rules);
  checkTokens(rules);
  checkInput(rules);
  checkLoad(rules);
  checkSessions(settings, rules.refuse.bind(rules));
  checkOutput(rules);
  checkOwn(rules);
  if (settings.subcommand === "analyze") checkSweep(rules);
  return [
    ...rules.problems,
    ...checkMedia(settings, given),
    ...checkTemplate(settings),
    ...checkInputFormat(settings, given),
  ];
}

/** The settings under check, and what is wrong with them. */
export class Rules {
  readonly problems: Problem[] = [];
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;

  constructor(settings: GenaiSettings, given: GivenSettings) {
    this.settings = settings;
    this.given = given;
  }

  /** Whether somebody asked for something else than the default: a file may repeat defaults, as templates do. */
  isChosen(at: SettingPath): boolean {
    const from = this.given.get(at);
    if (from === undefined) return false;
    return from.source === "flag" || !isDefault(this.settings, at);
  }

  /** Tells a problem when a rule is broken. @param flag names the setting when nobody gave it */
  refuse(isBroken: boolean, at: SettingPath, flag: string, message: string, hint: string): void {
    if (isBroken) this.problems.push({ path: this.given.get(at)?.place ?? flag, message, hint });
  }
}

function checkEndpoint(rules: Rules): void {
  const { settings } = rules;
  const { type, backend } = settings.endpoint;
  const { serviceKind } = ENDPOINT_TYPES[type];
  rules.refuse(
    settings.modelNames.length === 0 || settings.modelNames.includes(""),
    "modelNames",
    "-m",
    "Required field model_names is not set",
    "Name the model with -m, or as model_names in the file.",
  );
  rules.refuse(
    rules.isChosen("endpoint.backend") && type !== "kserve",
    "endpoint.backend",
    "--backend",
    "The backend should only be used with the following combination: 'service_kind: triton' & 'type: kserve'",
    `Leave the backend ${backend} out, or add --endpoint-type kserve.`,
  );
  rules.refuse(
    type === "dynamic_grpc" || type === "tensorrtllm_engine",
    "endpoint.type",
    "--endpoint-type",
    `the endpoint type ${type} is not supported yet`,
    "The README lists the types that are.",
  );
  if (rules.isChosen("endpoint.serverMetricsUrls"))
    for (const url of settings.endpoint.serverMetricsUrls) checkMetricsUrl(rules, url.trim(), serviceKind === "triton");
}

/** What of tokens and tokenizers is not possible here. */
function checkTokens(rules: Rules): void {
  const { settings } = rules;
  const { serviceKind } = ENDPOINT_TYPES[settings.endpoint.type];
  rules.refuse(
    settings.input.outputTokens.isDeterministic && serviceKind !== "triton" && serviceKind !== "tensorrtllm_engine",
    "input.outputTokens.isDeterministic",
    "--output-tokens-mean-deterministic",
    "User Config: input.output_tokens.deterministic is only supported with Triton or TensorRT-LLM Engine service kinds",
    "For OpenAI endpoints give --extra-inputs ignore_eos:true and --extra-inputs min_tokens:N.",
  );
  rules.refuse(
    settings.tokenizer.isTrustingRemoteCode,
    "tokenizer.isTrustingRemoteCode",
    "--tokenizer-trust-remote-code",
    "programs that a tokenizer brings are not run",
    "Give --tokenizer a folder with tokenizer.json; the tokenizers library can save one.",
  );
}

/** @param isStrict as the original checks it for Triton only: with a port, and `/metrics` in the path */
function checkMetricsUrl(rules: Rules, text: string, isStrict: boolean): void {
  const at = "endpoint.serverMetricsUrls";
  const flag = "--server-metrics-url";
  const hint = "Write for example http://localhost:8002/metrics.";
  if (!isStrict) {
    const shown = text.replace(/\/\/[^/]*@/, "//<hidden>@");
    const message = `${shown} is no http or https URL without a name and password`;
    rules.refuse(parseMetricsUrl(text) === undefined, at, flag, message, hint);
    return;
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1] ?? "";
  if (scheme !== "http" && scheme !== "https") {
    rules.refuse(true, at, flag, `Invalid scheme '${scheme}' in URL: ${text}. Use 'http' or 'https'.`, hint);
    return;
  }
  const [authority = "", ...path] = text.slice(scheme.length + 3).split("/");
  const pathText = path.length === 0 ? "" : `/${path.join("/")}`;
  rules.refuse(
    authority === "",
    at,
    flag,
    `Invalid domain in URL: ${text}. Use a valid hostname or 'localhost'.`,
    hint,
  );
  rules.refuse(
    !pathText.includes("/metrics"),
    at,
    flag,
    `Invalid URL path '${pathText}' in ${text}. The path must include '/metrics'.`,
    hint,
  );
  rules.refuse(
    !/:\d+$/.test(authority),
    at,
    flag,
    `Port missing in URL: ${text}. A port number is required (e.g., ':8002').`,
    hint,
  );
}

function checkInput(rules: Rules): void {
  const { input } = rules.settings;
  const needsMean = "Add --output-tokens-mean, or output_tokens.mean in the file.";
  rules.refuse(
    rules.isChosen("input.outputTokens.stddev") && input.outputTokens.mean === null,
    "input.outputTokens.stddev",
    "--output-tokens-stddev",
    "User Config: If output tokens stddev is set, mean must also be set",
    needsMean,
  );
  rules.refuse(
    input.outputTokens.isDeterministic && input.outputTokens.mean === null,
    "input.outputTokens.isDeterministic",
    "--output-tokens-mean-deterministic",
    "User Config: If output tokens deterministic is set, mean must also be set",
    needsMean,
  );
  const payload = /^payload:(.*)$/s.exec(input.file)?.[1];
  rules.refuse(
    payload !== undefined && (payload === "" || !isFileOrFolder(payload)),
    "input.file",
    "--input-file",
    `File not found: ${payload}`,
    "Give an existing file after payload:, with one JSON object per line.",
  );
  for (const header of input.headers)
    rules.refuse(
      !header.includes(":"),
      "input.headers",
      "--header",
      `a header without a colon`,
      "Write Name:Value, for example X-Team:search.",
    );
}

function checkLoad(rules: Rules): void {
  const { stimulus, measurement } = rules.settings.perfAnalyzer;
  rules.refuse(
    stimulus.kind === "fixed_schedule" && !isPayloadFile(rules.settings),
    "perfAnalyzer.stimulus",
    "--fixed-schedule",
    "a fixed schedule needs a payload file with a timestamp in each line",
    "Add --input-file payload:FILE, or --input-file FILE with --input-format payload, azure or burstgpt.",
  );
  const isCounting = rules.given.has("perfAnalyzer.measurement.num") && measurement.mode === "request_count";
  if (!isCounting || measurement.num === null || rules.settings.subcommand !== "profile") return;
  const counted = (least: number, what: string): void =>
    rules.refuse(
      (measurement.num as number) < least,
      "perfAnalyzer.measurement.num",
      "--request-count",
      `--request-count can not be less than ${what}`,
      `Give ${least} or more.`,
    );
  if (stimulus.kind === "concurrency") counted(stimulus.requests, "concurrency");
  if (stimulus.kind === "request_rate") counted(Math.trunc(stimulus.ratePerSec), "request rate");
}

function checkOutput(rules: Rules): void {
  const { output, endpoint } = rules.settings;
  const format = ENDPOINT_TYPES[endpoint.type].outputFormat?.toUpperCase();
  rules.refuse(
    output.isPlotting && TOKENLESS_TYPES.includes(endpoint.type),
    "output.isPlotting",
    "--generate-plots",
    `User Config: generate_plots is not supported with the OutputFormat.${format} output format`,
    "Leave --generate-plots out: there are no tokens to plot.",
  );
  checkFiles(rules);
}

function checkFiles(rules: Rules): void {
  const { output } = rules.settings;
  rules.refuse(
    rules.isChosen("rampart.plotFormats") && !output.isPlotting,
    "rampart.plotFormats",
    "--plot-formats",
    "--plot-formats needs --generate-plots",
    "Add --generate-plots, or leave it out.",
  );
  rules.refuse(
    output.profileExportFile.replace(/^(\.\/+)+/, "").includes("/"),
    "output.profileExportFile",
    "--profile-export-file",
    "Please use artifact_directory option to define intermediary paths to the profile_export_file.",
    "Give the folder with --artifact-dir.",
  );
}

function checkProcess(rules: Rules): void {
  const { inputDir } = rules.settings.process;
  rules.refuse(
    !isDirectory(inputDir),
    "process.inputDir",
    "--input-directory",
    `User Config: input path ${inputDir} is not a valid directory.`,
    "Give the folder with the exports with --input-directory.",
  );
  rules.refuse(
    rules.settings.output.isCheckpointing,
    "output.isCheckpointing",
    "--enable-checkpointing",
    "nothing is measured when exports are merged, so there is nothing to keep",
    "Leave it out.",
  );
  checkFiles(rules);
}

/** What each of Rampart's own options needs beside it. */
function checkOwn(rules: Rules): void {
  const { rampart, perfAnalyzer, subcommand } = rules.settings;
  const hasRate = perfAnalyzer.stimulus.kind === "request_rate" || isSweeping(rules.settings, "request_rate");
  const hasConcurrency = perfAnalyzer.stimulus.kind === "concurrency" || isSweeping(rules.settings, "concurrency");
  const hasSchedule = perfAnalyzer.stimulus.kind === "fixed_schedule";
  const needs = (at: SettingPath, flag: string, isThere: boolean, needed: string): void =>
    rules.refuse(
      rules.isChosen(at) && !isThere,
      at,
      flag,
      `${flag} needs ${needed}`,
      `Add ${needed}, or leave it out.`,
    );
  needs("rampart.rateDistribution", "--request-rate-distribution", hasRate, "--request-rate");
  needs("rampart.concurrencyLimit", "--concurrency-limit", hasRate, "--request-rate");
  needs("rampart.concurrencyRampSec", "--concurrency-ramp-duration", hasConcurrency, "--concurrency");
  needs("rampart.rateRampSec", "--request-rate-ramp-duration", hasRate, "--request-rate");
  const isGamma = rampart.rateDistribution === "gamma";
  needs("rampart.rateSmoothness", "--request-rate-smoothness", isGamma, "--request-rate-distribution gamma");
  for (const [at, flag] of [
    ["rampart.hasScheduleAutoOffset", "--fixed-schedule-auto-offset"],
    ["rampart.scheduleStartMs", "--fixed-schedule-start-offset"],
    ["rampart.scheduleEndMs", "--fixed-schedule-end-offset"],
    ["rampart.scheduleSpeedRatio", "--fixed-schedule-speed"],
  ] as const)
    needs(at, flag, hasSchedule, "--fixed-schedule");
  needs("rampart.gracePeriodSec", "--benchmark-grace-period", rampart.durationSec !== null, "--benchmark-duration");
  needs("rampart.cancelDelaySec", "--request-cancellation-delay", rampart.cancelPct > 0, "--request-cancellation-rate");
  checkPhases(rules);
  checkServers(rules);
  needs("rampart.searchLimits", "--search-limits", subcommand === "analyze", "a sweep");
  checkRecordsFile(rules);
  rules.refuse(
    rampart.isDryRun && rampart.searchLimits !== null,
    "rampart.isDryRun",
    "--dry-run",
    "--dry-run cannot tell what a search will measure, which depends on the server",
    "Leave out --search-limits to see the plans of the whole sweep.",
  );
  checkSchedulePart(rules);
}

function checkSchedulePart(rules: Rules): void {
  const { scheduleStartMs, scheduleEndMs, hasScheduleAutoOffset } = rules.settings.rampart;
  rules.refuse(
    scheduleStartMs !== null && scheduleEndMs !== null && scheduleEndMs < scheduleStartMs,
    "rampart.scheduleEndMs",
    "--fixed-schedule-end-offset",
    "the schedule ends before it starts",
    `Give ${scheduleStartMs} or more.`,
  );
  rules.refuse(
    scheduleStartMs !== null && hasScheduleAutoOffset,
    "rampart.hasScheduleAutoOffset",
    "--fixed-schedule-auto-offset",
    "the schedule begins either with its first request or at --fixed-schedule-start-offset",
    "Give one of them.",
  );
}

function checkRecordsFile(rules: Rules): void {
  const { rampart, subcommand } = rules.settings;
  const at = "rampart.recordsFile";
  const flag = "--records-file";
  if (rampart.recordsFile === "") return;
  rules.refuse(
    subcommand === "analyze",
    at,
    flag,
    `${flag} is the file of one run, and a sweep has many`,
    "Leave it out: each run's profile_export.json has its requests.",
  );
  for (const { message, hint, value } of checkOutputFiles([[flag, rampart.recordsFile]]))
    rules.refuse(true, at, flag, `${value} ${message}`, hint);
}

function isSweeping(settings: GenaiSettings, type: string): boolean {
  return settings.subcommand === "analyze" && settings.analyze.sweeps.some((sweep) => sweep.type === type);
}
