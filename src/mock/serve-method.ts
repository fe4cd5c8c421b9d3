import { constants, type ServerHttp2Stream } from "node:http2";
import { messageOf } from "../plan/problem.ts";
import { CutError, frame, onMessages, openAnswer, refuseCall, STATUS, StatusError, toTrailers } from "./grpc-frames.ts";
import type { MockMethod } from "./services/service.ts";

/** Answers one call of a service's method. Stops when the client disconnects. */
export async function serveMethod(stream: ServerHttp2Stream, method: MockMethod, encoding: string): Promise<void> {
  let trailers = toTrailers(STATUS.ok);
  try {
    for await (const message of method(readMessages(stream, encoding))) {
      if (stream.destroyed) return;
      if (!stream.headersSent) openAnswer(stream, () => trailers);
      stream.write(frame(message));
    }
  } catch (error) {
    if (error instanceof CutError) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    const code = error instanceof StatusError ? error.code : STATUS.internal;
    trailers = toTrailers(code, messageOf(error));
    if (!stream.headersSent) return refuseCall(stream, code, messageOf(error));
  }
  if (stream.destroyed) return;
  if (!stream.headersSent) openAnswer(stream, () => trailers);
  stream.end();
}

/** The messages of a call, until the client has ended its side or disconnects. */
async function* readMessages(stream: ServerHttp2Stream, encoding: string): AsyncGenerator<Uint8Array> {
  const waiting: (() => Uint8Array)[] = [];
  let hasEnded = false;
  let wake = (): void => {};
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  onMessages(stream, encoding, (read) => {
    waiting.push(read);
    wake();
  });
  stream.on("end", end);
  stream.on("close", end);
  for (;;) {
    const read = waiting.shift();
    if (read !== undefined) yield read();
    else if (hasEnded) return;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}
