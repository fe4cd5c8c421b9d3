import { isDirectory } from "../../../runtime/files.ts";
import { METHOD_NAME } from "../../../transport/request.ts";
import { isPathsOnly } from "../input-data.ts";
import { NO_STREAMS, noMetrics, noSharedMemory, type Rule } from "../rule.ts";
import type { Settings } from "../settings.ts";
import type { PerfAnalyzerKind } from "./kind.ts";

/** Methods of any gRPC service. */
export const dynamicGrpcKind: PerfAnalyzerKind = {
  help: "dynamic_grpc, a gRPC service of any kind, whose --grpc-method gets the messages of --input-data",
  features: ["method"],
  prepare: (settings) => {
    settings.target = {
      ...settings.target,
      protocol: "grpc",
      // perf_analyzer needs no model for this kind. Reports name the method.
      model: settings.target.model === "" ? settings.grpcMethod || "dynamic_grpc" : settings.target.model,
    };
  },
  rules: dynamicGrpcRules,
  toTarget: ({ grpcMethod, protoFiles, importPaths, target: { model, headers, compression } }, { url, tls }) => ({
    kind: "dynamic-grpc",
    url,
    protocol: "grpc",
    method: grpcMethod,
    protoFiles,
    importPaths,
    model,
    batchSize: 1,
    isStreaming: false,
    headers,
    compression,
    tls,
  }),
  toInputs: (_settings, messageFiles) => ({ kind: "messages", messageFiles, entries: [] }),
};

function dynamicGrpcRules(settings: Settings): Rule[] {
  const { grpcMethod, protoFiles, importPaths, target, inputData, isCollectingMetrics } = settings;
  const hasFiles = isPathsOnly(inputData);
  const dataHint =
    'Give a JSON file such as {"data": [{"messages": [{…}]}]} or {"data": [{"message_generator": "COMMAND"}]}.';
  return [
    [
      grpcMethod === "",
      "--grpc-method",
      "Must supply --grpc-method for dynamic gRPC service kind.",
      "Give the method to call, as package.Service/Method.",
    ],
    [
      grpcMethod !== "" && !METHOD_NAME.test(grpcMethod),
      "--grpc-method",
      "Failed to parse --grpc-method. The value must be package.Service/Method.",
      "Write for example --grpc-method inference.GRPCInferenceService/ServerLive.",
      grpcMethod,
    ],
    [target.isStreaming, "--streaming", NO_STREAMS, "Leave --streaming out: the method decides whether calls stream."],
    [
      target.batchSize !== 1,
      "-b",
      "Batching is not supported with dynamic gRPC service kind",
      "Leave -b out: the messages set the number of items.",
    ],
    noMetrics(isCollectingMetrics),
    noSharedMemory(target.sharedMemory, "DYNAMIC_GRPC"),
    [!hasFiles, "--input-data", "Must supply --input-data for dynamic gRPC service kind.", dataHint],
    ...inputData.map(
      (path): Rule => [
        hasFiles && isDirectory(path),
        "--input-data",
        "--service-kind dynamic_grpc takes files of messages, not directories",
        dataHint,
        path,
      ],
    ),
    ...importPaths.map(
      (folder): Rule => [
        !isDirectory(folder),
        "--proto-path",
        `--proto-path is not a folder: ${folder}`,
        "Give the folder that the names of imports start at.",
        folder,
      ],
    ),
    [
      importPaths.length > 0 && protoFiles.length === 0,
      "--proto-path",
      "--proto-path needs --proto.",
      "Give the .proto file too, or leave --proto-path out.",
    ],
  ];
}
