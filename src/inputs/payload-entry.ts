import { messageOf, UserError } from "../plan/problem.ts";
import { parseJson } from "../service/json-text.ts";
import type { DataStep, StepInputs } from "./dataset.ts";

/** The send time of a step, or its session and delay. */
export type StepFacts = Pick<DataStep, "timestampMs" | "sessionId" | "delayMs">;

/** A payload as inputs. A stored payload creates its own step. */
export type PayloadInputs = StepInputs & { toStep?(facts: StepFacts): DataStep };

/** An entry of a payload file: the inputs of its payload, undefined when it has none, and its other fields. */
export interface PayloadEntry {
  readonly inputs: PayloadInputs | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Reads an entry. @param toInputs creates the inputs of a payload */
export function toEntry(entry: unknown, toInputs: (body: object) => PayloadInputs): PayloadEntry {
  const fields = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const { payload } = fields;
  const body = Array.isArray(payload) ? (payload[0] as unknown) : undefined;
  return { fields, inputs: typeof body === "object" && body !== null ? toInputs(body) : undefined };
}

/** Parses a line, which is an entry or a request body. @throws UserError */
export function parseLine(line: string, place: string): unknown {
  try {
    const entry = parseJson(line);
    return typeof entry === "object" && entry !== null && "payload" in entry ? entry : { payload: [entry] };
  } catch (error) {
    throw new UserError([{ path: place, message: `is not JSON: ${messageOf(error)}`, hint: "Correct it." }]);
  }
}
