import { parseJson } from "../../plan/objects.ts";
import { RunError } from "../../plan/problem.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { joinBytes, NO_BYTES } from "../../runtime/bytes.ts";
import { decoder, encoder } from "../../runtime/text.ts";
import { type Failure, ProtocolError } from "../../transport/failure.ts";
import type { Header, WireRequest } from "../../transport/request.ts";
import type { SampleResponse } from "../../transport/sink/sample-response.ts";
import type { InferResponse, TensorCodec } from "../content.ts";
import { expectResponse } from "../expected-response.ts";
import { appendExplanation, toMaskedText } from "../explain-error.ts";
import { fromJsonElements, toJsonElements } from "../json-tensors.ts";
import { parseLossless } from "../lossless-json.ts";
import { explainPage } from "../response-faults.ts";
import { sampleOutputs } from "../sample-tensors.ts";
import type { ModelInfo } from "../service.ts";
import { isDatatype, type SharedPlace, type Tensor } from "../tensor.ts";
import { createHttpChecks } from "./http-response-check.ts";
import type { CodecModel } from "./model.ts";
import { httpSequenceStamp } from "./sequence-stamp.ts";

/** KServe v2 inference over HTTP, with Triton's binary tensor data extension or with JSON tensors. */

export type TensorFormat = "binary" | "json";

export interface HttpCodecOptions {
  readonly inputFormat: TensorFormat;
  readonly outputFormat: TensorFormat;
  /** Outputs that the server writes to shared memory, by name. */
  readonly outputPlaces?: ReadonlyMap<string, SharedPlace>;
}

/** Text before a request's id. */
const ID_START = '{"id":"';

/** Returns the path of a model's resource: `/v2/models/NAME[/versions/VERSION]SUFFIX`. */
export function modelPath(model: Pick<ModelInfo, "name" | "version">, suffix: string): string {
  const version = model.version === "" ? "" : `/versions/${encodeSegment(model.version)}`;
  return `/v2/models/${encodeSegment(model.name)}${version}${suffix}`;
}

/** Encodes a path segment. Keeps all characters that RFC 3986 allows, because Triton does not decode paths. */
export function encodeSegment(text: string): string {
  // A server's model name may contain half of a surrogate pair.
  const encoded = encodeURIComponent(text.toWellFormed());
  if (encoded === text) return text;
  return encoded.replace(/%(?:2B|3D|40|3A|2C|26|24|3B)/g, decodeURIComponent);
}

export function createHttpCodec(model: CodecModel, options: HttpCodecOptions): TensorCodec {
  const path = modelPath(model, "/infer");
  return {
    encode: (tensors, idDigits, sequenceStamp) =>
      encodeRequest({ path, model, options }, tensors, "0".repeat(idDigits), sequenceStamp),
    stampSequence: httpSequenceStamp(model.hasTextSequenceIds === true),
    responseChecks: (acceptsOthers) =>
      createHttpChecks(options.outputPlaces, acceptsOthers === true ? undefined : expectResponse(model, false)),
    decode: (body, jsonBytes) => decodeResponse(body, jsonBytes, options.outputPlaces),
    explain: explainFailure,
    describe: (request) => decoder.decode(request.payload.subarray(0, jsonBytesOf(request))),
    withOutputsAt: (outputPlaces) => createHttpCodec(model, { ...options, outputPlaces }),
    sampleResponse: () => sampleResponse(model, options),
  };
}

function sampleResponse(model: ModelInfo, { outputFormat, outputPlaces }: HttpCodecOptions): SampleResponse {
  const isJson = outputFormat === "json";
  const tensors = sampleOutputs(model).map((tensor) => ({ ...tensor, place: outputPlaces?.get(tensor.name) }));
  const outputs = tensors.map((tensor) => formatTensor(tensor, isJson && isInJson(tensor)));
  const head = encoder.encode(`{"model_name":${JSON.stringify(model.name)},"outputs":[${outputs.join(",")}]}`);
  const data = tensors.flatMap((tensor) =>
    tensor.place === undefined && !(isJson && isInJson(tensor)) ? [tensor.bytes] : [],
  );
  if (data.length === 0) return { headers: [["Content-Type", "application/json"]], parts: [head] };
  const headers = [
    ["Content-Type", "application/octet-stream"],
    ["Inference-Header-Content-Length", String(head.length)],
  ] as const;
  return { headers, parts: [head, ...data] };
}

/** Whether JSON can represent the tensor's elements. */
function isInJson({ datatype, bytes }: Tensor): boolean {
  return toJsonElements(datatype, bytes) !== undefined;
}

interface Encoded {
  readonly path: string;
  readonly model: ModelInfo;
  readonly options: HttpCodecOptions;
}

function encodeRequest(
  { path, model, options }: Encoded,
  tensors: readonly Tensor[],
  id: string,
  sequenceStamp: Uint8Array | undefined,
): WireRequest {
  const isJson = options.inputFormat === "json";
  const inputs: string[] = [];
  const data: Uint8Array[] = [];
  const outputs: string[] = [];
  for (const tensor of tensors) {
    inputs.push(formatTensor(tensor, isJson));
    if (!isJson) data.push(tensor.bytes);
  }
  for (const { name } of model.outputs) outputs.push(formatOutput(name, options));
  const afterId = sequenceStamp === undefined ? '"' : decoder.decode(sequenceStamp);
  const head = encoder.encode(
    `${ID_START}${id}${afterId},"inputs":[${inputs.join(",")}],"outputs":[${outputs.join(",")}]}`,
  );
  const headers: Header[] = [
    ["Inference-Header-Content-Length", String(head.length)],
    ["Content-Type", isJson ? "application/json" : "application/octet-stream"],
  ];
  return {
    path,
    method: "POST",
    headers,
    payload: joinBytes([head, ...data]),
    ...(id !== "" || sequenceStamp !== undefined
      ? {
          stampPlace: {
            offset: ID_START.length,
            length: id.length + (sequenceStamp?.length ?? 0),
            idDigits: id.length,
          },
        }
      : {}),
  };
}

