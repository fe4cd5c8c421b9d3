import type { OpenSocket, Socket, SocketHandlers } from "../../runtime/socket.ts";
import type { SampleResponse } from "./sample-response.ts";

const encoder = new TextEncoder();
const CHUNKS_END = encoder.encode("0\r\n\r\n");
const LINE_END = encoder.encode("\r\n");

/**
 * Opens sockets without a network to an HTTP/1.1 server that gives each request the same response: a body at once, or a stream of events,
 * one event per connection and turn of the event loop. A write counts as a complete request.
 */
export function openHttp1Sink(response: SampleResponse): OpenSocket {
  const pieces = response.isEvents === true ? streamPieces(response) : [wholeResponse(response)];
  const answering: { readonly handlers: SocketHandlers; next: number }[] = [];
  const playNext = (): void => {
    for (const one of answering.splice(0)) {
      const piece = pieces[one.next++] as Uint8Array;
      if (one.next < pieces.length) answering.push(one);
      one.handlers.onData(piece);
    }
    if (answering.length > 0) setImmediate(playNext);
  };
  return (_, handlers): Socket => {
    setImmediate(() => handlers.onOpen());
    return {
      write: () => {
        if (answering.length === 0) setImmediate(playNext);
        answering.push({ handlers, next: 0 });
        return true;
      },
      close: () => {},
      pendingBytes: 0,
    };
  };
}

function wholeResponse({ parts, ...response }: SampleResponse): Uint8Array {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([headOf(response, `Content-Length: ${size}`), ...parts]);
}

function streamPieces({ parts, ...response }: SampleResponse): Uint8Array[] {
  const chunks = parts.map((part) => [encoder.encode(`${part.length.toString(16)}\r\n`), part, LINE_END]);
  const pieces = [headOf(response, "Transfer-Encoding: chunked"), ...chunks.map((chunk) => Buffer.concat(chunk))];
  pieces.push(Buffer.concat([pieces.pop() as Uint8Array, CHUNKS_END]));
  return pieces;
}

function headOf({ headers = [] }: Pick<SampleResponse, "headers">, length: string): Uint8Array {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return encoder.encode(`HTTP/1.1 200 OK\r\n${lines}${length}\r\n\r\n`);
}
