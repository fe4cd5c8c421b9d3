import { toCString } from "../../../runtime/ffi/ffi.ts";
import { decodeMessage, type ProtoObject } from "../../protobuf/message.ts";
import { INFER_REQUEST } from "../../triton/messages.ts";
import { Cell, DATATYPE_NAMES, type TritonLibrary } from "./library.ts";
import type { NativeMemory } from "./memory.ts";
import type { Regions } from "./regions.ts";

const SEQUENCE_START = 1;
const SEQUENCE_END = 2;
const NEWEST_VERSION = -1n;

interface InputData {
  readonly name: Uint8Array;
  readonly datatype: number;
  readonly shape: Uint8Array;
  readonly dimensions: bigint;
  readonly address: bigint;
  readonly sizeBytes: bigint;
}

/** A request of the load, with its tensors in memory that Triton reads in place. Decoded from a `ModelInferRequest`. */
export class RequestTemplate {
  private readonly bytes: Uint8Array;
  private readonly stampOffset: number;
  private readonly memory: NativeMemory;
  private readonly model: Uint8Array;
  private readonly version: bigint;
  private readonly inputs: InputData[] = [];
  private readonly outputs: Uint8Array[] = [];
  private readonly owned: bigint[] = [];
  /** Address of the places of outputs in shared memory; 0n if there are none. */
  readonly places: bigint = 0n;
  private head: ProtoObject;

  /** @throws ProtocolError, or Error if a region is not registered */
  constructor(bytes: Uint8Array, stampOffset: number, memory: NativeMemory, regions: Regions) {
    this.bytes = bytes;
    this.stampOffset = stampOffset;
    this.memory = memory;
    const message = decodeMessage(INFER_REQUEST, bytes);
    this.head = message;
    this.model = toCString(String(message["model_name"] ?? ""));
    const version = String(message["model_version"] ?? "");
    this.version = version === "" ? NEWEST_VERSION : BigInt(version);
    const raw = [...((message["raw_input_contents"] ?? []) as Uint8Array[])];
    for (const input of (message["inputs"] ?? []) as ProtoObject[]) {
      const place = placeOf(input, regions);
      const content = place === undefined ? (raw.shift() ?? new Uint8Array(0)) : undefined;
      const address = place?.address ?? this.copyIn(content as Uint8Array);
      this.inputs.push(describeInput(input, address, place?.sizeBytes ?? (content as Uint8Array).length));
    }
    const placed: bigint[] = [];
    for (const output of (message["outputs"] ?? []) as ProtoObject[]) {
      const name = toCString(String(output["name"]));
      this.outputs.push(name);
      const place = placeOf(output, regions);
      if (place !== undefined) placed.push(this.copyIn(name), place.address, BigInt(place.sizeBytes));
    }
    if (placed.length > 0)
      this.places = this.copyIn(new Uint8Array(BigUint64Array.from([...placed, 0n, 0n, 0n]).buffer));
  }

  /**
   * Creates a request without callbacks.
   * @returns its address
   * @throws TritonError
   */
  create(triton: TritonLibrary, server: bigint, stamp: Uint8Array): bigint {
    if (stamp.length > 0) {
      this.bytes.set(stamp, this.stampOffset);
      this.head = decodeMessage(INFER_REQUEST, this.bytes);
    }
    const cell = new Cell();
    triton.call("InferenceRequestNew", cell.bytes, server, this.model, this.version);
    const request = cell.value;
    try {
      this.fill(triton, request);
    } catch (error) {
      triton.get("InferenceRequestDelete", request);
      throw error;
    }
    return request;
  }

  /** Frees the memory. Call when no request uses it any more. */
  release(): void {
    for (const address of this.owned.splice(0)) this.memory.free(address);
  }

