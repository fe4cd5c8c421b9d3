import { ResponseParser } from "../../../src/transport/http1/parser.ts";
import { join } from "../bytes.ts";

/** A response as the parser told of it. */
export interface ReadResponse {
  readonly status: number;
  readonly body: Uint8Array;
  readonly jsonBytes: number;
  readonly keepAlive: boolean;
}

/** Feeds the pieces of a connection; a parser's own error is thrown. @param isEnded the connection closes after them */
export function readResponses(pieces: readonly Uint8Array[], isEnded = false): ReadResponse[] {
  const responses: ReadResponse[] = [];
  let body: Uint8Array[] = [];
  const parser = new ResponseParser({
    onHead: () => true,
    onBody: (bytes, start, end) => {
      body.push(bytes.slice(start, end));
    },
    onComplete: ({ head: { status, jsonBytes }, keepAlive }) => {
      responses.push({ status, body: join(...body), jsonBytes, keepAlive });
      body = [];
    },
  });
  for (const piece of pieces) parser.feed(piece);
  if (isEnded) parser.end();
  return responses;
}
