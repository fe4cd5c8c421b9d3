import { joinBytes, NO_BYTES } from "../../runtime/bytes.ts";
import { type Failure, ProtocolError } from "../../transport/failure.ts";
import type { WireRequest } from "../../transport/request.ts";
import { unreadable } from "../../transport/response-check.ts";
import type { ResponseRequest } from "../../transport/sink/sample-response.ts";
import type { StreamedResponse } from "../../transport/streamed-responses.ts";
import type { InferResponse, TensorCodec } from "../content.ts";
import { expectResponse } from "../expected-response.ts";
import { fromJsonElements, joinBytesElements } from "../json-tensors.ts";
import { decodeMessage, encodeMessage, formatText, type ProtoObject } from "../protobuf/message.ts";
import { ProtoReader, ProtoWriter } from "../protobuf/wire.ts";
import { sampleOutputs } from "../sample-tensors.ts";
import type { ModelInfo } from "../service.ts";
import { isDatatype, type SharedPlace, type Tensor } from "../tensor.ts";
import { createGrpcChecks, elementsOf } from "./grpc-response-check.ts";
import { INFER_REQUEST, INFER_RESPONSE } from "./messages.ts";
import type { CodecModel } from "./model.ts";
import { type RequestParameterPlan, toInferParameter } from "./parameters.ts";
import { grpcSequenceStamp } from "./sequence-stamp.ts";
import type { TritonTargetPlan } from "./target.ts";

/** KServe v2 inference over gRPC: `ModelInfer` and `ModelStreamInfer`. */

const SERVICE = "/inference.GRPCInferenceService";
const ID_FIELD = 3;
const PARAMETERS_FIELD = 4;
const RAW_CONTENTS_FIELD = 6;
const FINAL_RESPONSE = new TextEncoder().encode("triton_final_response");
/** Field number of the response in a `ModelStreamInferResponse`. */
const STREAMED_RESPONSE_FIELD = 2;

/** Returns the path of a method of Triton's gRPC service. */
export function methodPath(method: string): string {
  return `${SERVICE}/${method}`;
}

/** Options of requests. */
export interface GrpcCodecOptions {
  readonly isStreaming: boolean;
  /** Parameters of every request; default: none. */
  readonly parameters?: TritonTargetPlan["parameters"];
  /** Outputs that the server writes to shared memory, by name. */
  readonly outputPlaces?: ReadonlyMap<string, SharedPlace>;
}

export function createGrpcCodec(model: CodecModel, options: GrpcCodecOptions): TensorCodec {
  const parameters: ProtoObject = { triton_enable_empty_final_response: { bool_param: true } };
  for (const name in options.parameters)
    parameters[name] = toInferParameter(options.parameters[name] as RequestParameterPlan);
  const path = methodPath(options.isStreaming ? "ModelStreamInfer" : "ModelInfer");
  return {
    encode: (tensors, idDigits, sequenceStamp) =>
      encodeRequest({ path, model, parameters, options }, tensors, idDigits, sequenceStamp),
    stampSequence: grpcSequenceStamp(model.hasTextSequenceIds === true),
    decode: (body) => decodeResponse(body, options.outputPlaces),
    responseChecks: (acceptsOthers) =>
      createGrpcChecks(
        options.outputPlaces,
        acceptsOthers === true ? undefined : expectResponse(model, options.isStreaming),
      ),
    // gRPC failures already have the server's message, from grpc-message.
    explain: (failure) => failure,
    describe: (request) => formatText(INFER_REQUEST, decodeMessage(INFER_REQUEST, request.payload)),
    withOutputsAt: (outputPlaces) => createGrpcCodec(model, { ...options, outputPlaces }),
    sampleResponse: createSamples(model, options),
  };
}

/** Returns a function that makes a sample response to each request: with the same outputs and the request's id. */
function createSamples(model: ModelInfo, { isStreaming, outputPlaces }: GrpcCodecOptions): ResponseRequest {
  let same: Uint8Array | undefined;
  return (request) => {
    same ??= encodeSample(model, outputPlaces);
    if (!isStreaming) return { parts: [same] };
    const response = new ProtoWriter();
    response.string(ID_FIELD, idOf(request));
    const message = new ProtoWriter();
    message.bytes(STREAMED_RESPONSE_FIELD, joinBytes([same, response.finish()]));
    return { parts: [message.finish()], isPerMessage: true };
  };
}