  private fill(triton: TritonLibrary, request: bigint): void {
    const id = String(this.head["id"] ?? "");
    if (id !== "") triton.call("InferenceRequestSetId", request, toCString(id));
    setParameters(triton, request, (this.head["parameters"] ?? {}) as Readonly<Record<string, ProtoObject>>);
    for (const { name, datatype, shape, dimensions, address, sizeBytes } of this.inputs) {
      triton.call("InferenceRequestAddInput", request, name, datatype, shape, dimensions);
      triton.call("InferenceRequestAppendInputData", request, name, address, sizeBytes, 0, 0n);
    }
    for (const name of this.outputs) triton.call("InferenceRequestAddRequestedOutput", request, name);
  }

  private copyIn(bytes: Uint8Array): bigint {
    const address = this.memory.copy(bytes);
    this.owned.push(address);
    return address;
  }
}

function describeInput(input: ProtoObject, address: bigint, sizeBytes: number): InputData {
  const shape = ((input["shape"] ?? []) as number[]).map(BigInt);
  return {
    name: toCString(String(input["name"])),
    datatype: Math.max(0, DATATYPE_NAMES.indexOf(String(input["datatype"]))),
    shape: new Uint8Array(BigInt64Array.from(shape).buffer),
    dimensions: BigInt(shape.length),
    address,
    sizeBytes: BigInt(sizeBytes),
  };
}

/** Returns the place of a tensor in shared memory; undefined if it is in the message. */
function placeOf({ parameters }: ProtoObject, regions: Regions): { address: bigint; sizeBytes: number } | undefined {
  const values = (parameters ?? {}) as Readonly<Record<string, ProtoObject>>;
  const region = values["shared_memory_region"]?.["string_param"];
  if (region === undefined) return undefined;
  const offset = Number(values["shared_memory_offset"]?.["int64_param"] ?? 0);
  const sizeBytes = Number(values["shared_memory_byte_size"]?.["int64_param"] ?? 0);
  return { address: regions.addressOf(String(region), offset, sizeBytes), sizeBytes };
}

/** Sets a request's parameters as Triton's front ends do: some names are properties of the request. */
function setParameters(
  triton: TritonLibrary,
  request: bigint,
  parameters: Readonly<Record<string, ProtoObject>>,
): void {
  let flags = 0;
  for (const [name, value] of Object.entries(parameters)) {
    const { bool_param: flag, int64_param: integer, uint64_param: unsigned, double_param: double } = value;
    const whole = integer ?? unsigned;
    if (name === "sequence_id" && value["string_param"] !== undefined)
      triton.call("InferenceRequestSetCorrelationIdString", request, toCString(String(value["string_param"])));
    else if (name === "sequence_id")
      triton.call("InferenceRequestSetCorrelationId", request, BigInt(Number(whole ?? 0)));
    else if (name === "sequence_start") flags |= flag === true ? SEQUENCE_START : 0;
    else if (name === "sequence_end") flags |= flag === true ? SEQUENCE_END : 0;
    else if (name === "priority") triton.call("InferenceRequestSetPriorityUInt64", request, toBigInt(whole));
    else if (name === "timeout") triton.call("InferenceRequestSetTimeoutMicroseconds", request, toBigInt(whole));
    else if (name === "triton_enable_empty_final_response") continue;
    else if (flag !== undefined)
      triton.call("InferenceRequestSetBoolParameter", request, toCString(name), flag === true ? 1 : 0);
    else if (whole !== undefined)
      triton.call("InferenceRequestSetIntParameter", request, toCString(name), toBigInt(whole));
    else if (double !== undefined)
      triton.call("InferenceRequestSetDoubleParameter", request, toCString(name), Number(double));
    else {
      const text = toCString(String(value["string_param"] ?? ""));
      triton.call("InferenceRequestSetStringParameter", request, toCString(name), text);
    }
  }
  if (flags !== 0) triton.call("InferenceRequestSetFlags", request, flags);
}

function toBigInt(value: unknown): bigint {
  return typeof value === "bigint" ? value : BigInt(Number(value ?? 0));
}
