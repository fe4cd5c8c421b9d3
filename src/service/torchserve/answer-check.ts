import { type AnswerCheck, type AnswerFault, type CreateAnswerCheck, faultOf } from "../../transport/answer-check.ts";
import { CollectedPieces } from "../collected-pieces.ts";
import { isPage, PAGE_FOUND } from "../html-page.ts";
import { readError } from "./error.ts";

/** Longer answers are no error of the server. A page shows what it is within these bytes. */
const HEAD_BYTES = 4096;
const FIRST_OF_PAGE = 0x3c; // <
const FIRST_OF_ERROR = 0x7b; // {
const ERROR_START = /^\{\s*"code"\s*:\s*[45]\d\d\s*,/;

const decoder = new TextDecoder();

/**
 * Creates the checks of answers with a good status. A handler may answer with any bytes, so only what is certainly no answer is a fault: a
 * web page, and TorchServe's description of an error.
 */
export function createTorchServeChecks(): CreateAnswerCheck {
  return () => new TorchServeAnswerCheck();
}

class TorchServeAnswerCheck implements AnswerCheck {
  private readonly pieces = new CollectedPieces();

  whole(bytes: Uint8Array, start: number, end: number): AnswerFault | undefined {
    let first = start;
    while (first < end && isSpace(bytes[first] as number)) first++;
    const byte = bytes[first];
    if (first === end || (byte !== FIRST_OF_PAGE && byte !== FIRST_OF_ERROR && byte !== 0xef)) return undefined;
    const text = decoder.decode(bytes.subarray(first, Math.min(end, first + HEAD_BYTES)));
    if (isPage(text)) return faultOf(PAGE_FOUND, bytes, start, end);
    if (!ERROR_START.test(text) || readError(text) === undefined) return undefined;
    return faultOf("the answer reports an error", bytes, start, end);
  }

  begin(): void {
    this.pieces.reset(HEAD_BYTES);
  }

  piece(bytes: Uint8Array, start: number, end: number): void {
    this.pieces.add(bytes, start, end);
  }

  event(bytes: Uint8Array): void {
    this.pieces.add(bytes, 0, bytes.length);
  }

  end(): AnswerFault | undefined {
    const { bytes, keptBytes } = this.pieces;
    return this.whole(bytes, 0, keptBytes);
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
