import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Socket as NetSocket, type Server } from "node:net";
import { test } from "node:test";
import { isRefusedAfterClose, type OpenSocket, type Socket, type SocketHandlers } from "../../src/runtime/socket.ts";
import { openSocket } from "../../src/runtime/sockets.ts";
import { openNodeSocket } from "../../src/runtime/sockets-node.ts";
import { describeConnectError } from "../../src/transport/connect-failure.ts";
import { LIMIT } from "../time-limit.ts";

/**
 * The contract of sockets, the same on each runtime: for this runtime's own plain sockets, and for those of `node:net`, which carry TLS
 * on all three.
 */

const IMPLEMENTATIONS: readonly (readonly [name: string, open: OpenSocket])[] = [
  ["this runtime's sockets", openSocket],
  ["node:net sockets", openNodeSocket],
];

/** Everything a socket told, and promises for it. */
class Listener {
  readonly events: string[] = [];
  readonly pieces: Uint8Array[] = [];
  receivedBytes = 0;
  error: Error | undefined;
  closeCount = 0;
  onPiece: () => void = () => {};
  readonly opened: Promise<void>;
  readonly closed: Promise<void>;
  private readonly waiting: { bytes: number; resolve: () => void }[] = [];
  private settleOpened: () => void = () => {};
  private settleClosed: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.settleOpened = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.settleClosed = resolve;
    });
  }

  onOpen(): void {
    this.events.push("open");
    this.settleOpened();
  }

  onData(bytes: Uint8Array): void {
    if (this.events.at(-1) !== "data") this.events.push("data");
    this.pieces.push(bytes.slice());
    this.receivedBytes += bytes.length;
    this.onPiece();
    for (const { bytes: wanted, resolve } of this.waiting) if (this.receivedBytes >= wanted) resolve();
  }

  onClose(error: Error | undefined): void {
    this.events.push("close");
    this.closeCount++;
    this.error = error;
    this.settleClosed();
  }

  /** Resolves when so many bytes have arrived in all. */
  received(bytes: number): Promise<void> {
    if (this.receivedBytes >= bytes) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push({ bytes, resolve }));
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }
}

/** Handlers that tell the listener everything. */
function withUnanswered(listener: Listener, isUnanswered: boolean): SocketHandlers {
  return {
    onOpen: () => listener.onOpen(),
    onData: (bytes) => listener.onData(bytes),
    onClose: (error) => listener.onClose(error),
    isUnanswered: () => isUnanswered,
  };
}

async function withServer(
  onConnection: (socket: NetSocket) => void,
  use: (port: number) => Promise<void>,
): Promise<void> {
  const sockets = new Set<NetSocket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
  try {
    await use(port);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

function connect(open: OpenSocket, port: number): { listener: Listener; socket: Socket } {
  const listener = new Listener();
  return { listener, socket: open({ host: "127.0.0.1", port }, listener) };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function collect(socket: NetSocket, wantedBytes: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let size = 0;
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (size >= wantedBytes) resolve(Buffer.concat(pieces));
    });
  });
}

/** Bytes whose place can be told from their value. */
function pattern(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >>> 8)) & 255;
  return bytes;
}

