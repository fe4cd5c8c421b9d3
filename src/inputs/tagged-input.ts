import { TARGET_TAG, type Tags } from "../plan/groups/tags.ts";
import { toPlainNumber } from "../service/json-text.ts";

/** A tensor of an input. */
export interface TaggedTensor {
  /** Dimensions without the batch dimension, if the data gives them. */
  readonly shape: readonly number[] | undefined;
  /** Little-endian elements; of BYTES, each with its length in front. */
  readonly bytes: Uint8Array;
}

/** An input as functions for `tags` see it. Values are read when they are used. */
export interface TaggedInput {
  /** Its number in the data of its target, from 0. */
  readonly index: number;
  /** The tags that the data gives it. */
  readonly tags: Tags;
  /** Name of the target that it is for, in a mix; otherwise empty. */
  readonly target: string;
  /** Tokens of its text, counted with the tokenizer of its target. Using it without a tokenizer is an error. */
  readonly isl: number;
  /** Body of its request, parsed; undefined when it is not JSON. */
  readonly body: unknown;
  /** Bytes of the body; 0 for tensors. */
  readonly bodyBytes: number;
  /** Its tensors by name; empty for payloads. */
  readonly tensors: Readonly<Record<string, TaggedTensor>>;
  /** What it was made from: an input of a target of `defineTarget`. Otherwise undefined. */
  readonly origin: unknown;
}

/** The field of an entry with its tags. */
export const TAGS_FIELD = "tags";

/** How to write the tags of an entry. */
export const TAGS_HINT = `Write texts, numbers or booleans by the tag's name: "${TAGS_FIELD}": {"length": "long"}.`;

/** Reads the tags of an entry; undefined when they are not tags. */
export function readTags(value: unknown): Tags | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value).map(([name, one]): [string, unknown] => [name, toPlainNumber(one)]);
  const isGood = entries.every(
    ([name, one]) => name !== "" && name !== TARGET_TAG && ["string", "number", "boolean"].includes(typeof one),
  );
  return isGood ? Object.fromEntries(entries.map(([name, one]) => [name, String(one)])) : undefined;
}

/** Tags that a function returns. Numbers and booleans become text. */
export type GivenTags = Readonly<Record<string, string | number | boolean>>;

/** Returns the tags of an input. */
export type TagInput = (input: TaggedInput) => GivenTags;
