import { type FunctionPlan, functionOf } from "../plan/functions.ts";
import { UserError, userError } from "../plan/problem.ts";
import { joinBytes } from "../service/tensor.ts";
import { encodeInput } from "../service/user-defined/encode.ts";
import type { EncodeInput, MakeInputs } from "../service/user-defined/functions.ts";
import { describeUserError } from "../service/user-defined/user-error.ts";
import type { WireRequest } from "../transport/request.ts";
import type { DataStep, Dataset } from "./dataset.ts";
import { toPayloadStep } from "./payload-entry.ts";

/** Where inputs come from, and how they become requests. */
export interface CustomInputsSource {
  /** A {@link MakeInputs}. */
  readonly values: FunctionPlan;
  /** An {@link EncodeInput}. */
  readonly encode: FunctionPlan;
  readonly protocol: "http" | "grpc" | "grpc-call";
  /** Most inputs to take. */
  readonly count: number;
}

/** Returns what exports show of a request. */
function payloadOf({ payload, messages }: WireRequest): Uint8Array {
  return messages === undefined ? payload : joinBytes([...messages]);
}

/**
 * Takes the inputs from a scenario's function and encodes each once.
 * @throws UserError when a function throws, or there is no input
 */
export async function loadCustomInputs({ values, encode, protocol, count }: CustomInputsSource): Promise<Dataset> {
  const encodeOne = functionOf<EncodeInput<unknown>>(encode);
  const steps: DataStep[] = [];
  try {
    for await (const input of functionOf<MakeInputs<unknown>>(values)()) {
      const origin = await encodeInput(protocol, encodeOne, input, steps.length);
      steps.push(toPayloadStep(payloadOf(origin.request), { place: `input ${steps.length}`, origin }));
      if (steps.length === count) break;
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    const hint = "Correct it in the scenario: it must return a list, or yield the inputs.";
    throw userError("invalid-value", "target.inputs", `throws: ${describeUserError(error)}`, hint);
  }
  if (steps.length === 0) throw userError("missing", "target.inputs", "has no input", "Give at least one.");
  return { streams: [steps], isFromJson: true, warnings: [] };
}
