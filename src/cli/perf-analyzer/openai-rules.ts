import type { Problem } from "../../plan/problem.ts";
import { isDirectory } from "../output-files.ts";
import type { Settings } from "./settings.ts";

/** The rules of `--service-kind openai`, whose requests are payloads from a file. */

const DEFAULT_STRING_LENGTH = 128;

/** What contradicts the kind of service, all of it; the original's words where it has them. */
export function checkOpenAi(settings: Settings): Problem[] {
  const { serviceKind, endpoint, protocol, isAsync, isStreaming } = settings;
  const problems: Problem[] = [];
  const rule = (isBroken: boolean, path: string, message: string, hint: string): void => {
    if (isBroken) problems.push({ path, message, hint });
  };
  if (serviceKind === "triton") {
    rule(endpoint !== "", "--endpoint", "--endpoint has no meaning for a Triton.", "Add --service-kind openai.");
    return problems;
  }
  rule(
    endpoint === "",
    "--endpoint",
    'Must supply --endpoint for OpenAI service kind. For example, "v1/chat/completions".',
    "Give the path that payloads go to.",
  );
  rule(
    protocol === "grpc",
    "-i",
    "perf_analyzer does not support gRPC protocol with OpenAI endpoints",
    "Leave -i out: HTTP is the default.",
  );
  rule(
    !isAsync && !isStreaming,
    "--async",
    "Only async mode is currently supported for OpenAI service-kind",
    "Add --async.",
  );
  rule(
    settings.batchSize !== 1,
    "-b",
    "Batching is not currently supported with OpenAI service-kind",
    "Leave -b out: a payload says itself how many items it has.",
  );
  problems.push(...checkPayloads(settings));
  for (const [flag, isGiven] of tensorFlags(settings))
    rule(isGiven, flag, `${flag} has no meaning with --service-kind openai, whose payloads say all.`, "Leave it out.");
  return problems;
}

function checkPayloads({ inputData }: Settings): Problem[] {
  const files = inputData.filter((path) => path !== "zero");
  const [file] = files;
  const hint = 'Give a JSON file such as {"data": [{"payload": [{"model": "m", "messages": […]}]}]}.';
  if (file === undefined || inputData.length > files.length)
    return [{ path: "--input-data", message: "Must supply --input-data for OpenAI service kind.", hint }];
  const folders = files.filter((path) => isDirectory(path));
  return folders.map((path) => ({
    path: "--input-data",
    message: "--service-kind openai takes files of payloads, not directories",
    value: path,
    hint,
  }));
}

/** Flags of tensors and of Triton itself. */
function tensorFlags(settings: Settings): (readonly [flag: string, isGiven: boolean])[] {
  const { sequences, trace } = settings;
  const isAny = (part: object): boolean => Object.keys(part).length > 0;
  return [
    ["-x", settings.modelVersion !== ""],
    ["--shape", isAny(settings.shapes)],
    ["--shared-memory", settings.sharedMemory !== "none"],
    ["--output-shared-memory-size", settings.outputSharedMemoryBytes !== undefined],
    ["--input-tensor-format", settings.inputTensorFormat !== "binary"],
    ["--output-tensor-format", settings.outputTensorFormat !== "binary"],
    ["--bls-composing-models", settings.composingModels.length > 0],
    ["--string-length", settings.stringLength !== DEFAULT_STRING_LENGTH],
    ["--string-data", settings.stringData !== ""],
    ["--sequence-length", sequences.length !== undefined],
    ["--serial-sequences", sequences.isSerial === true],
    ["--num-of-sequences", sequences.concurrent !== undefined],
    ["--sequence-id-range", sequences.startId !== undefined],
    ["--trace-level", isAny(trace)],
  ];
}
