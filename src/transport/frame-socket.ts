import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Frames of bytes over TCP. Each frame follows its length in four bytes. */

const LENGTH_BYTES = 4;

/** Largest frame, in bytes. A peer that announces a larger one is disconnected. */
export const MOST_FRAME_BYTES = 16 * 1024 * 1024;

/** A connection that carries frames. */
export class FrameSocket {
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>;
  private readonly socket: Socket;
  private rest: Buffer = Buffer.alloc(0);

  /** @param receive receives each frame, whose bytes are valid only during the call */
  constructor(socket: Socket, receive: (frame: Uint8Array) => void) {
    this.socket = socket;
    socket.setNoDelay();
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.on("data", (data) => this.add(data, receive));
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  /** Sends a frame. Frames sent after the connection was closed are lost. */
  send(bytes: Uint8Array): void {
    const { socket } = this;
    if (socket.destroyed) return;
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(bytes.length);
    socket.cork();
    socket.write(length);
    socket.write(bytes);
    socket.uncork();
  }

  /** Closes the connection after everything sent has left. */
  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  private add(data: Buffer, receive: (frame: Uint8Array) => void): void {
    this.rest = this.rest.length === 0 ? data : Buffer.concat([this.rest, data]);
    while (this.rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + this.rest.readUInt32BE(0);
      if (end > MOST_FRAME_BYTES) this.socket.destroy();
      if (end > MOST_FRAME_BYTES || this.rest.length < end) return;
      const frame = this.rest.subarray(LENGTH_BYTES, end);
      this.rest = this.rest.subarray(end);
      receive(frame);
    }
  }
}

/** A listener for connections that carry frames. */
export interface FrameServer {
  readonly port: number;
  /** Stops accepting connections. Open connections are not closed. */
  close(): void;
}

/** Listens on all addresses of this host, on a free port. @param accept returns the receiver of a connection's frames */
export async function listenForFrames(
  accept: (socket: FrameSocket) => (frame: Uint8Array) => void,
): Promise<FrameServer> {
  const server = createServer((socket) => {
    let receive: (frame: Uint8Array) => void = () => {};
    const frames = new FrameSocket(socket, (frame) => receive(frame));
    receive = accept(frames);
  });
  server.listen(0);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the listener has no port");
  return { port: address.port, close: () => server.close() };
}

/** Connects to a listener. @throws Error when it cannot be reached */
export async function connectFrames(
  host: string,
  port: number,
  receive: (frame: Uint8Array) => void,
): Promise<FrameSocket> {
  const socket = connect(port, host);
  const frames = new FrameSocket(socket, receive);
  await once(socket, "connect");
  return frames;
}
