import { randomBytes, timingSafeEqual } from "node:crypto";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import { connectFrames, type FrameSocket, listenForFrames, MOST_FRAME_BYTES } from "../../../transport/frame-socket.ts";
import type { Bus } from "./bus.ts";
import { pack, unpack } from "./pack.ts";

/** A bus between a launcher's processes. One of them is its hub, so no separate server is needed. */

/** First message of a client. The hub replies when it knows the token. */
interface Hello {
  readonly token: string;
}

/** A message between a client and the hub. */
type Envelope =
  | { readonly kind: "subscribe" | "unsubscribe"; readonly subject: string }
  | { readonly kind: "message"; readonly subject: string; readonly message: unknown; readonly reply: string };

/** Longest wait for a client's token, after which it is disconnected, and for a client that leaves. */
const PATIENCE_MS = 5000;
const TOKEN_BYTES = 24;

/** The hub of a bus. */
export interface TcpHub {
  readonly port: number;
  /** Token that clients must present. */
  readonly token: string;
  /** Resolves when this number of connections with the token have been opened. */
  joined(count: number): Promise<void>;
  close(): void;
}

/** Opens a hub on all addresses of this host. Clients without the token are disconnected. */
export async function openTcpHub(): Promise<TcpHub> {
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const hub = new Hub(token);
  const server = await listenForFrames((socket) => hub.accept(socket));
  return {
    port: server.port,
    token,
    joined: (count) => hub.joined(count),
    close: () => {
      server.close();
      hub.close();
    },
  };
}

class Hub {
  private readonly token: Buffer;
  /** Subjects that each client is subscribed to. */
  private readonly clients = new Map<FrameSocket, Set<string>>();
  private readonly strangers = new Set<FrameSocket>();
  private joinedCount = 0;
  private onJoin: () => void = () => {};

  constructor(token: string) {
    this.token = Buffer.from(token);
  }

  accept(socket: FrameSocket): (frame: Uint8Array) => void {
    this.strangers.add(socket);
    const timer = setTimeout(() => {
      if (this.strangers.has(socket)) socket.destroy();
    }, PATIENCE_MS);
    void socket.closed.then(() => {
      clearTimeout(timer);
      this.strangers.delete(socket);
      this.clients.delete(socket);
    });
    return (frame) => this.receive(socket, frame);
  }

  joined(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.onJoin = () => {
        if (this.joinedCount >= count) resolve();
      };
      this.onJoin();
    });
  }

  close(): void {
    for (const socket of [...this.clients.keys(), ...this.strangers]) socket.destroy();
  }

  private receive(socket: FrameSocket, frame: Uint8Array): void {
    const subjects = this.clients.get(socket);
    try {
      if (subjects === undefined) this.greet(socket, unpack(frame));
      else this.pass(socket, subjects, unpack(frame) as Envelope, frame);
    } catch {
      // The client speaks another protocol.
      socket.destroy();
    }
  }

  private pass(socket: FrameSocket, subjects: Set<string>, envelope: Envelope, frame: Uint8Array): void {
    if (envelope.kind === "subscribe") subjects.add(envelope.subject);
    else if (envelope.kind === "unsubscribe") subjects.delete(envelope.subject);
    else
      for (const [other, wanted] of this.clients)
        if (other !== socket && wanted.has(envelope.subject)) other.send(frame.slice());
  }

  private greet(socket: FrameSocket, hello: unknown): void {
    const { token } = (hello ?? {}) as Partial<Hello>;
    const given = Buffer.from(typeof token === "string" ? token : "");
    if (given.length !== this.token.length || !timingSafeEqual(given, this.token)) {
      socket.destroy();
      return;
    }
    this.strangers.delete(socket);
    this.clients.set(socket, new Set());
    socket.send(pack({}));
    this.joinedCount++;
    this.onJoin();
  }
}

/** A client of a hub. */
export interface TcpBus extends Bus {
  /** Resolves when the connection to the hub has ended. */
  readonly ended: Promise<unknown>;
}

/** Connects to a hub: `tcp://TOKEN@HOST:PORT`. @throws RunError when it cannot be reached or refuses */
export async function openTcpBus(url: string): Promise<TcpBus> {
  const { hostname, port, username: token } = new URL(url);
  const bus = new ClientBus();
  try {
    await bus.open(hostname.replace(/^\[|\]$/g, ""), Number(port), token);
  } catch (error) {
    const message = `the first process of the launch cannot be reached at ${hostname}:${port}: ${messageOf(error)}`;
    throw new RunError("unreachable", message, "Look whether the hosts of the launch reach each other by TCP.");
  }
  return bus;
}

class ClientBus implements TcpBus {
  readonly mostBytes = MOST_FRAME_BYTES / 2;
  private socket: FrameSocket | undefined;
  private readonly receivers = new Map<string, Set<(message: unknown, reply: string) => void>>();
  private readonly greeted = Promise.withResolvers<void>();
  private isGreeted = false;

  async open(host: string, port: number, token: string): Promise<void> {
    const socket = await connectFrames(host, port, (frame) => this.receive(frame));
    this.socket = socket;
    socket.send(pack({ token } satisfies Hello));
    await Promise.race([this.greeted.promise, socket.closed]);
    if (!this.isGreeted) throw new Error("it refused the token");
  }

  get isConnected(): boolean {
    return this.socket?.isClosed === false;
  }

  get ended(): Promise<unknown> {
    return this.socket?.closed ?? Promise.resolve();
  }

  subscribe(subject: string, receive: (message: unknown, reply: string) => void): () => void {
    const others = this.receivers.get(subject) ?? new Set();
    this.receivers.set(subject, others.add(receive));
    if (others.size === 1) this.send({ kind: "subscribe", subject });
    return () => {
      others.delete(receive);
      if (others.size > 0) return;
      this.receivers.delete(subject);
      this.send({ kind: "unsubscribe", subject });
    };
  }

  publish(subject: string, message: unknown, reply = ""): void {
    this.send({ kind: "message", subject, message, reply });
  }

  createInbox(): string {
    return `inbox.${randomBytes(TOKEN_BYTES).toString("hex")}`;
  }

  async close(): Promise<void> {
    this.socket?.end();
    await sleepUnless(PATIENCE_MS, this.ended);
    this.socket?.destroy();
  }

  private send(envelope: Envelope): void {
    this.socket?.send(pack(envelope));
  }

  private receive(frame: Uint8Array): void {
    if (!this.isGreeted) {
      this.isGreeted = true;
      this.greeted.resolve();
      return;
    }
    const { subject, message, reply } = unpack(frame) as Extract<Envelope, { kind: "message" }>;
    for (const receive of this.receivers.get(subject) ?? []) receive(message, reply);
  }
}
