import { DEFAULT_MOCK } from "../plan/mock.ts";
import { sleepUnless } from "../runtime/clock.ts";
import { startsCold } from "../runtime/cold-start.ts";
import type { Socket } from "../runtime/socket.ts";
import { openSocket } from "../runtime/sockets.ts";
import { EMBEDDED_LLM, EMBEDDED_MODEL } from "../service/embedded/target.ts";
import { encodeMessage } from "../service/protobuf/message.ts";
import { INFER_REQUEST } from "../service/triton/messages.ts";
import { FrameReader } from "../transport/http2/frame-reader.ts";
import {
  CONNECTION_PREFACE,
  DEFAULT_WINDOW_BYTES,
  encodeSettings,
  encodeWords,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  MAX_WINDOW_BYTES,
  putFrameHeader,
  SETTING,
} from "../transport/http2/frames.ts";
import { encodeLiterally } from "../transport/http2/hpack.ts";
import type { EmbeddedPorts, EmbeddedStart, WarmUpKind } from "./embedded.ts";
import { frame } from "./grpc-frames.ts";
import { LOOPBACK, startMock } from "./server.ts";

/** The warm-up ends after this time. Each kind gets an equal part of it; on an idle machine a kind needs a fifth of its part. */
const MOST_MS = 1500;
/** Largest number of requests of a kind. */
export const MOST_REQUESTS = 6000;
/** Requests in flight, and the maximum number of them on one gRPC connection, as Rampart sends them. */
const LANES = 12;
const LANES_PER_CONNECTION = 6;

const ELEMENTS = 16;
const INPUTS = ["INPUT0", "INPUT1"];
const TENSOR = new Uint8Array(Int32Array.from({ length: ELEMENTS }, (_, index) => index).buffer);

/** Starts the embedded target of a run on free loopback ports, warmed up for the requests of the run. Returns the ports. */
export async function startWarmMock({ plan, kind }: EmbeddedStart): Promise<EmbeddedPorts> {
  await warmUpMock([kind]);
  const { httpPort, grpcPort } = await startMock(plan, LOOPBACK);
  return { httpPort, grpcPort };
}

/**
 * Sends requests to another mock in this thread, which responds at once, so that the server's code is JIT-compiled before it is
 * measured. The counts of the mock itself do not change. The requests are sent as bytes over several parallel connections: a
 * general client would take most of the time.
 * @param kinds one after another. Default: all
 */
export async function warmUpMock(kinds: readonly WarmUpKind[] = ["http", "grpc", "chat"]): Promise<void> {
  if (startsCold()) return;
  const twin = await startMock(DEFAULT_MOCK, LOOPBACK);
  const senders: Readonly<Record<WarmUpKind, (load: Load) => Socket[]>> = {
    http: (load) => sendHttp(twin.httpPort, inferRequest(), load),
    chat: (load) => sendHttp(twin.httpPort, chatRequest(), load),
    grpc: (load) => sendGrpc(twin.grpcPort, load),
  };
  try {
    for (const kind of kinds) {
      const load = new Load(MOST_MS / kinds.length);
      const sockets = senders[kind](load);
      // A response that never arrives must not delay the start.
      await sleepUnless(MOST_MS, load.ended);
      for (const socket of sockets) socket.close();
    }
  } finally {
    await twin.stop();
  }
}

/** Counts requests until a limit is reached, or a connection ends. */
class Load {
  readonly ended: Promise<void>;
  readonly end: () => void;
  private left = MOST_REQUESTS;
  private readonly endMs: number;

  constructor(mostMs: number) {
    this.endMs = performance.now() + mostMs;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.end = resolve;
  }

  /** Reports whether another request may be sent. */
  next(): boolean {
    if (this.left-- > 0 && performance.now() < this.endMs) return true;
    this.end();
    return false;
  }
}

/** The headers that Rampart sends. */
const HEADERS = "Host: localhost\r\nUser-Agent: rampart\r\nAccept: */*\r\n";

