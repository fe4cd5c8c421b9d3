import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A small HTTP server in this process that answers each request as a test says and remembers them all. */

/** A request with the whole of its body. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** Answers the request that came as number `index`, from 0. */
export type Answer = (response: ServerResponse, index: number) => void;

export interface AnsweringServer extends Disposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** In the order in which they were complete. */
  readonly received: readonly ReceivedRequest[];
  /** Ends its connections too. */
  close(): void;
}

const TURN_MS = 4;
const TURNS = 6;

/**
 * Ends an answer with `text` about 24 ms after what was written to it before, and only after several turns of the event loop: a client
 * in this process reads the two one after the other, however long one turn takes on a busy machine.
 */
export function endLater(response: ServerResponse, text: string, turns = TURNS): void {
  setTimeout(() => (turns > 1 ? endLater(response, text, turns - 1) : response.end(text)), TURN_MS);
}

/** Starts a server on a free port. */
export async function startAnsweringServer(answer: Answer): Promise<AnsweringServer> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const bytes = Buffer.concat(pieces);
    answer(response, received.push({ method, path, headers, text: bytes.toString(), bytes }) - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close,
    [Symbol.dispose]: close,
  };
}
