import type { Problem } from "../../plan/problem.ts";
import { isDirectory } from "../output-files.ts";
import { OPTIONS } from "./options/table.ts";
import { type Settings, takesPayloads } from "./settings.ts";

/** The rules of `--service-kind openai`, whose requests are payloads from a file. */

/** What contradicts the kind of service, all of it; the original's words where it has them. */
export function checkOpenAi(settings: Settings): Problem[] {
  const { endpoint, target, isAsync } = settings;
  const problems: Problem[] = [];
  const rule = (isBroken: boolean, path: string, message: string, hint: string): void => {
    if (isBroken) problems.push({ path, message, hint });
  };
  if (!takesPayloads(settings)) {
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
    target.protocol === "grpc",
    "-i",
    "perf_analyzer does not support gRPC protocol with OpenAI endpoints",
    "Leave -i out: HTTP is the default.",
  );
  rule(
    !isAsync && !target.isStreaming,
    "--async",
    "Only async mode is currently supported for OpenAI service-kind",
    "Add --async.",
  );
  rule(
    target.batchSize !== 1,
    "-b",
    "Batching is not currently supported with OpenAI service-kind",
    "Leave -b out: a payload says itself how many items it has.",
  );
  problems.push(...checkPayloads(settings));
  for (const { names, isForTensors, isChanged } of OPTIONS) {
    const [flag] = names;
    const message = `${flag} has no meaning with --service-kind openai, whose payloads say all.`;
    rule(isForTensors === true && isChanged?.(settings) === true, flag, message, "Leave it out.");
  }
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