for (const [name, open] of IMPLEMENTATIONS) {
  test(`${name}: open, exchange bytes, close`, async () => {
    await withServer(
      (socket) => socket.on("data", (piece: Buffer) => socket.write(piece)),
      async (port) => {
        const { listener, socket } = connect(open, port);
        await listener.opened;
        socket.write(encode("hello "));
        socket.write(encode("world"));
        await listener.received(11);
        assert.equal(listener.text, "hello world");
        assert.equal(socket.pendingBytes, 0);
        socket.close();
        await listener.closed;
        assert.deepEqual(listener.events, ["open", "data", "close"]);
        assert.equal(listener.error, undefined);
      },
    );
  });

  test(`${name}: bytes written before the connection opens are sent in order`, async () => {
    let arrived: Promise<Buffer> | undefined;
    await withServer(
      (socket) => {
        arrived = collect(socket, 9).then((bytes) => {
          socket.write("ok");
          return bytes;
        });
      },
      async (port) => {
        const { listener, socket } = connect(open, port);
        for (const text of ["one", "two", "six"]) socket.write(encode(text));
        await listener.received(2);
        assert.equal(String(await arrived), "onetwosix");
        socket.close();
      },
    );
  });

  test(`${name}: a peer that does not read makes bytes wait, and none is lost or changed`, LIMIT, async () => {
    const size = 16 * 1024 * 1024;
    let peer: NetSocket | undefined;
    let accepted: () => void = () => {};
    const hasPeer = new Promise<void>((resolve) => {
      accepted = resolve;
    });
    await withServer(
      (socket) => {
        socket.pause();
        peer = socket;
        accepted();
      },
      async (port) => {
        const { listener, socket } = connect(open, port);
        await Promise.all([listener.opened, hasPeer]);
        const bytes = pattern(size);
        const half = size / 2;
        socket.write(bytes.subarray(0, half));
        socket.write(bytes.subarray(half));
        assert.ok(socket.pendingBytes > 0, "16 MiB can not fit into the kernel's buffers");
        const arrived = collect(peer as NetSocket, size);
        (peer as NetSocket).resume();
        assert.equal(Buffer.compare(await arrived, bytes), 0);
        (peer as NetSocket).write("done");
        await listener.received(4);
        assert.equal(socket.pendingBytes, 0);
        socket.close();
      },
    );
  });

  test(`${name}: a buffer that was taken over may be changed at once`, async () => {
    const count = 2000;
    let arrived: Promise<Buffer> | undefined;
    await withServer(
      (socket) => {
        arrived = collect(socket, count * 64);
        void arrived.then(() => socket.write("!"));
      },
      async (port) => {
        const { listener, socket } = connect(open, port);
        await listener.opened;
        let buffer = new Uint8Array(64);
        for (let i = 0; i < count; i++) {
          buffer.fill(i & 255);
          const isTaken = socket.write(buffer);
          if (isTaken) buffer.fill(0xee);
          else buffer = new Uint8Array(64);
        }
        await listener.received(1);
        const bytes = (await arrived) as Buffer;
        assert.ok(bytes.every((byte, index) => byte === (Math.floor(index / 64) & 255)));
        socket.close();
      },
    );
  });

  test(`${name}: bytes sent before an orderly end arrive before the close`, async () => {
    await withServer(
      (socket) => socket.end("farewell"),
      async (port) => {
        const { listener } = connect(open, port);
        await listener.closed;
        assert.deepEqual(listener.events, ["open", "data", "close"]);
        assert.equal(listener.text, "farewell");
        assert.equal(listener.error, undefined);
        assert.equal(listener.closeCount, 1);
      },
    );
  });

  test(`${name}: a refused connection closes with an error and never opens`, async () => {
    let freePort = 0;
    await withServer(
      () => {},
      (port) => {
        freePort = port;
        return Promise.resolve();
      },
    );
    const { listener, socket } = connect(open, freePort);
    socket.write(encode("lost"));
    await listener.closed;
    assert.deepEqual(listener.events, ["close"]);
    assert.equal(describeConnectError(listener.error), "Connection refused");
    socket.close();
    assert.equal(listener.closeCount, 1);
  });

  test(`${name}: a connection reset by the peer closes exactly once`, async () => {
    await withServer(
      (socket) => socket.on("data", () => socket.resetAndDestroy()),
      async (port) => {
        const { listener, socket } = connect(open, port);
        await listener.opened;
        socket.write(encode("x"));
        await listener.closed;
        socket.write(encode("y"));
        socket.close();
        await new Promise((resolve) => setImmediate(resolve));
        assert.equal(listener.closeCount, 1);
        assert.deepEqual(listener.events, ["open", "close"]);
      },
    );
  });

  for (const [what, isUnanswered, expected] of [
    ["what the peer refused after it had closed is told from an orderly close", true, true],
    ["nobody waits for a refusal where nothing is unanswered", false, false],
  ] as const) {
    test(`${name}: ${what}`, async () => {
      await withServer(
        (socket) => {
          socket.once("data", () => {
            socket.write("bye");
            socket.end();
            socket.destroySoon();
          });
        },
        async (port) => {
          const listener = new Listener();
          const socket = open({ host: "127.0.0.1", port }, withUnanswered(listener, isUnanswered));
          // The close has arrived by now, and has not been read.
          listener.onPiece = () => socket.write(encode("late"));
          await listener.opened;
          socket.write(encode("x"));
          await listener.closed;
          assert.equal(isRefusedAfterClose(listener.error), expected);
        },
      );
    });
  }

  test(`${name}: bytes that the peer read before it closed do not count as refused`, async () => {
    let text = "";
    await withServer(
      (socket) => {
        socket.on("data", (piece: Buffer) => {
          text += String(piece);
          socket.end();
        });
      },
      async (port) => {
        const listener = new Listener();
        const socket = open({ host: "127.0.0.1", port }, withUnanswered(listener, true));
        await listener.opened;
        socket.write(encode("x"));
        await listener.closed;
        assert.deepEqual([text[0], isRefusedAfterClose(listener.error)], ["x", false]);
      },
    );
  });

  test(`${name}: close ends the connection for the peer too, and drops later writes`, async () => {
    let peerEnded: Promise<string> | undefined;
    await withServer(
      (socket) => {
        peerEnded = new Promise((resolve) => {
          let text = "";
          socket.on("data", (piece: Buffer) => {
            text += String(piece);
            if (text === "last") socket.write("seen");
          });
          socket.on("end", () => resolve(text));
          socket.on("close", () => resolve(text));
        });
      },
      async (port) => {
        const { listener, socket } = connect(open, port);
        await listener.opened;
        socket.write(encode("last"));
        await listener.received(4);
        socket.close();
        socket.close();
        assert.equal(socket.write(encode("dropped")), true);
        assert.equal(await peerEnded, "last");
        assert.deepEqual([listener.closeCount, listener.error], [1, undefined]);
      },
    );
  });

  test(`${name}: closing before the connection opens never opens it`, async () => {
    await withServer(
      () => {},
      async (port) => {
        const { listener, socket } = connect(open, port);
        socket.close();
        await listener.closed;
        // Another connection's round shows that the first had time to open.
        const second = connect(open, port);
        await second.listener.opened;
        second.socket.close();
        assert.deepEqual(listener.events, ["close"]);
      },
    );
  });

  test(`${name}: nothing arrives after close, called from inside a callback`, async () => {
    await withServer(
      (socket) => {
        const timer = setInterval(() => socket.write(pattern(1000)), 1);
        socket.on("close", () => clearInterval(timer));
        socket.on("end", () => socket.destroy());
      },
      async (port) => {
        const listener = new Listener();
        const socket: Socket = open({ host: "127.0.0.1", port }, listener);
        listener.onPiece = () => socket.close();
        await listener.closed;
        const { receivedBytes } = listener;
        const second = connect(open, port);
        await second.listener.received(3000);
        second.socket.close();
        assert.equal(listener.receivedBytes, receivedBytes);
        assert.deepEqual(listener.events, ["open", "data", "close"]);
      },
    );
  });
}
