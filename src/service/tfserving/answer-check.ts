import { type AnswerCheck, type AnswerFault, type CreateAnswerCheck, faultOf } from "../../transport/answer-check.ts";
import { failureOfReading } from "../../transport/failure.ts";
import { CollectedPieces } from "../collected-pieces.ts";
import { KnownAnswers } from "../known-answers.ts";
import { betweenPlaces } from "../protobuf/outline.ts";
import { ProtoReader, WIRE } from "../protobuf/wire.ts";
import { ScannedTensor } from "./tensor-proto.ts";

const OUTPUTS_FIELD = 1;
const SPEC_FIELD = 2;
/** Longer responses with more compared bytes are checked each time instead of being remembered. */
const MAX_KNOWN_BYTES = 256 * 1024; // 256 KiB

/** Creates the checks of `PredictResponse` messages for a run's slots. */
export function createPredictChecks(): CreateAnswerCheck {
  const known = new KnownAnswers();
  return () => new PredictAnswerCheck(known);
}

class PredictAnswerCheck implements AnswerCheck {
  private readonly known: KnownAnswers;
  private readonly tensor = new ScannedTensor();
  private readonly pieces = new CollectedPieces();

  constructor(known: KnownAnswers) {
    this.known = known;
  }

  whole(bytes: Uint8Array, start: number, end: number): AnswerFault | undefined {
    const length = end - start;
    if (this.known.has(bytes, start, length, length)) return undefined;
    const places: number[] = [];
    const reason = explainResponse(bytes, start, end, this.tensor, places);
    if (reason !== undefined) return faultOf(reason, bytes, start, end);
    const fixed = betweenPlaces(
      places.map((place) => place - start),
      length,
    );
    let comparedBytes = 0;
    for (let i = 0; i < fixed.length; i += 2) comparedBytes += (fixed[i + 1] as number) - (fixed[i] as number);
    if (comparedBytes <= MAX_KNOWN_BYTES) this.known.add(bytes, start, length, length, fixed);
    return undefined;
  }

  begin(): void {
    this.pieces.reset(Number.POSITIVE_INFINITY);
  }

  piece(bytes: Uint8Array, start: number, end: number): void {
    this.pieces.add(bytes, start, end);
  }

  /** HTTP/2 responses have no events. */
  event(): void {}

  end(): AnswerFault | undefined {
    const { bytes, keptBytes } = this.pieces;
    return this.whole(bytes, 0, keptBytes);
  }
}

/** Explains why `bytes[start, end)` is not a valid response; undefined when it is. @param places see `ScannedTensor.scan` */
function explainResponse(
  bytes: Uint8Array,
  start: number,
  end: number,
  tensor: ScannedTensor,
  places: number[],
): string | undefined {
  const reader = new ProtoReader(bytes, start, end);
  let outputCount = 0;
  try {
    while (reader.next()) {
      const { fieldNumber, wireType } = reader;
      if ((fieldNumber === OUTPUTS_FIELD || fieldNumber === SPEC_FIELD) && wireType !== WIRE.bytes)
        return `the message is not a PredictResponse: field ${fieldNumber} has wire type ${wireType}`;
      if (fieldNumber !== OUTPUTS_FIELD) {
        reader.skip();
        continue;
      }
      outputCount++;
      const reason = explainEntry(reader.message(), tensor, places);
      if (reason !== undefined) return reason;
    }
  } catch (error) {
    return `the message is not a PredictResponse: ${failureOfReading(error).message}`;
  }
  return outputCount === 0 ? "the message is not a PredictResponse: it has no outputs" : undefined;
}

function explainEntry(entry: ProtoReader, tensor: ScannedTensor, places: number[]): string | undefined {
  let name = "";
  let hasTensor = false;
  while (entry.next()) {
    if (entry.fieldNumber === 1) name = entry.string();
    else if (entry.fieldNumber === 2) {
      tensor.scan(entry.message(), places);
      hasTensor = true;
    } else entry.skip();
  }
  return hasTensor ? tensor.explain(name) : `output '${name}' has no tensor`;
}
