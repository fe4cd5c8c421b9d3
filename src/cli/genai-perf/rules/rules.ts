import { fieldOf } from "../../../plan/objects.ts";
import { problem } from "../../../plan/problem.ts";
import { isDirectory } from "../../../runtime/files.ts";
import { METHOD_NAME } from "../../../transport/request.ts";
import { isTokenless } from "../endpoint-formats.ts";
import { checkInputFormat, isPayloadFile, sourceOf } from "../input-format.ts";
import { passedValueOf } from "../options/passed-flags.ts";
import { sharedKeyOf } from "../options/shared.ts";
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

/** Settings of a connection, which does not exist in process. */
const OF_CONNECTION = [
  "endpoint.url",
  "endpoint.custom",
  "rampart.more_urls",
  sharedKeyOf("api-key-env"),
  "input.header",
] as const;

/** Checks the requirements and conflicts of Triton in process, and the requirements of token ids. */
function checkInProcess(rules: RuleSet): void {
  const { type } = rules.endpoint;
  const { isInProcess, hasTokenIds } = rules.type;
  if (isInProcess) {
    const message = `the endpoint type ${type} needs ${REPOSITORY_FLAG} after --: it runs Triton's library by itself`;
    const hint = `Add -- ${REPOSITORY_FLAG} DIR, and --triton-server-directory DIR where Triton is not in /opt/tritonserver.`;
    if (!passedValueOf(rules.passed, REPOSITORY_FLAG))
      rules.problems.push(problem("missing", REPOSITORY_FLAG, message, hint));
    for (const name of OF_CONNECTION) {
      const unused = `${nameOf(name)} cannot be used with the endpoint type ${type}, which has no network`;
      rules.refuse(rules.isChosen(name), name, unused, "Leave it out.");
    }
  }
  rules.refuse(
    hasTokenIds === true && rules.get("tokenizer.name") === "none",
    "tokenizer.name",
    `requests of the endpoint type ${type} have the ids of tokens, which only a tokenizer can give`,
    "Name the model's tokenizer.",
  );
}

const INPUT_HINT =
  'Give --input-file FILE with {"text": "COMMAND"} on each line; a command writes the messages of a call.';

const METHOD = "endpoint.grpc_method";

/** Checks `--grpc-method`, and settings that calls of a method cannot use. */
function checkMethod(rules: RuleSet): void {
  const { endpoint, input } = rules;
  const { type } = endpoint;
  const method = rules.get(METHOD);
  if (!rules.type.callsMethod) {
    const message = `--grpc-method cannot be used with the endpoint type ${type}`;
    rules.refuse(method !== "", METHOD, message, "Leave it out, or give --endpoint-type dynamic_grpc.");
    return;
  }
  const example = "Give the method to call, for example --grpc-method inference.GRPCInferenceService/ServerLive.";
  const named = method === "" ? "needs --grpc-method" : `needs a --grpc-method of the form package.Service/Method`;
  rules.refuse(!METHOD_NAME.test(method), METHOD, `the endpoint type ${type} ${named}`, example);
  const isPlainFile = sourceOf({ ...input, format: "auto" }).kind === "file";
  const isLines = ["auto", "jsonl"].includes(input.format);
  const inputMessage = `the endpoint type ${type} needs a file or folder of commands`;
  rules.refuse(!isPlainFile, "input.file", inputMessage, INPUT_HINT);
  rules.refuse(!isLines, "rampart.input_format", inputMessage, INPUT_HINT);
  const unused = [
    "input.extra",
    "input.prefix_prompt.num",
    "input.output_tokens.mean",
    "rampart.system_prompt_length",
    "rampart.sequence_mix",
    "endpoint.custom",
  ] as const;
  for (const name of unused) {
    const message = `calls of the endpoint type ${type} have only the messages that their command writes`;
    rules.refuse(rules.isChosen(name), name, message, "Leave it out.");
  }
}

