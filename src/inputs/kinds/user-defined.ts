import * as v from "valibot";
import { functionOf, functionSchema } from "../../plan/functions.ts";
import { UserError, userError } from "../../plan/problem.ts";
import { atLeast, type PlanOf } from "../../plan/schema.ts";
import { joinBytes } from "../../runtime/bytes.ts";
import { encodeInput } from "../../service/user-defined/encode.ts";
import type { EncodeInput, MakeInputs } from "../../service/user-defined/functions.ts";
import { describeUserError } from "../../service/user-defined/user-error.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { DataStep, Dataset } from "../dataset.ts";
import type { InputKind } from "../input-kind.ts";
import { toPayloadStep } from "../payload-entry.ts";

/** Inputs of a type that a scenario defines. The scenario's function encodes them. */
export type CustomInputsPlan = PlanOf<typeof schema>;

const schema = () =>
  v.object({
    kind: v.literal("user-defined"),
    /** A {@link MakeInputs}: returns the inputs. */
    values: functionSchema(),
    /** An {@link EncodeInput}: encodes one of them. */
    encode: functionSchema(),
    /** The protocol of the encoded requests. */
    protocol: v.picklist(["http", "grpc", "grpc-call"]),
    /** Maximum number of inputs to take. They repeat if the load needs more. */
    count: v.pipe(v.number(), v.integer(), atLeast(1)),
  });

export const customInputs: InputKind<CustomInputsPlan> = {
  schema,
  makes: "payloads",
  isInOrder: () => true,
  lacksSessions: {
    message:
      "the requests of defineTarget(…) are all encoded before the first one is sent, so no turn can depend on a response",
    hint: "Use hold(…) or another load, or openai(…) for conversations.",
  },
  load: loadCustomInputs,
};

/** Returns the bytes of a request that exports show. */
function payloadOf({ payload, messages }: WireRequest): Uint8Array {
  return messages === undefined ? payload : joinBytes([...messages]);
}

/**
 * Takes the inputs from a scenario's function and encodes each once.
 * @throws UserError if a function throws, or if there is no input
 */
async function loadCustomInputs({ values, encode, protocol, count }: CustomInputsPlan): Promise<Dataset> {
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