function encodeSample(model: ModelInfo, places: GrpcCodecOptions["outputPlaces"]): Uint8Array {
  const tensors = sampleOutputs(model);
  return encodeMessage(INFER_RESPONSE, {
    model_name: model.name,
    outputs: tensors.map(({ name, datatype, shape }) => ({
      ...{ name, datatype, shape: [...shape] },
      ...placeParameters(places?.get(name)),
    })),
    raw_output_contents: tensors.flatMap(({ name, bytes }) => (places?.has(name) === true ? [] : [bytes])),
  });
}

function idOf(request: Uint8Array): string {
  const reader = new ProtoReader(request);
  while (reader.next()) {
    if (reader.fieldNumber === ID_FIELD) return reader.string();
    reader.skip();
  }
  return "";
}

interface Encoded {
  readonly path: string;
  readonly model: ModelInfo;
  readonly parameters: ProtoObject;
  readonly options: GrpcCodecOptions;
}

function encodeRequest(
  { path, model, parameters, options: { outputPlaces } }: Encoded,
  tensors: readonly Tensor[],
  idDigits: number,
  sequenceStamp: Uint8Array = NO_BYTES,
): WireRequest {
  const writer = new ProtoWriter();
  writer.string(1, model.name);
  if (model.version !== "") writer.string(2, model.version);
  if (idDigits > 0) writer.string(ID_FIELD, "0".repeat(idDigits));
  const inputs: ProtoObject[] = [];
  const outputs: ProtoObject[] = [];
  const contents: Uint8Array[] = [];
  for (const { name, datatype, shape, bytes, place } of tensors) {
    inputs.push({ name, datatype, shape: [...shape], ...placeParameters(place) });
    if (place === undefined) contents.push(bytes);
  }
  for (const { name } of model.outputs) outputs.push({ name, ...placeParameters(outputPlaces?.get(name)) });
  const rest = encodeMessage(INFER_REQUEST, { parameters, inputs, outputs, raw_input_contents: contents });
  const head = writer.finish();
  const stampBytes = idDigits + sequenceStamp.length;
  return {
    path,
    method: "POST",
    headers: [],
    payload: joinBytes([head, sequenceStamp, rest]),
    // The head ends with the id's digits.
    ...(stampBytes > 0 ? { stampPlace: { offset: head.length - idDigits, length: stampBytes, idDigits } } : {}),
  };
}

function placeParameters(place: SharedPlace | undefined): ProtoObject {
  if (place === undefined) return {};
  const { region, offset, sizeBytes } = place;
  const parameters: ProtoObject = {
    shared_memory_region: { string_param: region },
    shared_memory_byte_size: { int64_param: sizeBytes },
  };
  if (offset > 0) parameters["shared_memory_offset"] = { int64_param: offset };
  return { parameters };
}

function decodeResponse(
  body: Uint8Array,
  places: GrpcCodecOptions["outputPlaces"],
): InferResponse<ReadonlyMap<string, Tensor>> {
  const message = decodeMessage(INFER_RESPONSE, body);
  const raw = (message["raw_output_contents"] ?? []) as Uint8Array[];
  const outputs = new Map<string, Tensor>();
  for (const [index, output] of ((message["outputs"] ?? []) as ProtoObject[]).entries()) {
    const name = String(output["name"] ?? "");
    const datatype = String(output["datatype"] ?? "");
    const place = places?.get(name);
    const bytes = place === undefined ? (raw[index] ?? contentsOf(output, datatype)) : NO_BYTES;
    if (!isDatatype(datatype) || bytes === undefined) {
      throw new ProtocolError(
        `output '${name}' has ${bytes === undefined ? "no raw contents" : `the unknown datatype '${datatype}'`}`,
      );
    }
    const shape = (output["shape"] ?? []) as number[];
    outputs.set(name, { name, datatype, shape, bytes: bytes.slice(), place });
  }
  return { id: String(message["id"] ?? ""), outputs, describe: () => formatText(INFER_RESPONSE, message) };
}

