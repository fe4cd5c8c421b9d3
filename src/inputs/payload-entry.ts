import { notJson } from "../plan/problem.ts";
import { parseJson } from "../service/json-text.ts";
import type { DataStep } from "./dataset.ts";

/** The send time of a step, or its session and delay. */
export type StepFacts = Pick<DataStep, "timestampMs" | "sessionId" | "delayMs">;

/** A payload that is stored, which makes a step of its own. */
export interface StoredPayload {
  toStep(facts: StepFacts): DataStep;
}

/** What an entry of a file says: its payload, undefined where it has none, and all beside it. */
export interface PayloadEntry {
  readonly payload: Uint8Array | StoredPayload | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** @param toPayload makes a body into bytes, or what stands for them */
export function toEntry<P extends Uint8Array | StoredPayload>(
  entry: unknown,
  toPayload: (body: object) => P,
): PayloadEntry & { readonly payload: P | undefined } {
  const fields = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const { payload } = fields;
  const body = Array.isArray(payload) ? (payload[0] as unknown) : undefined;
  return { fields, payload: typeof body === "object" && body !== null ? toPayload(body) : undefined };
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
