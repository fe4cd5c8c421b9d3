import { messageOf, UserError } from "../plan/problem.ts";
import { parseJson } from "../service/json-text.ts";
import type { DataStep, StepInputs } from "./dataset.ts";

/** The entries of payload files. */

/** When a step is due, or which session's turn it is. */
export type StepFacts = Pick<DataStep, "timestampMs" | "sessionId" | "delayMs">;

/** A payload as inputs; what is stored makes a step of its own. */
export type PayloadInputs = StepInputs & { toStep?(facts: StepFacts): DataStep };

/** What an entry of a file says: its payload as inputs, undefined where it has none, and all beside it. */
export interface PayloadEntry {
  readonly inputs: PayloadInputs | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** @param toInputs makes the inputs of a payload, or what stands for it */
export function toEntry(entry: unknown, toInputs: (body: object) => PayloadInputs): PayloadEntry {
  const fields = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const { payload } = fields;
  const body = Array.isArray(payload) ? (payload[0] as unknown) : undefined;
  return { fields, inputs: typeof body === "object" && body !== null ? toInputs(body) : undefined };
}

/** An entry from a line, which may be a body alone. Throws {@link UserError}. */
export function parseLine(line: string, place: string): unknown {
  try {
    const entry = parseJson(line);
    return typeof entry === "object" && entry !== null && "payload" in entry ? entry : { payload: [entry] };
  } catch (error) {
    throw new UserError([{ path: place, message: `is not JSON: ${messageOf(error)}`, hint: "Correct it." }]);
  }
}
