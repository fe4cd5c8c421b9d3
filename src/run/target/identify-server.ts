import { SERVICE_KINDS } from "../../registry/service-kinds.ts";
import type { SocketTarget } from "../../runtime/socket.ts";
import { openSocket } from "../../runtime/sockets.ts";
import type { ServiceApi } from "../../service/service.ts";

const LIMIT_MS = 1500;
const MAX_BYTES = 64 * 1024; // 64 KiB, more than any response to these requests
const FRAME_HEADER_BYTES = 9;
const SETTINGS_FRAME = 4;
const TLS_ALERT = 0x15;

/** What a server speaks. */
export interface ServerIdentity {
  /** `nothing`: no connection or no response. */
  readonly speaks: "http" | "grpc" | "tls" | "nothing";
  /** The known APIs that it serves over HTTP. */
  readonly apis: readonly string[];
}

/** The address to query. */
export interface AskedPlace {
  readonly host: string;
  readonly port: number;
  /** Query over TLS, without verification. */
  readonly isSecure: boolean;
}

/** What servers of the known kinds answer to. */
const [FIRST_API, ...OTHER_APIS] = Object.values(SERVICE_KINDS).flatMap(({ api }) => api ?? []) as [
  ServiceApi,
  ...ServiceApi[],
];

/** Asks what servers of each known kind answer to; takes a few seconds at most and never throws. */
export async function identifyServer(place: AskedPlace): Promise<ServerIdentity> {
  const first = await ask(place, FIRST_API.path);
  const speaks = classify(first);
  if (speaks === "nothing" && !place.isSecure && (await answersHandshake(place))) return { speaks: "tls", apis: [] };
  if (speaks !== "http") return { speaks, apis: [] };
  const apis = FIRST_API.marker.test(textOf(first)) ? [FIRST_API.name] : [];
  for (const { name, path, marker } of OTHER_APIS) if (marker.test(textOf(await ask(place, path)))) apis.push(name);
  return { speaks, apis };
}

function classify(answer: Uint8Array): ServerIdentity["speaks"] {
  const text = textOf(answer);
  // nginx and Go respond in plain text on a TLS port.
  if (/^HTTP\/1\.[01] 400 /.test(text) && /https/i.test(text)) return "tls";
  if (text.startsWith("HTTP/1.")) return "http";
  if (answer[0] === TLS_ALERT && answer[1] === 3) return "tls";
  // An HTTP/2 server starts with SETTINGS on stream 0.
  if (answer.length >= FRAME_HEADER_BYTES && answer[0] === 0 && answer[3] === SETTINGS_FRAME) return "grpc";
  return "nothing";
}

/** Sends an HTTP/1.1 request and returns the response as far as it arrives; empty without one. */
function ask(place: AskedPlace, path: string): Promise<Uint8Array> {
  const host = place.host.includes(":") ? `[${place.host}]` : place.host;
  const head = `GET ${path} HTTP/1.1\r\nHost: ${host}:${place.port}\r\nAccept: */*\r\nConnection: close\r\n\r\n`;
  return connect(place, place.isSecure, new TextEncoder().encode(head)).then(({ bytes }) => bytes);
}

async function answersHandshake(place: AskedPlace): Promise<boolean> {
  return (await connect(place, true, undefined)).isOpened;
}

interface Outcome {
  readonly isOpened: boolean;
  readonly bytes: Uint8Array;
}

/** Connects and collects bytes until the server closes. @param request undefined: only connect */
function connect({ host, port }: AskedPlace, isSecure: boolean, request: Uint8Array | undefined): Promise<Outcome> {
  const target: SocketTarget = {
    host,
    port,
    ...(isSecure ? { tls: { alpn: ["http/1.1"], verifyPeer: false, verifyHost: false } } : {}),
  };
  return new Promise((resolve) => {
    const pieces: Uint8Array[] = [];
    let length = 0;
    let isOpened = false;
    const end = (): void => {
      clearTimeout(timer);
      resolve({ isOpened, bytes: Buffer.concat(pieces) });
      socket.close();
    };
    const timer = setTimeout(end, LIMIT_MS);
    const socket = openSocket(target, {
      onOpen: () => {
        isOpened = true;
        if (request === undefined) end();
        else socket.write(request);
      },
      onData: (bytes) => {
        pieces.push(bytes.slice());
        length += bytes.length;
        if (length > MAX_BYTES) end();
      },
      onClose: end,
    });
  });
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
