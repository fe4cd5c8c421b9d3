import type { Tags } from "../plan/groups/tags.ts";
import type { ThinkTimePlan } from "../plan/load-options.ts";
import type { Text } from "../plan/messages.ts";
import type { Payload } from "../service/content.ts";

/** The data from which requests are made: streams of steps. A step has the tensors of one batch item, or a payload. */

/** The data of one input or expected output for one batch item. */
export interface StepTensor {
  readonly bytes: Uint8Array;
  /** Dimensions without the batch dimension, if the step sets them. */
  readonly shape?: readonly number[] | undefined;
}

/** A step's inputs by name. Stored inputs are read from the file on each call. */
export type StepInputs = Pick<ReadonlyMap<string, StepTensor>, "get" | "keys">;

/** Empty tensors of a payload. */
export const NO_TENSORS: ReadonlyMap<string, StepTensor> = new Map();

/** One batch item: its inputs and its expected outputs. */
export interface DataStep extends Pick<Payload, "messages" | "request" | "origin"> {
  /** Empty for requests with payloads. */
  readonly inputs: StepInputs;
  /** The bytes of the payload, for requests with payloads. A stored payload is read on each access. */
  readonly payload?: Uint8Array;
  /** Expected outputs by name; empty without validation. */
  readonly expected: ReadonlyMap<string, StepTensor>;
  /** Time to send the step, in milliseconds since the load began; only for a load that follows the data. */
  readonly timestampMs?: number;
  /** Session of the step; only for a load of sessions. */
  readonly sessionId?: string;
  /** Delay between the response and the session's next turn, in milliseconds. Default: 0. */
  readonly delayMs?: number;
  /** Time between the response and the same user's next turn, instead of `delayMs`; drawn when it begins. */
  readonly thinkTime?: ThinkTimePlan;
  /** Whether the headers of the response are needed. Default: false. */
  readonly readsHeaders?: boolean;
  /** Labels by which reports split metrics. Absent: none. */
  readonly tags?: Tags;
  /** Place in the data, such as `inputs.json, data[2]`; absent for generated data. */
  readonly place?: string;
}

/** Returns a copy of the step with another time, and with the same class. */
export function moveStep(step: DataStep, timestampMs: number): DataStep {
  return Object.assign(Object.create(Object.getPrototypeOf(step) as object) as DataStep, step, { timestampMs });
}

/** The order in which a load sends steps: in turn, starting over at the end; each at its timestamp; or as turns of sessions. */
export type DataOrder = "in-turn" | "at-times" | "in-sessions";

/**
 * All data of a run: streams of steps. Models without sequences use only the first stream; a load of sessions has one stream per session.
 */
export interface Dataset {
  readonly streams: readonly (readonly DataStep[])[];
  /** True when the data comes from JSON files, so that steps rotate. */
  readonly isFromJson: boolean;
  /** True when inputs are read from a file on each access, so that they must not all be kept in memory. Default: false. */
  readonly isStored?: boolean;
  /** Whether any step of stored data has expected outputs; other data is searched for them. Default: false. */
  readonly hasExpected?: boolean;
  /**
   * Whether the number of sessions was given, or is a default that a load with more users raises. Absent: the data determines
   * it.
   */
  readonly sessionCount?: "given" | "default";
  /** Number of users who take turns if sessions begin at a rate. Default: 1. */
  readonly userCount?: number;
  /** Whether any step has tags. Default: false. */
  readonly hasTags?: boolean;
  /** Warnings, one sentence each. */
  readonly warnings: readonly Text[];
}
