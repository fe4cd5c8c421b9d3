import type { Http2Server, Http2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { gunzipSync, inflateSync } from "node:zlib";
import { createGrpcServer } from "../../src/mock/grpc-server.ts";
import { MockModel } from "../../src/mock/model.ts";
import type { MockPlan } from "../../src/plan/mock.ts";
import { decodeMessage, type ProtoObject } from "../../src/service/protobuf/message.ts";
import { INFER_REQUEST } from "../../src/service/triton/messages.ts";

/** The mock's gRPC front end with a recorder beside it: the runtime's own HTTP/2 server tells which calls came, with which metadata. */

/** A call as it arrived. */
export interface SeenCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The messages sent so far, without their prefixes and decompressed. */
  readonly messages: Uint8Array[];
  /** The compressed-flag of each message. */
  readonly flags: number[];
}

/** A listening recorder. */
export interface GrpcRecorder extends AsyncDisposable {
  readonly url: string;
  readonly calls: SeenCall[];
  /** All inference requests, decoded, of unary calls and streams. */
  infers(): ProtoObject[];
}

/** A mock that answers at once and never fails. */
export const PLAIN_MOCK: MockPlan = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0 };

const PREFIX_BYTES = 5;

/** Starts the server on a free loopback port. */
export async function startGrpcRecorder(plan: MockPlan = PLAIN_MOCK): Promise<GrpcRecorder> {
  const server: Http2Server = createGrpcServer(new MockModel(plan));
  const sessions = new Set<Http2Session>();
  const calls: SeenCall[] = [];
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    const messages: Uint8Array[] = [];
    const flags: number[] = [];
    calls.push({ path: String(headers[":path"]), headers: { ...headers } as SeenCall["headers"], messages, flags });
    const decompress = headers["grpc-encoding"] === "gzip" ? gunzipSync : inflateSync;
    let buffer = Buffer.alloc(0);
    stream.on("data", (piece: Buffer) => {
      buffer = Buffer.concat([buffer, piece]);
      while (buffer.length >= PREFIX_BYTES && buffer.length >= PREFIX_BYTES + buffer.readUInt32BE(1)) {
        const end = PREFIX_BYTES + buffer.readUInt32BE(1);
        const message = buffer.subarray(PREFIX_BYTES, end);
        flags.push(buffer[0] as number);
        messages.push(new Uint8Array(buffer[0] === 1 ? decompress(message) : message));
        buffer = buffer.subarray(end);
      }
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
  return {
    url: `127.0.0.1:${port}`,
    calls,
    infers: () =>
      calls
        .filter(({ path }) => path.endsWith("Infer"))
        .flatMap(({ messages }) => messages.map((message) => decodeMessage(INFER_REQUEST, message))),
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