function postRequest(path: string, type: string, body: Uint8Array, more = ""): Uint8Array {
  const head = `POST ${path} HTTP/1.1\r\n${HEADERS}${more}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Returns a request with binary tensors, as Rampart sends them. */
function inferRequest(): Uint8Array {
  const json = {
    id: "",
    inputs: INPUTS.map((name) => ({
      ...{ name, shape: [1, ELEMENTS], datatype: "INT32" },
      parameters: { binary_data_size: TENSOR.length },
    })),
    outputs: ["OUTPUT0", "OUTPUT1"].map((name) => ({ name, parameters: { binary_data: true } })),
  };
  const head = Buffer.from(JSON.stringify(json));
  const length = `Inference-Header-Content-Length: ${head.length}\r\n`;
  const body = Buffer.concat([head, ...INPUTS.map(() => TENSOR)]);
  return postRequest(`/v2/models/${EMBEDDED_MODEL}/infer`, "application/octet-stream", body, length);
}

function chatRequest(): Uint8Array {
  const body = { model: EMBEDDED_LLM, stream: true, messages: [{ role: "user", content: "x" }] };
  return postRequest("/v1/chat/completions", "application/json", Buffer.from(JSON.stringify(body)));
}

const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** Sends a request repeatedly over each connection. */
function sendHttp(port: number, request: Uint8Array, load: Load): Socket[] {
  const send = (): Socket => {
    let received = Buffer.alloc(0);
    const socket = openSocket(
      { host: "127.0.0.1", port },
      {
        onOpen: () => load.next() && socket.write(request),
        onData: (bytes) => {
          received = Buffer.concat([received, bytes]);
          if (!isWhole(received)) return;
          received = Buffer.alloc(0);
          if (load.next()) socket.write(request);
        },
        onClose: load.end,
      },
    );
    return socket;
  };
  return Array.from({ length: LANES }, send);
}

function isWhole(response: Buffer): boolean {
  const headEnd = response.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/i.exec(response.toString("latin1", 0, headEnd))?.[1];
  if (length === undefined) return response.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  return response.length >= headEnd + 4 + Number(length);
}

/** Sends calls over each connection, the next as soon as one has ended. */
function sendGrpc(port: number, load: Load): Socket[] {
  const message = encodeMessage(INFER_REQUEST, {
    model_name: EMBEDDED_MODEL,
    inputs: INPUTS.map((name) => ({ name, datatype: "INT32", shape: [1, ELEMENTS] })),
    raw_input_contents: INPUTS.map(() => TENSOR),
  });
  const headers = encodeLiterally([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", "/inference.GRPCInferenceService/ModelInfer"],
    [":authority", "localhost"],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
  ]);
  const data = frame(message);
  const dataAt = FRAME_HEADER_BYTES + headers.length;
  const send = (): Socket => {
    let streamId = 1;
    const call = (): void => {
      if (!load.next()) return;
      const bytes = new Uint8Array(dataAt + FRAME_HEADER_BYTES + data.length);
      putFrameHeader(bytes, 0, headers.length, { type: FRAME.headers, flags: FLAG.endHeaders, streamId });
      bytes.set(headers, FRAME_HEADER_BYTES);
      putFrameHeader(bytes, dataAt, data.length, { type: FRAME.data, flags: FLAG.endStream, streamId });
      bytes.set(data, dataAt + FRAME_HEADER_BYTES);
      socket.write(bytes);
      streamId += 2;
    };
    const reader = new FrameReader({
      onHeaderBlock: ({ flags }) => (flags & FLAG.endStream) !== 0 && call(),
      onFrame: ({ type, flags }) => {
        if (type === FRAME.settings && (flags & FLAG.ack) === 0) socket.write(SETTINGS_ACK);
      },
    });
    const socket = openSocket(
      { host: "127.0.0.1", port },
      {
        onOpen: () => {
          for (const bytes of GREETING) socket.write(bytes);
          for (let lane = 0; lane < LANES_PER_CONNECTION; lane++) call();
        },
        onData: (bytes) => reader.feed(bytes),
        onClose: load.end,
      },
    );
    return socket;
  };
  return Array.from({ length: LANES / LANES_PER_CONNECTION }, send);
}

/** Settings with a window large enough for all responses. */
const GREETING = [
  CONNECTION_PREFACE,
  encodeSettings([[SETTING.initialWindowSize, MAX_WINDOW_BYTES]]),
  encodeWords(FRAME.windowUpdate, 0, [MAX_WINDOW_BYTES - DEFAULT_WINDOW_BYTES]),
];
const SETTINGS_ACK = new Uint8Array(FRAME_HEADER_BYTES);
putFrameHeader(SETTINGS_ACK, 0, 0, { type: FRAME.settings, flags: FLAG.ack, streamId: 0 });
