import { countOf } from "../../plan/units.ts";
import { NO_BYTES } from "../../runtime/bytes.ts";
import { failureOfReading } from "../../transport/failure.ts";
import {
  type CreateResponseCheck,
  faultOf,
  type ResponseCheck,
  type ResponseFault,
} from "../../transport/response-check.ts";
import { type ExpectedResponse, explainUnexpected } from "../expected-response.ts";
import { KnownResponses } from "../known-responses.ts";
import { decodeMessage, type ProtoObject } from "../protobuf/message.ts";
import { betweenPlaces, MessageOutline } from "../protobuf/outline.ts";
import type { SharedPlace } from "../tensor.ts";
import { INFER_RESPONSE } from "./messages.ts";
import { explainOutput } from "./response-outputs.ts";

const ID_FIELD = 3;
const RAW_CONTENTS_FIELD = 6;

type Places = ReadonlyMap<string, SharedPlace> | undefined;

/**
 * Creates the checks of gRPC messages for a run's slots.
 * @param places outputs in shared memory, by name @param expected default: any model and outputs
 */
export function createGrpcChecks(places: Places, expected?: ExpectedResponse): CreateResponseCheck {
  const known = new KnownResponses();
  return () => new GrpcResponseCheck(known, places, expected);
}

class GrpcResponseCheck implements ResponseCheck {
  private readonly known: KnownResponses;
  private readonly places: Places;
  private readonly expected: ExpectedResponse | undefined;
  private readonly outline = new MessageOutline(RAW_CONTENTS_FIELD, ID_FIELD);
  private reason: string | undefined;

  constructor(known: KnownResponses, places: Places, expected: ExpectedResponse | undefined) {
    this.expected = expected;
    this.known = known;
    this.places = places;
  }

  whole(bytes: Uint8Array, start: number, end: number): ResponseFault | undefined {
    const length = end - start;
    if (this.known.has(bytes, start, length, length)) return undefined;
    this.begin();
    this.piece(bytes, start, end);
    const fault = this.end();
    if (fault !== undefined) return faultOf(fault.reason, bytes, start, end);
    this.known.add(bytes.subarray(start, end), length, betweenPlaces(this.outline.places, length));
    return undefined;
  }

  begin(): void {
    this.outline.reset();
    this.reason = undefined;
  }

  piece(bytes: Uint8Array, start: number, end: number): void {
    if (this.reason !== undefined) return;
    try {
      this.outline.feed(bytes, start, end);
    } catch (error) {
      this.reason = `the message is not a ModelInferResponse: ${failureOfReading(error).message}`;
    }
  }

  /** HTTP/2 responses have no events. */
  event(): void {}

  end(): ResponseFault | undefined {
    this.reason ??= this.explain();
    return this.reason === undefined ? undefined : faultOf(this.reason, NO_BYTES);
  }

  private explain(): string | undefined {
    try {
      const message = decodeMessage(INFER_RESPONSE, this.outline.finish());
      return explainResponse(message, this.outline.bulkLengths, this.places, this.expected);
    } catch (error) {
      return `the message is not a ModelInferResponse: ${failureOfReading(error).message}`;
    }
  }
}

function explainResponse(
  message: ProtoObject,
  rawLengths: readonly number[],
  places: Places,
  expected: ExpectedResponse | undefined,
): string | undefined {
  const outputs = (message["outputs"] ?? []) as ProtoObject[];
  if (outputs.length === 0 && (message["model_name"] ?? "") === "")
    return "the message is not a ModelInferResponse: it has neither a model's name nor outputs";
  let rawCount = 0;
  for (const [index, output] of outputs.entries()) {
    const { name, datatype, shape = [], contents } = output;
    const isElsewhere = places?.has(String(name)) === true;
    const byteCount = rawLengths[index];
    if (byteCount !== undefined) rawCount++;
    const elementCount = contents === undefined ? undefined : elementsOf(contents as ProtoObject).length;
    const reason = explainOutput({ name, datatype, shape, byteCount, elementCount, isElsewhere });
    if (reason !== undefined) return reason;
  }
  if (rawCount < rawLengths.length)
    return `the response has ${countOf(rawLengths.length, "raw content")} for ${countOf(outputs.length, "output")}`;
  return expected === undefined ? undefined : explainUnexpected(expected, message["model_name"], outputs);
}

/** Returns the elements of a tensor's typed contents: the first list that is not empty. */
export function elementsOf(contents: ProtoObject): readonly unknown[] {
  for (const name in contents) {
    const list = contents[name];
    if (Array.isArray(list) && list.length > 0) return list;
  }
  return [];
}
