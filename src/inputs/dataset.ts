/** The data requests are made of: streams of steps, each the tensors of one batch item, or a payload. */

/** One input's or expected output's data for one batch item. */
export interface StepTensor {
  readonly bytes: Uint8Array;
  /** Dimensions without the batch dimension, where the step gives its own. */
  readonly shape?: readonly number[] | undefined;
}

/** A step's inputs by name. Those that are stored are read each time. */
export type StepInputs = Pick<ReadonlyMap<string, StepTensor>, "get" | "keys">;

/** No tensors, of which a payload has none. */
export const NO_TENSORS: ReadonlyMap<string, StepTensor> = new Map();

/** One batch item: what is sent, and what must come back. */
export interface DataStep {
  /** Empty where requests are payloads. */
  readonly inputs: StepInputs;
  /** The request's body, where requests are payloads. One that is stored is read each time. */
  readonly payload?: Uint8Array;
  /** Expected outputs by name; empty when nothing is validated. */
  readonly expected: ReadonlyMap<string, StepTensor>;
  /** When it is due, in milliseconds since the load began; only where the load follows the data. */
  readonly timestampMs?: number;
  /** The session it is a turn of; only where the load holds sessions. */
  readonly sessionId?: string;
  /** From its answer to its session's next turn, in milliseconds; default 0. */
  readonly delayMs?: number;
  /** Where it was read: `inputs.json, data[2]`; absent for data that was made up. */
  readonly place?: string;
}

/** The step with another time, whatever kind it is. */
export function moveStep(step: DataStep, timestampMs: number): DataStep {
  return Object.assign(Object.create(Object.getPrototypeOf(step) as object) as DataStep, step, { timestampMs });
}

/** Which steps a load sends when: one after the other and over again, each at its own time, or as turns of their sessions. */
export type DataOrder = "in-turn" | "at-times" | "in-sessions";

/** All data of a run. Models without sequences use the first stream only, but for sessions: each is a stream. */
export interface Dataset {
  readonly streams: readonly (readonly DataStep[])[];
  /** True when the data was read from JSON files, and steps therefore rotate. */
  readonly isFromJson: boolean;
  /** Inputs are read from a file each time they are asked for, so that nobody may keep all of them. Default false. */
  readonly isStored?: boolean;
  /** Whether any step of stored data has expected outputs; other data is looked through. Default false. */
  readonly hasExpected?: boolean;
  /** Things the user should know, one sentence each. */
  readonly warnings: readonly string[];
}
