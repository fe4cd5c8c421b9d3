/** How a payload travels between the data and a server that takes payloads: as the one text of one BYTES tensor, as perf_analyzer has it. */

/** Name of the tensor. */
export const PAYLOAD = "payload";

/** Bytes of the length that stands before each text of a BYTES tensor. */
export const TEXT_LENGTH_BYTES = 4;
