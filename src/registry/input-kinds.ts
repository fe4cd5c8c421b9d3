import type { Dataset } from "../inputs/dataset.ts";
import type { HeldEntries } from "../inputs/held-entries.ts";
import type { InputKind } from "../inputs/input-kind.ts";
import { chainInputs } from "../inputs/kinds/chain.ts";
import { directoryInputs } from "../inputs/kinds/directory.ts";
import { fileListsInputs } from "../inputs/kinds/file-lists.ts";
import { filesInputs } from "../inputs/kinds/files.ts";
import { madePayloadInputs, madeTensorInputs } from "../inputs/kinds/generate.ts";
import { jsonInputs } from "../inputs/kinds/json.ts";
import { messagesInputs } from "../inputs/kinds/messages.ts";
import { memberInputs } from "../inputs/kinds/of-members.ts";
import { payloadsInputs } from "../inputs/kinds/payloads.ts";
import { promptsInputs } from "../inputs/kinds/prompts.ts";
import { randomInputs, zeroInputs } from "../inputs/kinds/random.ts";
import { requestsInputs } from "../inputs/kinds/requests.ts";
import { customInputs } from "../inputs/kinds/user-defined.ts";
import type { InputsPlan, Plan } from "../plan/plan.ts";
import { type Problem, UserError } from "../plan/problem.ts";
import type { PlansOf } from "../plan/schema.ts";
import { type ModelInfo, modelNamed } from "../service/service.ts";
import { loadModeOf } from "./load-modes.ts";

/** The sources of data, by the `kind` of their part of the plan. To add one, add a file and a line here. */
export const INPUT_KINDS = {
  random: randomInputs,
  zero: zeroInputs,
  json: jsonInputs,
  directory: directoryInputs,
  payloads: payloadsInputs,
  prompts: promptsInputs,
  files: filesInputs,
  "file-lists": fileListsInputs,
  messages: messagesInputs,
  "http-requests": requestsInputs,
  "http-chain": chainInputs,
  "user-defined": customInputs,
  "of-members": memberInputs,
  "made-tensors": madeTensorInputs,
  "made-payloads": madePayloadInputs,
};

declare module "../plan/plan.ts" {
  interface InputsPlans extends PlansOf<typeof INPUT_KINDS> {}
}

/** Returns the source of inputs. */
export function inputKindOf(inputs: InputsPlan): InputKind<InputsPlan> {
  return INPUT_KINDS[inputs.kind] as InputKind<InputsPlan>;
}

export function checkOrder({ inputs, load }: Pick<Plan, "inputs" | "load">): Problem[] {
  const { dataOrder = "in-turn", lacksOrder } = loadModeOf(load);
  const { orders, lacksSessions, needsSessions } = inputKindOf(inputs);
  if (needsSessions !== undefined && dataOrder !== "in-sessions")
    return [{ code: "conflict", path: "load", ...needsSessions }];
  if (lacksOrder === undefined || (orders?.(inputs) ?? ["in-turn"]).includes(dataOrder)) return [];
  return [{ ...lacksOrder, ...(dataOrder === "in-sessions" ? lacksSessions : {}) }];
}

/**
 * Loads a plan's data. Throws `UserError` if the data does not fit the model, lacks the send times for a load that follows
 * them, or has fewer sessions than the load keeps open at once.
 * @param held the entries of the plan's input file; default: the file is read
 */
export async function loadInputs(plan: Plan, model: ModelInfo, held?: HeldEntries): Promise<Dataset> {
  const problems = checkOrder(plan);
  if (problems.length > 0) throw new UserError(problems);
  const { inputs, load } = plan;
  const mode = loadModeOf(load);
  const data = await inputKindOf(inputs).load(inputs, model, mode.dataOrder ?? "in-turn", held);
  return mode.takeData?.(load, data) ?? data;
}

/** Returns a plan's data for other senders, if it is made once; undefined if each sender loads it. */
export function holdInputs({ inputs }: Plan, data: Dataset): HeldEntries | undefined {
  return inputKindOf(inputs).hold?.(data);
}

/** Loads data that does not depend on a model, like {@link loadInputs}. Returns undefined for other data. */
export function loadInputsEarly(plan: Plan, held?: HeldEntries): Promise<Dataset> | undefined {
  return inputKindOf(plan.inputs).needsNoModel === true ? loadInputs(plan, modelNamed(""), held) : undefined;
}