/** Converts typed elements to raw contents; undefined if the server sent none. */
function contentsOf({ contents }: ProtoObject, datatype: string): Uint8Array | undefined {
  if (contents === undefined || !isDatatype(datatype)) return undefined;
  const elements = elementsOf(contents as ProtoObject);
  return datatype === "BYTES"
    ? joinBytesElements(elements as readonly Uint8Array[])
    : fromJsonElements(datatype, elements);
}

/** Reused for each message of a stream, which therefore allocates only the text of its id. */
const envelope = new ProtoReader(NO_BYTES);
const response = new ProtoReader(NO_BYTES);
const entry = new ProtoReader(NO_BYTES);
const entryValue = new ProtoReader(NO_BYTES);
const streamed: StreamedResponse = {
  id: "",
  failure: undefined,
  isFinal: true,
  isEmpty: true,
  bodyStart: 0,
  bodyEnd: 0,
};

/** Reads from one `ModelStreamInferResponse` only the request's id and whether more responses follow, which is cheap. */
export function readStreamed(bytes: Uint8Array, start: number, end: number): StreamedResponse {
  envelope.reset(bytes, start, end);
  let bodyStart = -1;
  let bodyEnd = -1;
  let failure: Failure | undefined;
  let isForeign = false;
  while (envelope.next()) {
    const { fieldNumber } = envelope;
    if (fieldNumber === 1) failure = { kind: "model", message: envelope.string() };
    else if (fieldNumber === STREAMED_RESPONSE_FIELD) {
      const size = envelope.passBytes();
      bodyEnd = envelope.position;
      bodyStart = bodyEnd - size;
    } else {
      isForeign ||= fieldNumber >= ID_FIELD && fieldNumber <= RAW_CONTENTS_FIELD;
      envelope.skip();
    }
  }
  if (isForeign) failure = unreadable(BARE_RESPONSE);
  else if (failure?.message === "") failure = undefined;
  if (bodyStart < 0 && failure === undefined) failure = unreadable(NO_RESPONSE);
  const hasBody = bodyStart >= 0 && !isForeign;
  streamed.failure = failure;
  streamed.bodyStart = hasBody ? bodyStart : 0;
  streamed.bodyEnd = hasBody ? bodyEnd : 0;
  readResponse(bytes, streamed);
  return streamed;
}

/** Other KServe servers stream responses without Triton's envelope. */
const BARE_RESPONSE =
  "the server streams bare ModelInferResponse messages, but Triton's protocol wraps each in a ModelStreamInferResponse";
const NO_RESPONSE = "the stream's message has neither a response nor an error";

/** Reads the message from `read.bodyStart` to `bodyEnd`. An empty message is the last one, without content. */
function readResponse(bytes: Uint8Array, read: StreamedResponse): void {
  response.reset(bytes, read.bodyStart, read.bodyEnd);
  read.id = "";
  // Servers without this parameter send one response per request.
  read.isFinal = true;
  let hasOutputs = false;
  while (response.next()) {
    if (response.fieldNumber === ID_FIELD) read.id = response.string();
    else if (response.fieldNumber === PARAMETERS_FIELD) {
      response.messageInto(entry);
      read.isFinal = readFinalFlag() ?? read.isFinal;
    } else {
      if (response.fieldNumber > PARAMETERS_FIELD) hasOutputs = true;
      response.skip();
    }
  }
  read.isEmpty = read.isFinal && !hasOutputs;
}

/** Returns whether the current map entry marks the last response; undefined for other entries. */
function readFinalFlag(): boolean | undefined {
  let isFlag = false;
  let hasValue = false;
  while (entry.next()) {
    if (entry.fieldNumber === 1) isFlag = entry.isBytes(FINAL_RESPONSE);
    else if (entry.fieldNumber === 2) {
      entry.messageInto(entryValue);
      hasValue = true;
    } else entry.skip();
  }
  if (!isFlag) return undefined;
  while (hasValue && entryValue.next()) {
    if (entryValue.fieldNumber === 1) return entryValue.varint() !== 0;
    entryValue.skip();
  }
  return false;
}
