import { createSecureServer, createServer, type Http2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";

/** A small gRPC server in this process whose messages the test decides, byte by byte. */

/**
 * What a method answers: messages, without their prefixes, at once or one by one, or a status of gRPC. Of a stream each message of the request
 * is answered, and of a unary call its only one.
 */
export type GrpcAnswer = (message: Uint8Array) => readonly Uint8Array[] | AsyncIterable<Uint8Array> | number;

export interface GrpcAnsweringServer extends Disposable {
  /** `127.0.0.1:PORT`. */
  readonly url: string;
  /** Names of the methods that were called, in order. */
  readonly called: readonly string[];
  close(): void;
}

const PREFIX_BYTES = 5;
const UNIMPLEMENTED = 12;

/**
 * Starts a server on a free port.
 * @param methods by name, such as `ModelInfer`; calls of others end with UNIMPLEMENTED
 * @param tls key and certificate in PEM; absent: no TLS
 */
export async function startGrpcAnsweringServer(
  methods: Readonly<Record<string, GrpcAnswer>>,
  tls?: { readonly key: Buffer; readonly cert: Buffer },
): Promise<GrpcAnsweringServer> {
  const called: string[] = [];
  const sessions = new Set<Http2Session>();
  const server = tls === undefined ? createServer() : createSecureServer(tls);
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => {
    const name = String(headers[":path"]).split("/").at(-1) ?? "";
    called.push(name);
    let status = 0;
    const open: Promise<void>[] = [];
    let buffer = Buffer.alloc(0);
    stream.on("error", () => {});
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(status) }));
    stream.on("data", (piece: Buffer) => {
      buffer = Buffer.concat([buffer, piece]);
      while (buffer.length >= PREFIX_BYTES && buffer.length >= PREFIX_BYTES + buffer.readUInt32BE(1)) {
        const end = PREFIX_BYTES + buffer.readUInt32BE(1);
        const answer = methods[name]?.(new Uint8Array(buffer.subarray(PREFIX_BYTES, end))) ?? UNIMPLEMENTED;
        buffer = buffer.subarray(end);
        if (typeof answer === "number") status = answer;
        else if (Symbol.asyncIterator in answer) open.push(pour(answer, stream));
        else for (const message of answer) stream.write(frame(message));
      }
    });
    stream.on("end", () => void Promise.all(open).then(() => stream.end()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    for (const session of sessions) session.destroy();
    server.close();
  };
  return { url: `127.0.0.1:${(server.address() as AddressInfo).port}`, called, close, [Symbol.dispose]: close };
}

async function pour(messages: AsyncIterable<Uint8Array>, stream: ServerHttp2Stream): Promise<void> {
  for await (const message of messages) if (!stream.destroyed) stream.write(frame(message));
}

function frame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
