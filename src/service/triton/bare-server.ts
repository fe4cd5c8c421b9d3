import { AnswerObject } from "../answer.ts";
import { unlessMissing } from "../missing-call.ts";
import type { Ask } from "../service.ts";
import type { TritonApi } from "./api.ts";
import type { TritonTargetPlan } from "./target.ts";

/** Servers of KServe's protocol that have nothing of Triton's extensions: MLServer, KServe's own, and others. */

/** What is known of one. */
export interface BareServer {
  readonly hasStatistics: boolean;
  /** It reads and writes tensors as JSON alone. */
  readonly needsJson: boolean;
  /** What the run has to do without, in sentences. */
  readonly warnings: readonly string[];
}

const NO_CONFIG =
  "the server does not tell the model's configuration: it is measured as a model without batches and sequences.";
const NO_STATISTICS = "the server has no statistics: its own times are not reported.";
const NEEDS_JSON =
  "the server does not list the extension binary_tensor_data: tensors are sent, and asked for, as JSON.";

/** Asks a server that told no configuration what it can do. */
export async function describeBareServer(
  { protocol }: Pick<TritonTargetPlan, "protocol">,
  api: TritonApi,
  ask: Ask,
): Promise<BareServer> {
  const told = await unlessMissing(ask(api.server(), "server metadata"));
  // Without a word about extensions binary tensors are tried: an answer says whether they were understood.
  const extensions = told === undefined ? undefined : AnswerObject.of(told, "server metadata").strings("extensions");
  const hasStatistics = extensions?.includes("statistics") === true;
  const needsJson = protocol === "http" && extensions?.includes("binary_tensor_data") === false;
  const warnings = [NO_CONFIG, ...(hasStatistics ? [] : [NO_STATISTICS]), ...(needsJson ? [NEEDS_JSON] : [])];
  return { hasStatistics, needsJson, warnings };
}
