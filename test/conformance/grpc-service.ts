import { readFileSync } from "node:fs";
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { SequenceRequest } from "../run/send/sequence-traffic.ts";
import {
  type ExpectedFailure,
  type Fault,
  LARGE_BYTES,
  type RowServer,
  type ServerSettings,
  SLOW_MS,
  Traffic,
} from "./row.ts";

/** Servers for rows whose protocol is gRPC: a row says how to answer well, and all the faults are here. */

/** How a server of one kind answers. Methods have their names without the service: `ModelInfer`. */
export interface GrpcService {
  /** Whether calls of a method belong to the load; the others are queries. */
  isLoad(method: string): boolean;
  /** Whether each message of the load is a request of its own, on a stream that stays open. */
  readonly isStream: boolean;
  /** Returns the messages of the good answer; undefined when the server does not have the method. */
  answer(
    method: string,
    message: Uint8Array,
    settings: ServerSettings,
    traffic: Traffic,
  ): readonly Uint8Array[] | undefined;
  /** Returns the message that reports a failure. Absent: the call ends with the status INTERNAL. */
  error?(message: Uint8Array): Uint8Array;
  /** Returns the request's place in a sequence. Absent: the kind has no sequences. */
  sequence?(message: Uint8Array): SequenceRequest | undefined;
}

const INTERNAL = 13;
const UNIMPLEMENTED = 12;
const PREFIX_BYTES = 5;
/** A field that no message has, with a length: `15000`. */
const UNKNOWN_FIELD_TAG = [0xc2, 0xa9, 0x07];

/** How a client counts the faults of a server over gRPC. */
export const GRPC_FAILURES = {
  error: { kind: "grpc", status: INTERNAL },
  silent: { kind: "stalled" },
  close: { kind: "closed" },
  break: { kind: "closed" },
  "wrong-type": { kind: "protocol" },
  huge: { kind: "limit" },
} as const satisfies Partial<Record<Fault, ExpectedFailure>>;

/** Returns how to start servers of a kind, on free ports. */
export function grpcServers(service: GrpcService): (settings: ServerSettings) => Promise<RowServer> {
  return async (settings) => {
    const traffic = new Traffic();
    const sessions = new Set<Http2Session>();
    const sockets = new Map<number | undefined, Socket>();
    const server = createHttp2Server(settings);
    server.on(settings.certificates === undefined ? "connection" : "secureConnection", (socket: Socket) => {
      sockets.set(socket.remotePort, socket);
      socket.on("error", () => {});
    });
    server.on("session", (session) => {
      sessions.add(session);
      session.on("close", () => sessions.delete(session));
      session.on("error", () => {});
    });
    server.on("stream", (stream, headers) => {
      const method = String(headers[":path"]).split("/").at(-1) ?? "";
      // A destroyed session would say goodbye first.
      const drop = (): void => void sockets.get(stream.session?.socket.remotePort)?.destroy();
      new GrpcCall(service, settings, traffic, stream, method, drop).start();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      traffic,
      stop: async () => {
        for (const session of sessions) session.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };
}

function createHttp2Server({ certificates }: ServerSettings): Http2Server {
  if (certificates === undefined) return createServer();
  const files = { key: readFileSync(certificates.keyFile), cert: readFileSync(certificates.certFile) };
  return createSecureServer(files) as unknown as Http2Server;
}

/** One call at the server. */
class GrpcCall {
  private readonly service: GrpcService;
  private readonly settings: ServerSettings;
  private readonly traffic: Traffic;
  private readonly stream: ServerHttp2Stream;
  private readonly method: string;
  /** Closes the connection without a word. */
  private readonly drop: () => void;
  private buffer = Buffer.alloc(0);
  private status = 0;
  private pending = 0;
  private hasEnded = false;

  constructor(
    service: GrpcService,
    settings: ServerSettings,
    traffic: Traffic,
    stream: ServerHttp2Stream,
    method: string,
    drop: () => void,
  ) {
    this.service = service;
    this.settings = settings;
    this.traffic = traffic;
    this.stream = stream;
    this.method = method;
    this.drop = drop;
  }

  start(): void {
    this.stream.on("error", () => {});
    this.stream.on("data", (piece: Buffer) => this.read(piece));
    this.stream.on("end", () => {
      this.hasEnded = true;
      this.endIfDone();
    });
  }

  private read(piece: Buffer): void {
    this.buffer = Buffer.concat([this.buffer, piece]);
    while (this.buffer.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + this.buffer.readUInt32BE(1);
      if (this.buffer.length < end) return;
      const message = new Uint8Array(this.buffer.subarray(PREFIX_BYTES, end));
      this.buffer = this.buffer.subarray(end);
      this.pending++;
      void this.take(message).then((isDone) => {
        if (!isDone) return;
        this.pending--;
        this.endIfDone();
      });
    }
  }

  /** Answers a message. Resolves with false when the call is left as it is. */
  private async take(message: Uint8Array): Promise<boolean> {
    const { service, settings, traffic, method } = this;
    const good = (): readonly Uint8Array[] | undefined => service.answer(method, message, settings, traffic);
    if (!service.isLoad(method)) {
      const answer = good();
      if (answer === undefined) this.status = UNIMPLEMENTED;
      this.write(answer ?? []);
      return true;
    }
    const index = traffic.arrive(service.sequence?.(message));
    if (settings.holdUntil !== undefined) await traffic.until(settings.holdUntil);
    const fault = settings.fault(index);
    if (fault === "slow") await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    traffic.end(fault);
    if (fault === "silent") return false;
    if (fault === "close" || fault === "break") {
      if (fault === "close") this.drop();
      else this.breakOff(good() ?? []);
      return false;
    }
    if (fault === "wrong-type") {
      this.stream.respond({ ":status": 200, "content-type": "text/html" });
      this.stream.end("<!doctype html><title>Sign in</title>");
      return false;
    }
    if (fault === "error") this.fail(message);
    else this.write((good() ?? []).map((answer) => (fault === "large" || fault === "huge" ? pad(answer) : answer)));
    return true;
  }

  private fail(message: Uint8Array): void {
    const error = this.service.error?.(message);
    if (error === undefined) this.status = INTERNAL;
    this.write(error === undefined ? [] : [error]);
    if (error === undefined && this.service.isStream) this.hasEnded = true;
  }

  private respond(): void {
    if (this.stream.headersSent || this.stream.destroyed) return;
    this.stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    this.stream.on("wantTrailers", () => {
      this.stream.sendTrailers({ "grpc-status": String(this.status), "grpc-message": "made to fail" });
    });
  }

  private write(answers: readonly Uint8Array[]): void {
    this.respond();
    for (const answer of answers) if (!this.stream.destroyed) this.stream.write(frame(answer));
  }

  private breakOff([answer = new Uint8Array(8)]: readonly Uint8Array[]): void {
    this.respond();
    const framed = frame(answer);
    this.stream.write(framed.subarray(0, framed.length / 2), this.drop);
  }

  private endIfDone(): void {
    if (!this.hasEnded || this.pending > 0 || this.stream.destroyed) return;
    this.respond();
    this.stream.end();
  }
}

function frame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Returns a message with the same meaning and more bytes, in a field that readers skip. */
function pad(message: Uint8Array): Uint8Array {
  const length: number[] = [];
  for (let rest = LARGE_BYTES; rest > 0; rest >>>= 7) length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  return Buffer.concat([message, Buffer.from([...UNKNOWN_FIELD_TAG, ...length]), Buffer.alloc(LARGE_BYTES)]);
}