function formatOutput(name: string, { outputFormat, outputPlaces }: HttpCodecOptions): string {
  const place = outputPlaces?.get(name);
  const parameters = place === undefined ? `{"binary_data":${outputFormat === "binary"}}` : formatPlace(place);
  return `{"name":${JSON.stringify(name)},"parameters":${parameters}}`;
}

function formatPlace({ region, offset, sizeBytes }: SharedPlace): string {
  const start = `{"shared_memory_region":${JSON.stringify(region)},"shared_memory_byte_size":${sizeBytes}`;
  return offset === 0 ? `${start}}` : `${start},"shared_memory_offset":${offset}}`;
}

function formatTensor(tensor: Tensor, isJson: boolean): string {
  const start = `{"name":${JSON.stringify(tensor.name)},"datatype":"${tensor.datatype}","shape":[${tensor.shape.join(",")}]`;
  if (tensor.place !== undefined) return `${start},"parameters":${formatPlace(tensor.place)}}`;
  if (!isJson) return `${start},"parameters":{"binary_data_size":${tensor.bytes.length}}}`;
  const elements = toJsonElements(tensor.datatype, tensor.bytes);
  if (elements === undefined) {
    const message =
      tensor.datatype === "BYTES"
        ? `input '${tensor.name}' has elements that are not UTF-8 text. Please use the binary data format`
        : `datatype '${tensor.datatype}' is not supported with JSON. Please use the binary data format`;
    throw new RunError("unsupported", message, { say: "binary-input", input: tensor.name });
  }
  return `${start},"data":[${elements.join(",")}]}`;
}

function jsonBytesOf(request: WireRequest): number {
  const header = request.headers.find(([name]) => name === "Inference-Header-Content-Length");
  return header === undefined ? request.payload.length : Number(header[1]);
}

interface OutputJson {
  readonly name?: unknown;
  readonly datatype?: unknown;
  readonly shape?: unknown;
  readonly data?: unknown;
  readonly parameters?: { readonly binary_data_size?: unknown };
}

function decodeResponse(
  body: Uint8Array,
  jsonBytes: number,
  places: HttpCodecOptions["outputPlaces"],
): InferResponse<ReadonlyMap<string, Tensor>> {
  const headBytes = jsonBytes === 0 ? body.length : jsonBytes;
  if (headBytes > body.length)
    throw new ProtocolError(`Inference-Header-Content-Length ${headBytes} is longer than the body`);
  const text = decoder.decode(body.subarray(0, headBytes));
  const json = parseResponse(text);
  const outputs = new Map<string, Tensor>();
  let offset = headBytes;
  for (const output of Array.isArray(json["outputs"]) ? (json["outputs"] as OutputJson[]) : []) {
    const tensor = readOutput(output, body, offset, places);
    if (output.parameters?.binary_data_size !== undefined) offset += tensor.bytes.length;
    outputs.set(tensor.name, tensor);
  }
  if (offset !== body.length)
    throw new ProtocolError(`${body.length - offset} bytes more than the outputs' sizes add up to`);
  return { id: typeof json["id"] === "string" ? json["id"] : "", outputs, describe: () => text };
}

/** Numbers that `JSON.parse` would round, in INT64 and UINT64 data. */
const LONG_INTEGER = /\d{16}/;

function parseResponse(text: string): Record<string, unknown> {
  try {
    const value = LONG_INTEGER.test(text) ? parseLossless(text) : (JSON.parse(text) as unknown);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new ProtocolError(`response is not a JSON object: ${JSON.stringify(maskSecrets(text).slice(0, 60))}`);
}

function readOutput(
  output: OutputJson,
  body: Uint8Array,
  offset: number,
  places: HttpCodecOptions["outputPlaces"],
): Tensor {
  const { name, datatype, shape } = output;
  if (typeof name !== "string" || typeof datatype !== "string" || !isDatatype(datatype) || !Array.isArray(shape)) {
    throw new ProtocolError(`output ${maskSecrets(JSON.stringify(output)).slice(0, 80)} lacks name, datatype or shape`);
  }
  const place = places?.get(name);
  if (place !== undefined) return { name, datatype, shape: shape as number[], bytes: NO_BYTES, place };
  const size = output.parameters?.binary_data_size;
  if (typeof size === "number") {
    if (offset + size > body.length) throw new ProtocolError(`output '${name}' reaches past the body`);
    return { name, datatype, shape: shape as number[], bytes: body.slice(offset, offset + size) };
  }
  const bytes = Array.isArray(output.data)
    ? fromJsonElements(datatype, output.data.flat(Number.POSITIVE_INFINITY))
    : undefined;
  if (bytes === undefined)
    throw new ProtocolError(`output '${name}' has neither binary data nor JSON data of type ${datatype}`);
  return { name, datatype, shape: shape as number[], bytes };
}

function explainFailure(failure: Failure, body: Uint8Array | undefined): Failure {
  const isUnreadable = failure.kind === "unreadable";
  if ((failure.kind !== "http" && !isUnreadable) || body === undefined) return failure;
  const text = toMaskedText(body);
  const page = explainPage([text]);
  if (isUnreadable && page !== undefined) return { ...failure, message: page };
  const { error } = (parseJson(text) ?? {}) as { error?: unknown };
  // Any other text is the explanation itself.
  if (typeof error !== "string") return appendExplanation(failure, text);
  return isUnreadable ? appendExplanation(failure, error) : { ...failure, message: error };
}
