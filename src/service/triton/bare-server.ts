import { AnswerObject } from "../answer.ts";
import { unlessMissing } from "../missing-call.ts";
import type { Ask } from "../service.ts";
import type { TritonApi } from "./api.ts";
import type { TritonTargetPlan } from "./target.ts";

/** Capabilities of a KServe server without Triton's extensions, such as MLServer. */
export interface BareServer {
  readonly hasStatistics: boolean;
  /** Whether it does not list the extension for binary tensors. */
  readonly needsJson: boolean;
  /** Describe what the run lacks, one sentence each. */
  readonly warnings: readonly string[];
}

const NO_CONFIG =
  "the server does not report the model's configuration: the model is measured without batches and sequences.";
const NO_STATISTICS = "the server has no statistics: its own times are not reported.";
const NEEDS_JSON = "the server does not list the extension binary_tensor_data: tensors are";

const JSON_TENSORS = [
  ["input", "sent"],
  ["output", "requested"],
] as const;

/** Queries a server without model configurations for its capabilities. */
export async function describeBareServer(
  { protocol, binaryTensors = [] }: Pick<TritonTargetPlan, "protocol" | "binaryTensors">,
  api: TritonApi,
  ask: Ask,
): Promise<BareServer> {
  const answer = await unlessMissing(ask(api.server(), "server metadata"));
  // Without a list of extensions, try binary tensors: the response shows whether the server understands them.
  const extensions =
    answer === undefined ? undefined : AnswerObject.of(answer, "server metadata").strings("extensions");
  const hasStatistics = extensions?.includes("statistics") === true;
  const needsJson = protocol === "http" && extensions?.includes("binary_tensor_data") === false;
  const warnings = [NO_CONFIG, ...(hasStatistics ? [] : [NO_STATISTICS])];
  const asJson = JSON_TENSORS.filter(([format]) => !binaryTensors.includes(format)).map(([, verb]) => verb);
  if (needsJson && asJson.length > 0) warnings.push(`${NEEDS_JSON} ${asJson.join(" and ")} as JSON.`);
  return { hasStatistics, needsJson, warnings };
}
