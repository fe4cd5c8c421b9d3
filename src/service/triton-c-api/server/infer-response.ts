import { NO_BYTES } from "../../../runtime/bytes.ts";
import { ProtoWriter } from "../../protobuf/wire.ts";
import { Cell, DATATYPE_NAMES, type TritonLibrary } from "./library.ts";

const cells = Array.from({ length: 9 }, () => new Cell());
const [name, datatype, shape, dimensions, base, sizeBytes, memoryType, memoryId, owned] = cells as [
  Cell,
  Cell,
  Cell,
  Cell,
  Cell,
  Cell,
  Cell,
  Cell,
  Cell,
];

/** Encodes a response of Triton's C API as a `ModelInferResponse`. @throws TritonError if it is an error */
export function encodeResponse(triton: TritonLibrary, response: bigint): Uint8Array {
  triton.check(triton.get("InferenceResponseError", response), false);
  const writer = new ProtoWriter();
  triton.call("InferenceResponseModel", response, name.bytes, datatype.bytes);
  writer.string(1, triton.readText(name.value));
  writer.string(2, String(datatype.value));
  triton.call("InferenceResponseId", response, name.bytes);
  const id = triton.readText(name.value);
  if (id !== "") writer.string(3, id);
  triton.call("InferenceResponseOutputCount", response, sizeBytes.bytes);
  const count = Number(sizeBytes.value & 0xffff_ffffn);
  const contents: Uint8Array[] = [];
  for (let index = 0; index < count; index++) contents.push(writeOutput(triton, response, index, writer));
  for (const content of contents) writer.bytes(6, content);
  return writer.finish();
}

/** Writes an output's description and returns its content. */
function writeOutput(triton: TritonLibrary, response: bigint, index: number, writer: ProtoWriter): Uint8Array {
  triton.call(
    "InferenceResponseOutput",
    response,
    index,
    name.bytes,
    datatype.bytes,
    shape.bytes,
    dimensions.bytes,
    base.bytes,
    sizeBytes.bytes,
    memoryType.bytes,
    memoryId.bytes,
    owned.bytes,
  );
  const output = new ProtoWriter();
  output.string(1, triton.readText(name.value));
  output.string(2, DATATYPE_NAMES[Number(datatype.value & 0xffff_ffffn)] ?? "INVALID");
  const sizes = new ProtoWriter();
  const bytes = triton.readMemory(shape.value, Number(dimensions.value) * 8);
  for (const size of new BigInt64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8)) sizes.varint(size);
  output.bytes(3, sizes.finish());
  writer.bytes(5, output.finish());
  // An output in shared memory is not part of the message, and nothing owns its memory.
  return owned.value === 0n ? NO_BYTES : triton.readMemory(base.value, Number(sizeBytes.value));
}
