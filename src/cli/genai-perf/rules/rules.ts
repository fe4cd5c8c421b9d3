import { isDirectory } from "../../output-files.ts";
import { isTokenless } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { checkInputFormat, isPayloadFile } from "../input-format.ts";
import { loadOf } from "../loads.ts";
import { isFileOrFolder } from "../options/value-kinds.ts";
import { checkTemplate } from "../template-options.ts";
import { checkEndpoint, checkServers } from "./endpoint-rules.ts";
import { checkInProcess } from "./in-process-rules.ts";
import { checkMedia } from "./media-rules.ts";
import { checkMethod } from "./method-rules.ts";
import { checkOwn } from "./own-rules.ts";
import type { RuleSet } from "./rule-set.ts";
import { checkSessions } from "./session-rules.ts";
import { checkSweep } from "./sweep-rules.ts";

/** GenAI-Perf's rules between settings, and rules for Rampart's own options. */

/** Reports all conflicts between settings. */
export function checkTogether(rules: RuleSet): void {
  const { subcommand } = rules.settings;
  if (subcommand === "create-template") return;
  if (subcommand === "process-export-files") {
    checkProcess(rules);
    return;
  }
  checkEndpoint(rules);
  checkMethod(rules);
  checkInProcess(rules);
  checkTokens(rules);
  checkInput(rules);
  checkLoad(rules);
  checkSessions(rules);
  checkOutput(rules);
  checkOwn(rules);
  checkServers(rules);
  if (subcommand === "analyze") checkSweep(rules);
  checkMedia(rules);
  checkTemplate(rules);
  checkInputFormat(rules);
}

/** Checks tokens and tokenizers. */
function checkTokens(rules: RuleSet): void {
  const { settings } = rules;
  rules.refuse(
    settings.input.outputTokens.isDeterministic && !ENDPOINT_TYPES[settings.endpoint.type].hasExactOutput,
    "input.outputTokens.isDeterministic",
    "User Config: input.output_tokens.deterministic is only supported with Triton or TensorRT-LLM Engine service kinds",
    "For OpenAI endpoints give --extra-inputs ignore_eos:true and --extra-inputs min_tokens:N.",
  );
  rules.refuse(
    settings.tokenizer.isTrustingRemoteCode,
    "tokenizer.isTrustingRemoteCode",
    "code that comes with a tokenizer is not run",
    "Give --tokenizer a folder with tokenizer.json; the tokenizers library can save one.",
  );
}

function checkInput(rules: RuleSet): void {
  const { input } = rules.settings;
  const needsMean = "Add --output-tokens-mean, or output_tokens.mean in the file.";
  rules.refuse(
    rules.isChosen("input.outputTokens.stddev") && input.outputTokens.mean === null,
    "input.outputTokens.stddev",
    "User Config: If output tokens stddev is set, mean must also be set",
    needsMean,
  );
  rules.refuse(
    input.outputTokens.isDeterministic && input.outputTokens.mean === null,
    "input.outputTokens.isDeterministic",
    "User Config: If output tokens deterministic is set, mean must also be set",
    needsMean,
  );
  const payload = /^payload:(.*)$/s.exec(input.file)?.[1];
  rules.refuse(
    payload !== undefined && (payload === "" || !isFileOrFolder(payload)),
    "input.file",
    `File not found: ${payload}`,
    "Give an existing file after payload:, with one JSON object per line.",
  );
  for (const header of input.headers)
    rules.refuse(
      !header.includes(":"),
      "input.headers",
      "a header needs a colon",
      "Write Name:Value, for example X-Team:search.",
    );
}

function checkLoad(rules: RuleSet): void {
  const { stimulus, measurement } = rules.settings.perfAnalyzer;
  const { followsTimes, sendsOnce, title } = loadOf(stimulus.kind);
  rules.refuse(
    followsTimes === true && !isPayloadFile(rules.settings),
    "perfAnalyzer.stimulus",
    "a fixed schedule needs a payload file with a timestamp in each line",
    "Add --input-file payload:FILE, or --input-file FILE with --input-format payload, azure or burstgpt.",
  );
  const isCounting = rules.given.has("perfAnalyzer.measurement.num") && measurement.mode === "request_count";
  if (!isCounting || measurement.num === null || rules.settings.subcommand !== "profile" || sendsOnce) return;
  const least = Math.trunc(stimulus.value ?? 1);
  rules.refuse(
    measurement.num < least,
    "perfAnalyzer.measurement.num",
    `--request-count can not be less than ${title.toLowerCase()}`,
    `Give ${least} or more.`,
  );
}

function checkOutput(rules: RuleSet): void {
  const { output, endpoint } = rules.settings;
  const format = ENDPOINT_TYPES[endpoint.type].outputFormat?.toUpperCase();
  rules.refuse(
    output.isPlotting && isTokenless(endpoint),
    "output.isPlotting",
    `User Config: generate_plots is not supported with the OutputFormat.${format} output format`,
    "Leave --generate-plots out: there are no tokens to plot.",
  );
  checkFiles(rules);
}

function checkFiles(rules: RuleSet): void {
  const { output } = rules.settings;
  rules.require("rampart.plotFormats", output.isPlotting, "--generate-plots");
  rules.refuse(
    output.profileExportFile.replace(/^(\.\/+)+/, "").includes("/"),
    "output.profileExportFile",
    "Please use artifact_directory option to define intermediary paths to the profile_export_file.",
    "Give the folder with --artifact-dir.",
  );
}

function checkProcess(rules: RuleSet): void {
  const { inputDir } = rules.settings.process;
  rules.refuse(
    !isDirectory(inputDir),
    "process.inputDir",
    `User Config: input path ${inputDir} is not a valid directory.`,
    "Give the folder with the exports with --input-directory.",
  );
  rules.refuse(
    rules.settings.output.isCheckpointing,
    "output.isCheckpointing",
    "nothing is measured when exports are merged, so there is nothing to keep",
    "Leave it out.",
  );
  checkFiles(rules);
}
