import { failureOfReading } from "../../transport/failure.ts";
import { type CreateResponseCheck, faultOf, type ResponseFault } from "../../transport/response-check.ts";
import { CollectedCheck } from "../collected-pieces.ts";
import { type ExpectedResponse, explainUnexpected } from "../expected-response.ts";
import { KnownResponses } from "../known-responses.ts";
import { betweenPlaces } from "../protobuf/outline.ts";
import { ProtoReader, WIRE } from "../protobuf/wire.ts";
import { tfTypeOf } from "./data-types.ts";
import { ScannedTensor } from "./tensor-proto.ts";

const OUTPUTS_FIELD = 1;
const SPEC_FIELD = 2;
/** Field number of the name in a `ModelSpec`. */
const NAME_FIELD = 1;
/** Longer responses with more compared bytes are checked each time instead of being remembered. */
const MAX_KNOWN_BYTES = 256 * 1024; // 256 KiB

/** Creates the checks of `PredictResponse` messages for a run's slots. @param expected default: any model and outputs */
export function createPredictChecks(expected?: ExpectedResponse): CreateResponseCheck {
  const known = new KnownResponses();
  return () => new PredictResponseCheck(known, expected);
}

class PredictResponseCheck extends CollectedCheck {
  private readonly known: KnownResponses;
  private readonly expected: ExpectedResponse | undefined;
  private readonly tensor = new ScannedTensor();

  constructor(known: KnownResponses, expected: ExpectedResponse | undefined) {
    super();
    this.expected = expected;
    this.known = known;
  }

  whole(bytes: Uint8Array, start: number, end: number): ResponseFault | undefined {
    const length = end - start;
    if (this.known.has(bytes, start, length, length)) return undefined;
    const places: number[] = [];
    const reason = explainResponse(new ProtoReader(bytes, start, end), this.tensor, places, this.expected);
    if (reason !== undefined) return faultOf(reason, bytes, start, end);
    const fixed = betweenPlaces(
      places.map((place) => place - start),
      length,
    );
    let comparedBytes = 0;
    for (let i = 0; i < fixed.length; i += 2) comparedBytes += (fixed[i + 1] as number) - (fixed[i] as number);
    if (comparedBytes <= MAX_KNOWN_BYTES) this.known.add(bytes.subarray(start, end), length, fixed);
    return undefined;
  }
}

/** Explains why a response is not valid; undefined when it is. @param places see `ScannedTensor.scan` */
function explainResponse(
  reader: ProtoReader,
  tensor: ScannedTensor,
  places: number[],
  expected: ExpectedResponse | undefined,
): string | undefined {
  const outputs: AnsweredTensor[] = [];
  let model = "";
  try {
    while (reader.next()) {
      const { fieldNumber, wireType } = reader;
      if ((fieldNumber === OUTPUTS_FIELD || fieldNumber === SPEC_FIELD) && wireType !== WIRE.bytes)
        return `the message is not a PredictResponse: field ${fieldNumber} has wire type ${wireType}`;
      if (fieldNumber === SPEC_FIELD) model = readName(reader.message());
      else if (fieldNumber === OUTPUTS_FIELD) {
        const { reason, ...output } = readEntry(reader.message(), tensor, places);
        if (reason !== undefined) return reason;
        outputs.push(output);
      } else reader.skip();
    }
  } catch (error) {
    return `the message is not a PredictResponse: ${failureOfReading(error).message}`;
  }
  if (outputs.length === 0) return "the message is not a PredictResponse: it has no outputs";
  return expected === undefined ? undefined : explainUnexpected(expected, model, outputs);
}

interface AnsweredTensor {
  readonly name: string;
  readonly datatype: string;
}

/** Reads the model's name from a `ModelSpec`. */
function readName(spec: ProtoReader): string {
  let name = "";
  while (spec.next()) {
    if (spec.fieldNumber === NAME_FIELD) name = spec.string();
    else spec.skip();
  }
  return name;
}

/** Reads an output, or returns the reason why it is not valid. */
function readEntry(
  entry: ProtoReader,
  tensor: ScannedTensor,
  places: number[],
): AnsweredTensor & { readonly reason: string | undefined } {
  let name = "";
  let hasTensor = false;
  while (entry.next()) {
    if (entry.fieldNumber === 1) name = entry.string();
    else if (entry.fieldNumber === 2) {
      tensor.scan(entry.message(), places);
      hasTensor = true;
    } else entry.skip();
  }
  const reason = hasTensor ? tensor.explain(name) : `output '${name}' has no tensor`;
  return { name, datatype: tfTypeOf(tensor.dtype)?.datatype ?? "another type", reason };
}
