import { notJson, userError } from "../plan/problem.ts";
import { encoder } from "../runtime/text.ts";
import { formatJson, parseJson } from "../service/json-text.ts";
import { type DataStep, NO_TENSORS } from "./dataset.ts";

/** The send time of a step, or its session and delay. */
export type StepFacts = Pick<DataStep, "timestampMs" | "sessionId" | "delayMs" | "tags">;

/** Content of an entry: its payload (a step, if it is read later; undefined, if there is none), and its other fields. */
export interface PayloadEntry {
  readonly payload: Uint8Array | DataStep | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  /** True if its list of payloads has more than one. Absent: false. */
  readonly hasSeveral?: true;
}

/** @param toPayload converts a body to bytes, or to a placeholder for them */
export function toEntry<P extends Uint8Array | DataStep>(
  entry: unknown,
  toPayload: (body: object) => P,
): PayloadEntry & { readonly payload: P | undefined } {
  const fields = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const { payload } = fields;
  const [body, ...more] = Array.isArray(payload) ? (payload as readonly unknown[]) : [];
  return {
    fields,
    payload: typeof body === "object" && body !== null ? toPayload(body) : undefined,
    ...(more.length > 0 ? { hasSeveral: true } : {}),
  };
}

/** Parses a line, which is an entry or a request body. @throws UserError */
export function parseLine(line: string, place: string): unknown {
  try {
    const entry = parseJson(line);
    return typeof entry === "object" && entry !== null && "payload" in entry ? entry : { payload: [entry] };
  } catch (error) {
    throw notJson(place, error);
  }
}

/** @throws UserError if a key beside `data` is `validation_data`, which is only for tensors */
export function refuseValidation(path: string, key: string): void {
  if (key !== "validation_data") return;
  const hint = "Leave validation_data out. A scenario can judge responses with check.";
  throw userError("unsupported", `${path}, ${key}`, "only responses of tensors are compared with expected ones", hint);
}

/** Returns a body as the payload of a request: compact JSON. */
export function toPayload(body: object): Uint8Array {
  return encoder.encode(formatJson(body));
}

export function toPayloadStep(payload: Uint8Array, facts: Omit<DataStep, "payload" | "inputs" | "expected">): DataStep {
  return { payload, inputs: NO_TENSORS, expected: NO_TENSORS, ...facts };
}
