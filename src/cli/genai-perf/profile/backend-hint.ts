import { word } from "../../../plan/messages.ts";
import { type Problem, UserError, userError } from "../../../plan/problem.ts";
import { probeModels } from "../../../run/open/probe.ts";
import type { ProfilePlan } from "../plan/to-plan.ts";

/** Explains inputs that do not fit the model, such as a wrong `--backend`, in one problem instead of one for each tensor. */

const BACKENDS = ["tensorrtllm", "vllm"] as const;

/** Returns the backend whose models have these inputs; undefined for other inputs. */
export function backendOf(inputs: readonly string[]): (typeof BACKENDS)[number] | undefined {
  if (!inputs.includes("text_input")) return undefined;
  if (inputs.includes("max_tokens")) return "tensorrtllm";
  return inputs.includes("sampling_parameters") || inputs.includes("exclude_input_in_output") ? "vllm" : undefined;
}

/**
 * Replaces an error about inputs for the wrong backend by a single problem, which names the right backend, or says that no backend of
 * genai-perf has these inputs. Reports inputs that an engine of TensorRT-LLM lacks only once. Returns other errors unchanged.
 */
export async function explainBackend(error: unknown, plan: ProfilePlan): Promise<unknown> {
  const { target, client, requests, outputs } = plan;
  const { body, file } = requests;
  if (body.kind === "token-ids") return explainTensors(error, outputs.genaiPerf.endpointType, file);
  const backend = body.kind === "format" ? BACKENDS.find((known) => known === body.format) : undefined;
  if (backend === undefined || !("model" in target) || !isAboutInputs(error, file)) return error;
  const models = await probeModels(target, client).catch(() => []);
  const model = models.find(({ name }) => name === target.model);
  if (model === undefined) return error;
  const inputs = model.inputs.map(({ name }) => name);
  const right = backendOf(inputs);
  if (right === backend) return error;
  const message = `the model ${model.name} takes ${inputs.join(", ")}, which is not what --backend ${backend} sends`;
  const hint =
    right === undefined
      ? `Its backend is neither ${BACKENDS.join(" nor ")}: measure it with rampart perf_analyzer.`
      : `Give --backend ${right}.`;
  return userError("mismatch", "--backend", message, hint);
}

/** Input that identifies a model with token ids. */
const IDS = "input_ids";

/** Reports each problem once, because every entry has the same tensors. A model without token ids is a single problem. */
function explainTensors(error: unknown, type: string, inputsFile: string): unknown {
  if (!isAboutInputs(error, inputsFile)) return error;
  const first = new Map<string, Problem>();
  for (const problem of error.problems) {
    const tensor = word(problem.path).replace(/^.*, data\[\d+\]\.?/s, "");
    if (tensor !== "" && !first.has(tensor)) first.set(tensor, problem);
  }
  const wrong = first.get(IDS);
  if (wrong === undefined) return first.size === 0 ? error : new UserError([...first.values()]);
  const message = `the model has no input ${IDS}: the endpoint type ${type} sends the ids of tokens to engines of TensorRT-LLM`;
  const hint = [wrong.hint, " Measure it with rampart perf_analyzer --service-kind triton_c_api."];
  return userError("mismatch", "-m", message, hint);
}

function isAboutInputs(error: unknown, inputsFile: string): error is UserError {
  return error instanceof UserError && error.problems.every(({ path }) => word(path).startsWith(`${inputsFile},`));
}