/** Reports all conflicts between settings. */
export function checkTogether(rules: RuleSet): void {
  const { subcommand } = rules;
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

const EXACT = "input.output_tokens.deterministic";

function checkTokens(rules: RuleSet): void {
  rules.refuse(
    rules.get(EXACT) && !rules.type.hasExactOutput,
    EXACT,
    "User Config: input.output_tokens.deterministic is only supported with Triton or TensorRT-LLM Engine service kinds",
    "For OpenAI endpoints give --extra-inputs ignore_eos:true and --extra-inputs min_tokens:N.",
  );
  rules.refuse(
    rules.get("tokenizer.trust_remote_code"),
    "tokenizer.trust_remote_code",
    "code that comes with a tokenizer is not run",
    "Give --tokenizer a folder with tokenizer.json; the tokenizers library can save one.",
  );
}

function checkInput(rules: RuleSet): void {
  const hasNoMean = rules.get("input.output_tokens.mean") === null;
  const needsMean = "Add --output-tokens-mean, or output_tokens.mean in the file.";
  rules.refuse(
    rules.isChosen("input.output_tokens.stddev") && hasNoMean,
    "input.output_tokens.stddev",
    "User Config: If output tokens stddev is set, mean must also be set",
    needsMean,
  );
  rules.refuse(
    rules.get(EXACT) && hasNoMean,
    EXACT,
    "User Config: If output tokens deterministic is set, mean must also be set",
    needsMean,
  );
  const source = sourceOf(rules.input);
  rules.refuse(
    source.kind === "payload" && !isFileOrFolder(source.path),
    "input.file",
    `File not found: ${fieldOf(source, "path") ?? ""}`,
    "Give an existing file after payload:, with one JSON object per line.",
  );
  for (const header of rules.get("input.header"))
    rules.refuse(
      !header.includes(":"),
      "input.header",
      "a header needs a colon",
      "Write Name:Value, for example X-Team:search.",
    );
}

function checkLoad(rules: RuleSet): void {
  const { followsTimes, sendsOnce, title } = rules.load;
  rules.refuse(
    followsTimes && !isPayloadFile(rules.input),
    "perf_analyzer.stimulus",
    "a fixed schedule needs a payload file with a timestamp in each line",
    "Add --input-file payload:FILE, or --input-file FILE with --input-format payload, azure or burstgpt.",
  );
  const number = "perf_analyzer.measurement.num";
  const count = rules.get(number);
  const isCounting = rules.given.has(number) && rules.get("perf_analyzer.measurement.mode") === "request_count";
  if (!isCounting || count === null || rules.subcommand !== "profile" || sendsOnce) return;
  const least = Math.trunc(rules.get("perf_analyzer.stimulus").value ?? 1);
  rules.refuse(
    count < least,
    number,
    `--request-count can not be less than ${title.toLowerCase()}`,
    `Give ${least} or more.`,
  );
}

function checkOutput(rules: RuleSet): void {
  const format = rules.type.outputFormat?.toUpperCase();
  rules.refuse(
    rules.get("output.generate_plots") && isTokenless(rules.endpoint),
    "output.generate_plots",
    `User Config: generate_plots is not supported with the OutputFormat.${format} output format`,
    "Leave --generate-plots out: there are no tokens to plot.",
  );
  checkFiles(rules);
}

function checkFiles(rules: RuleSet): void {
  const file = "output.profile_export_file";
  rules.require("rampart.plot_formats", rules.get("output.generate_plots"), "--generate-plots");
  rules.refuse(
    rules
      .get(file)
      .replace(/^(\.\/+)+/, "")
      .includes("/"),
    file,
    "Please use artifact_directory option to define intermediary paths to the profile_export_file.",
    "Give the folder with --artifact-dir.",
  );
}

function checkProcess(rules: RuleSet): void {
  const folder = rules.get("process.input_path");
  rules.refuse(
    !isDirectory(folder),
    "process.input_path",
    `User Config: input path ${folder} is not a valid directory.`,
    "Give the folder with the exports with --input-directory.",
  );
  rules.refuse(
    rules.get("output.enable_checkpointing"),
    "output.enable_checkpointing",
    "nothing is measured when exports are merged, so there is nothing to keep",
    "Leave it out.",
  );
  checkFiles(rules);
}
