import type { GivenTags } from "../tagged-input.ts";

/** Parameters and results of functions of `generate`. */

/** Parameter of a function of `generate`. */
export interface GenerateContext {
  /** Number of the input, from 0. A generator is called only once, with 0. */
  readonly index: number;
  /** Returns the next random number, from 0 to below 1. The numbers are the same in every run with the same seed. */
  readonly random: () => number;
  /** The tensors of the model's inputs; empty for other targets. */
  readonly tensors: readonly { readonly name: string; readonly datatype: string; readonly shape: readonly number[] }[];
}

/** Elements of a tensor in order, or arrays nested like its shape; `Uint8Array`: its bytes, little-endian. */
export type GeneratedElements =
  | readonly unknown[]
  | Uint8Array
  | Int8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** An input of a model with tensors. */
export interface GeneratedTensors {
  /** Elements by the tensor's name. Give `shape`, without the batch dimension, if the model does not fix it. */
  readonly tensors: Readonly<
    Record<string, GeneratedElements | { readonly content: GeneratedElements; readonly shape: readonly number[] }>
  >;
  /** Tags of the input. Default: none. */
  readonly tags?: GivenTags;
}

/** A request to a language model or to another HTTP server. */
export type GeneratedPayload = {
  /** Tags of the input. Default: none. */
  readonly tags?: GivenTags;
} & (
  | {
      /** Body of the request: an object that is sent as JSON, or text. */
      readonly body: object | string;
      readonly prompt?: never;
      readonly osl?: never;
    }
  | {
      /** Prompt, for language models. The target's endpoint determines the form of the body. */
      readonly prompt: string;
      /** Maximum number of tokens in the response. Default: the server decides. */
      readonly osl?: number;
      readonly body?: never;
    }
);

/** A file for a target that takes files. */
export interface GeneratedFile {
  /** Bytes of the file. */
  readonly file: Uint8Array;
  /** Tags of the input. Default: none. */
  readonly tags?: GivenTags;
}

/** A generator of inputs, or a function that returns one input for each index. */
export type InputMaker<Y> = (context: GenerateContext) => Iterable<Y> | AsyncIterable<Y> | Y | Promise<Y>;
