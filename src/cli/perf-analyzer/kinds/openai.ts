import { isDirectory } from "../../../runtime/files.ts";
import { PAYLOAD_PATH } from "../../../service/openai/target.ts";
import { isPathsOnly } from "../input-data.ts";
import { noSharedMemory, type Rule } from "../rule.ts";
import type { Settings } from "../settings.ts";
import type { PerfAnalyzerKind } from "./kind.ts";

/** Servers of generative models with JSON payloads over HTTP. */
export const openAiKind: PerfAnalyzerKind = {
  help: "openai, which gets the payloads of --input-data at --endpoint and streams where a payload asks for it",
  features: ["endpoint"],
  hasSessions: true,
  rules: openAiRules,
  toTarget: ({ endpoint, target: { model, isStreaming, headers } }, { url, tls }) => ({
    kind: "openai",
    url,
    protocol: "http",
    endpoint,
    model,
    batchSize: 1,
    isStreaming,
    headers,
    tls,
  }),
  toInputs: (_settings, [file = "", ...moreFiles]) => ({
    kind: "payloads",
    file,
    ...(moreFiles.length === 0 ? {} : { moreFiles }),
    refusesLoadFields: true,
  }),
  // perf_analyzer has no message for an error within a response of status 200, because it counts that as a success.
  wordFailure: ({ message, status, response = "" }) =>
    status === undefined ? message : `OpenAI response returns HTTP code ${status}: ${response}`,
};

function openAiRules(settings: Settings): Rule[] {
  const { endpoint, target, isAsync } = settings;
  return [
    [
      endpoint === "",
      "--endpoint",
      'Must supply --endpoint for OpenAI service kind. For example, "v1/chat/completions".',
      "Give the path that payloads go to.",
    ],
    [
      endpoint !== "" && !PAYLOAD_PATH.test(endpoint),
      "--endpoint",
      "--endpoint must be a path without blanks and '#'",
      "Give the path that payloads go to, such as v1/chat/completions.",
      endpoint,
    ],
    [
      target.protocol === "grpc",
      "-i",
      "perf_analyzer does not support gRPC protocol with OpenAI endpoints",
      "Leave -i out: HTTP is the default.",
    ],
    [
      !isAsync && !target.isStreaming,
      "--async",
      "Only async mode is currently supported for OpenAI service-kind",
      "Add --async.",
    ],
    [
      target.batchSize !== 1,
      "-b",
      "Batching is not currently supported with OpenAI service-kind",
      "Leave -b out: the payload sets the number of items.",
    ],
    noSharedMemory(target.sharedMemory, "OPENAI"),
    ...payloadRules(settings),
  ];
}

function payloadRules({ inputData }: Settings): Rule[] {
  const hint = 'Give a JSON file such as {"data": [{"payload": [{"model": "m", "messages": […]}]}]}.';
  const hasFiles = isPathsOnly(inputData);
  const message = "--service-kind openai takes files of payloads, not directories";
  return [
    [!hasFiles, "--input-data", "Must supply --input-data for OpenAI service kind.", hint],
    ...inputData.map((path): Rule => [hasFiles && isDirectory(path), "--input-data", message, hint, path]),
  ];
}
