import { connect, createServer, type Socket } from "node:net";
import { HpackDecoder } from "../../../src/transport/http2/hpack.ts";
import { join, toText } from "../bytes.ts";
import { requestsIn } from "../http1/requests-in.ts";
import { framesIn, TYPE } from "../http2/write-frames.ts";

/** A request as a server saw it. */
export interface SeenRequest {
  /** HTTP/1.1: the request line. gRPC: the path. */
  readonly line: string;
  /** Sorted by name. */
  readonly headers: readonly string[];
  /** The body, or the DATA of the stream. */
  readonly body: string;
}

/** Passes bytes on to a port and keeps what clients sent. */
export class RecordingProxy {
  port = 0;
  private readonly sockets = new Set<Socket>();
  private readonly sent: Uint8Array[][] = [];
  private readonly server = createServer((near) => this.accept(near));
  private readonly target: number;

  constructor(target: number) {
    this.target = target;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.port = (this.server.address() as { port: number }).port;
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  /** What each connection sent. */
  get connections(): Uint8Array[] {
    return this.sent.map((pieces) => join(...pieces));
  }

  private accept(near: Socket): void {
    const far = connect(this.target, "127.0.0.1");
    const pieces: Uint8Array[] = [];
    this.sent.push(pieces);
    near.on("data", (piece: Uint8Array) => pieces.push(piece.slice()));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(from);
      from.on("data", (piece) => to.write(piece));
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  }
}

/** Headers that name or belong to the client itself rather than to the request. */
const OWN_TO_CLIENT = new Set([
  "user-agent",
  "connection",
  "accept",
  "accept-encoding",
  "grpc-accept-encoding",
  "grpc-timeout",
]);

function sorted(headers: readonly (readonly [string, string])[]): string[] {
  return headers
    .filter(([name]) => !OWN_TO_CLIENT.has(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
}

/** Requests of HTTP/1.1 connections. */
export function seenOverHttp1(connections: readonly Uint8Array[]): SeenRequest[] {
  return connections
    .flatMap((bytes) => requestsIn(new Uint8Array(bytes)))
    .map(({ line, headers, body }) => ({ line, headers: sorted(headers), body: toText(body) }));
}

/** Streams of HTTP/2 connections. */
export function seenOverHttp2(connections: readonly Uint8Array[]): SeenRequest[] {
  return connections.flatMap((bytes) => {
    const decoder = new HpackDecoder(4096);
    const streams = new Map<number, { headers: [string, string][]; body: string }>();
    let block = new Uint8Array(0);
    for (const { type, flags, streamId, payload } of framesIn(new Uint8Array(bytes))) {
      if (type === TYPE.headers || type === TYPE.continuation) {
        block = join(block, payload) as Uint8Array<ArrayBuffer>;
        if ((flags & 4) === 0) continue;
        streams.set(streamId, { headers: decoder.decode(block).map(([name, value]) => [name, value]), body: "" });
        block = new Uint8Array(0);
      } else if (type === TYPE.data) {
        const stream = streams.get(streamId);
        if (stream !== undefined) stream.body += toText(payload);
      }
    }
    return [...streams.values()].map(({ headers, body }) => ({
      line: headers.find(([name]) => name === ":path")?.[1] ?? "",
      headers: sorted(headers),
      body,
    }));
  });
}
