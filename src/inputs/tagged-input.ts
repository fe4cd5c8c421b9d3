import { reservedFor, type Tags } from "../plan/groups/tags.ts";
import { toPlainNumber } from "../service/json-text.ts";

/** A tensor of an input. */
export interface TaggedTensor {
  /** Dimensions without the batch dimension, if the data contains them. */
  readonly shape: readonly number[] | undefined;
  /** Little-endian elements; each element of BYTES follows its length. */
  readonly bytes: Uint8Array;
}

/** An input, as functions for `tags` see it. Values are read when they are used. */
export interface TaggedInput {
  /** Number of the input in the data of its target, from 0. */
  readonly index: number;
  /** Tags from the data. */
  readonly tags: Tags;
  /** Name of the input's target in a mix; otherwise empty. */
  readonly target: string;
  /** Number of tokens in its text, counted with the target's tokenizer. Using this without a tokenizer is an error. */
  readonly isl: number;
  /** Body of its request, parsed; undefined if it is not JSON. */
  readonly body: unknown;
  /** Bytes of the body; 0 for tensors. */
  readonly bodyBytes: number;
  /** The input's tensors by name; empty for payloads. */
  readonly tensors: Readonly<Record<string, TaggedTensor>>;
  /** Source of the request: an input of a target of `defineTarget`. Otherwise undefined. */
  readonly origin: unknown;
}

/** The field of an entry for its tags. */
export const TAGS_FIELD = "tags";

/** Hint for writing the tags of an entry. */
export const TAGS_HINT = `Write texts, numbers or booleans by the tag's name: "${TAGS_FIELD}": {"length": "long"}.`;

/** Reads the tags of an entry; undefined if they are not valid tags. */
export function readTags(value: unknown): Tags | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value).map(([name, one]): [string, unknown] => [name, toPlainNumber(one)]);
  const isGood = entries.every(
    ([name, one]) =>
      name !== "" && reservedFor(name) === undefined && ["string", "number", "boolean"].includes(typeof one),
  );
  return isGood ? Object.fromEntries(entries.map(([name, one]) => [name, String(one)])) : undefined;
}

/** Tags that a function returns. Numbers and booleans become text. */
export type GivenTags = Readonly<Record<string, string | number | boolean>>;

/** Returns the tags of an input. */
export type TagInput = (input: TaggedInput) => GivenTags;
