import { isDirectory } from "../../../runtime/files.ts";
import { DEFAULT_PART, type TorchServeTargetPlan } from "../../../service/torchserve/target.ts";
import { isPathsOnly } from "../input-data.ts";
import { NO_STREAMS, noMetrics, noSharedMemory, type Rule } from "../rule.ts";
import type { Settings } from "../settings.ts";
import type { PerfAnalyzerKind } from "./kind.ts";

/** Key of input data whose value is the path of a file. */
const INPUT_KEY = "TORCHSERVE_INPUT";
const LEAVE_OUT = "Leave it out.";

/** TorchServe. */
export const torchServeKind: PerfAnalyzerKind = {
  help: `torchserve, which gets the files that a JSON file of --input-data names: {"data": [{"${INPUT_KEY}": ["cat.jpg"]}]}`,
  features: ["versions"],
  rules: torchServeRules,
  toTarget: ({ target: { model, modelVersion, headers } }, { url, tls }) => ({
    kind: "torchserve",
    url,
    protocol: "http",
    model,
    modelVersion,
    body: { kind: "multipart", part: DEFAULT_PART },
    batchSize: 1,
    isStreaming: false,
    headers,
    tls,
  }),
  toInputs: (_settings, files) => ({ kind: "file-lists", files, key: INPUT_KEY }),
  notes: (target) => {
    const { body, managementUrl } = target as TorchServeTargetPlan;
    return [
      ...("part" in body && body.part === DEFAULT_PART ? [] : ["flags send each file as the part 'data' of a form"]),
      ...(managementUrl === undefined ? [] : ["flags find the management API at the server's next port"]),
    ];
  },
  wordFailure: ({ message, status }) =>
    status === undefined ? message : message.replace(/^HTTP status (\d+)/, "inference failed with error code $1"),
};

function torchServeRules({ target, isCollectingMetrics, inputData }: Settings): Rule[] {
  const isWithoutJson = !isPathsOnly(inputData) || inputData.some(isDirectory);
  return [
    [
      isWithoutJson,
      "--input-data",
      "--input-data should be provided with a json file with input data for torchserve.",
      `Give a JSON file such as {"data": [{"${INPUT_KEY}": ["cat.jpg"]}]}, with paths relative to the working directory.`,
    ],
    [
      target.protocol === "grpc",
      "-i",
      "perf_analyzer does not support gRPC protocol with TorchServe",
      "Leave -i out: HTTP is the default.",
    ],
    [target.isStreaming, "--streaming", NO_STREAMS, LEAVE_OUT],
    [
      target.batchSize !== 1,
      "-b",
      "-b cannot be used with --service-kind torchserve, where a request carries one input",
      "Leave -b out. TorchServe joins requests into batches by itself (its batchSize and maxBatchDelay): give it more at once with --concurrency-range.",
      String(target.batchSize),
    ],
    noSharedMemory(target.sharedMemory, "TORCHSERVE"),
    noMetrics(isCollectingMetrics, LEAVE_OUT),
  ];
}
