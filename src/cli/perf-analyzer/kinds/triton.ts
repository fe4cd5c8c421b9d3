import { NO_STREAMS } from "../rule.ts";
import type { Settings } from "../settings.ts";
import type { PerfAnalyzerKind } from "./kind.ts";

/** Triton, and other servers with the KServe v2 protocol. */
export const tritonKind: PerfAnalyzerKind = {
  help: "triton, or another server with the KServe v2 protocol",
  features: ["sequences", "tensors", "triton", "versions"],
  rules: ({ target: { isStreaming, protocol } }) => [
    [isStreaming && protocol !== "grpc", "--streaming", NO_STREAMS, "Add -i grpc."],
  ],
  toTarget: (settings, { url, tls }) => {
    const { directory: _, modelRepository: __, ...target } = settings.target;
    const binaryTensors = binaryTensorsOf(settings);
    return { ...target, url, tls, ...(binaryTensors.length === 0 ? {} : { binaryTensors }) };
  },
};

/** Returns the tensors for which the user asked for binary data. */
export function binaryTensorsOf({ given, target }: Settings): ("input" | "output")[] {
  const { inputTensorFormat, outputTensorFormat } = target;
  const binaryTensors: ("input" | "output")[] = [];
  if (given.has("--input-tensor-format") && inputTensorFormat === "binary") binaryTensors.push("input");
  if (given.has("--output-tensor-format") && outputTensorFormat === "binary") binaryTensors.push("output");
  return binaryTensors;
}
