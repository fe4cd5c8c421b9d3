/** A model of sequences as a server over HTTP describes it, and its response. */

export const MODEL = {
  ...{ name: "m", versions: ["1"], platform: "x" },
  inputs: [{ name: "IN", datatype: "INT32", shape: [4] }],
  outputs: [{ name: "OUT", datatype: "INT32", shape: [1] }],
};
export const CONFIG = { name: "m", max_batch_size: 0, sequence_batching: {} };
export const INFERRED = { model_name: "m", outputs: [{ name: "OUT", datatype: "INT32", shape: [1], data: [1] }] };
