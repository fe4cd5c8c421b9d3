import { problem } from "../../../plan/problem.ts";
import { METHOD_NAME } from "../../../transport/request.ts";
import { isDirectory } from "../../output-files.ts";
import { isTokenless } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { checkInputFormat, isPayloadFile, sourceOf } from "../input-format.ts";
import { loadOf } from "../loads.ts";
import { passedValueOf } from "../options/passed-flags.ts";
import { nameOf } from "../options/subcommands.ts";
import { isFileOrFolder } from "../options/value-kinds.ts";
import { checkTemplate } from "../template-options.ts";
import { checkEndpoint, checkServers } from "./endpoint-rules.ts";
import { checkMedia } from "./media-rules.ts";
import { checkOwn } from "./rampart-rules.ts";
import type { RuleSet } from "./rule-set.ts";
import { checkSessions } from "./session-rules.ts";
import { checkSweep } from "./sweep-rules.ts";

/** GenAI-Perf's rules between settings, and rules for Rampart's own options. */

const REPOSITORY_FLAG = "--model-repository";

/** Settings of a connection, which there is not. */
const OF_CONNECTION = [
  "endpoint.url",
  "endpoint.path",
  "rampart.moreUrls",
  "rampart.shared.api-key-env",
  "input.headers",
] as const;

/** Checks what Triton in process needs and cannot use, and what ids of tokens need. */
function checkInProcess(rules: RuleSet): void {
  const { endpoint, tokenizer, passed } = rules.settings;
  const { type } = endpoint;
  const { isInProcess, hasTokenIds } = ENDPOINT_TYPES[type];
  if (isInProcess) {
    const message = `the endpoint type ${type} needs ${REPOSITORY_FLAG} after --: it runs Triton's library by itself`;
    const hint = `Add -- ${REPOSITORY_FLAG} DIR, and --triton-server-directory DIR where Triton is not in /opt/tritonserver.`;
    if (!passedValueOf(passed, REPOSITORY_FLAG))
      rules.problems.push(problem("missing", REPOSITORY_FLAG, message, hint));
    for (const at of OF_CONNECTION) {
      const unused = `${nameOf(at)} cannot be used with the endpoint type ${type}, which has no network`;
      rules.refuse(rules.isChosen(at), at, unused, "Leave it out.");
    }
  }
  rules.refuse(
    hasTokenIds === true && tokenizer.name === "none",
    "tokenizer.name",
    `requests of the endpoint type ${type} have the ids of tokens, which only a tokenizer can give`,
    "Name the model's tokenizer.",
  );
}

const INPUT_HINT =
  'Give --input-file FILE with {"text": "COMMAND"} on each line; a command writes the messages of a call.';

/** Checks `--grpc-method`, and what calls of a method cannot use. */
function checkMethod(rules: RuleSet): void {
  const { endpoint, input } = rules.settings;
  const { grpcMethod, type } = endpoint;
  if (!ENDPOINT_TYPES[type].callsMethod) {
    const message = `--grpc-method cannot be used with the endpoint type ${type}`;
    rules.refuse(
      grpcMethod !== "",
      "endpoint.grpcMethod",
      message,
      "Leave it out, or give --endpoint-type dynamic_grpc.",
    );
    return;
  }
  const example = "Give the method to call, for example --grpc-method inference.GRPCInferenceService/ServerLive.";
  const named = grpcMethod === "" ? "needs --grpc-method" : `needs a --grpc-method of the form package.Service/Method`;
  rules.refuse(!METHOD_NAME.test(grpcMethod), "endpoint.grpcMethod", `the endpoint type ${type} ${named}`, example);
  const isPlainFile = sourceOf({ ...input, format: "auto" }).kind === "file";
  const isLines = ["auto", "jsonl"].includes(input.format);
  const inputMessage = `the endpoint type ${type} needs a file or folder of commands`;
  rules.refuse(!isPlainFile, "input.file", inputMessage, INPUT_HINT);
  rules.refuse(!isLines, "input.format", inputMessage, INPUT_HINT);
  const unused = [
    "input.extra",
    "prompts.prefix.count",
    "prompts.outputTokens.mean",
    "prompts.systemTokens",
    "rampart.sequenceMix",
    "endpoint.path",
  ] as const;
  for (const at of unused) {
    const message = `calls of the endpoint type ${type} have only the messages that their command writes`;
    rules.refuse(rules.isChosen(at), at, message, "Leave it out.");
  }
}

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
    settings.layout.hasExactOutput && !ENDPOINT_TYPES[settings.endpoint.type].hasExactOutput,
    "layout.hasExactOutput",
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
  const { input, layout, prompts } = rules.settings;
  const needsMean = "Add --output-tokens-mean, or output_tokens.mean in the file.";
  rules.refuse(
    rules.isChosen("prompts.outputTokens.stddev") && prompts.outputTokens.mean === null,
    "prompts.outputTokens.stddev",
    "User Config: If output tokens stddev is set, mean must also be set",
    needsMean,
  );
  rules.refuse(
    layout.hasExactOutput && prompts.outputTokens.mean === null,
    "layout.hasExactOutput",
    "User Config: If output tokens deterministic is set, mean must also be set",
    needsMean,
  );
  const source = sourceOf(input);
  rules.refuse(
    source.kind === "payload" && !isFileOrFolder(source.path),
    "input.file",
    `File not found: ${"path" in source ? source.path : ""}`,
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
    followsTimes && !isPayloadFile(rules.settings.input),
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
