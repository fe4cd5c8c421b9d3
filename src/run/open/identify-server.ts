import { msToNs } from "../../plan/units.ts";
import { SERVICE_KINDS } from "../../registry/service-kinds.ts";
import { sleepMs } from "../../runtime/clock.ts";
import type { GrpcProbeResponse, ServiceApi, ServiceProbe } from "../../service/probe.ts";
import { ControlClient, ControlError } from "../../transport/control-client.ts";
import { type NamedTarget, openNamedSocket } from "../../transport/named-socket.ts";
import type { Endpoint } from "../../transport/request.ts";
import { loadClient } from "./create-client.ts";

const LIMIT_MS = 1500;
const MAX_BYTES = 64 * 1024; // 64 KiB, more than any response to these requests
const FRAME_HEADER_BYTES = 9;
const SETTINGS_FRAME = 4;
const TLS_ALERT = 0x15;
const HTTP_BEGIN = "HTTP/1.";
const NOT_HTTP = "?\r\n\r\n";
const UNVERIFIED = { verifyPeer: false, verifyHost: false } as const;

export interface ServerIdentity {
  /** `nothing`: no connection or no response. `other`: bytes of another protocol. */
  readonly speaks: "http" | "grpc" | "tls" | "other" | "nothing";
  /** The known APIs that it serves, in the order of the service kinds. */
  readonly found: readonly FoundApi[];
}

/** An API that a server serves. */
export interface FoundApi {
  readonly kind: keyof typeof SERVICE_KINDS;
  /** Name of the API: `kserve`. */
  readonly api: string;
  readonly protocol: "http" | "grpc";
  /** Path of the request that the server answered. */
  readonly path: string;
  /** The server: `Triton 2.51.0 (KServe v2)`. */
  readonly description: string;
}

/** An address to query. */
export interface AskedPlace extends Pick<Endpoint, "host" | "port" | "sources"> {
  /** Query over TLS, without verification. */
  readonly isSecure: boolean;
}

/** Sends requests that servers of each known kind answer. Takes a few seconds at most and never throws. */
export async function identifyServer(place: AskedPlace): Promise<ServerIdentity> {
  const first = await ask(place, FIRST_PATH);
  const speaks = classify(first);
  if (speaks === "grpc") return { speaks, found: await probeGrpc(place) };
  if (speaks === "http") return { speaks, found: await probeHttp(place, first) };
  if (speaks === "tls" || speaks === "other") return { speaks, found: [] };
  if (!place.isSecure)
    return { speaks: (await connect(place, true, undefined)).isOpened ? "tls" : "nothing", found: [] };
  // A gRPC server may refuse a handshake for HTTP/1.1.
  const found = await probeGrpc(place);
  return { speaks: found.length > 0 ? "grpc" : "nothing", found };
}

/**
 * Reports whether a server accepts connections and neither sends a byte nor closes them for 1.5 s: not after a GET, which a slow server may
 * still work on, and not after a line that is not HTTP, which a server refuses before it does any work.
 */
export async function isSilent(place: AskedPlace): Promise<boolean> {
  const send = (text: string, limitMs: number) =>
    connect(place, place.isSecure, new TextEncoder().encode(text), limitMs).then(
      ({ isOpened, isTimeUp, bytes }) => isOpened && isTimeUp && bytes.length === 0,
    );
  const getting = send(getRequest(place, FIRST_PATH), LIMIT_MS);
  // Servers log what is not HTTP: one that answers is not sent it.
  const isAnswered = (await Promise.race([getting, sleepMs(LIMIT_MS / 2)])) === false;
  return !isAnswered && (await send(NOT_HTTP, LIMIT_MS / 2)) && getting;
}

/** Sends one GET and returns the status of its response; undefined without one. Takes 1.5 s at most and never throws. */
export async function askStatus(place: AskedPlace, path: string): Promise<number | undefined> {
  const { status } = readResponse(await ask(place, path));
  return status === 0 ? undefined : status;
}

/** Returns the status and the text of a response over HTTP/1.1. A status of 0 means that there is none. */
function readResponse(bytes: Uint8Array): { readonly status: number; readonly text: string } {
  const [, status = "0", text = ""] = /^HTTP\/1\.\d (\d{3})(?:.*?\r\n\r\n(.*))?/s.exec(textOf(bytes)) ?? [];
  return { status: Number(status), text };
}

interface ProbedKind {
  readonly api: ServiceApi;
  readonly isInProcess?: true;
}

/** The kinds to recognize; only the first of several kinds with the same API. */
const KINDS = (Object.entries(SERVICE_KINDS) as [FoundApi["kind"], ProbedKind][])
  .filter(([, { isInProcess }]) => isInProcess !== true)
  .filter(([, { api }], index, all) => all.findIndex(([, other]) => other.api.name === api.name) === index);

/** The path of the first request, which also reveals the protocol. */
const FIRST_PATH = KINDS.flatMap(([, { api }]) => api.probes).find(({ protocol }) => protocol === "http")?.path ?? "/";

async function probeHttp(place: AskedPlace, first: Uint8Array): Promise<FoundApi[]> {
  const responses = new Map([[FIRST_PATH, Promise.resolve(first)]]);
  return collect("http", async (probe) => {
    if (probe.protocol !== "http") return undefined;
    const response = responses.get(probe.path) ?? ask(place, probe.path);
    responses.set(probe.path, response);
    return probe.recognize(readResponse(await response));
  });
}

async function probeGrpc({ host, port, isSecure, sources }: AskedPlace): Promise<FoundApi[]> {
  const authority = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const tls = isSecure ? { tls: { ...UNVERIFIED, alpn: ["h2"] } } : {};
  const endpoint = { host, port, authority, pathPrefix: "", headers: [], sources, ...tls };
  const control = new ControlClient(msToNs(LIMIT_MS), await loadClient("own", "grpc", endpoint), {
    limitNs: msToNs(LIMIT_MS),
    maxResponseBytes: MAX_BYTES,
  });
  try {
    return await collect("grpc", async (probe) => {
      if (probe.protocol !== "grpc") return undefined;
      const response = await callOnce(control, probe.path, probe.payload);
      return response && probe.recognize(response);
    });
  } finally {
    control.close();
  }
}

/** Returns the response to a call, or its gRPC status; undefined when the server sent neither. */
async function callOnce(
  control: ControlClient,
  path: string,
  payload: Uint8Array,
): Promise<GrpcProbeResponse | undefined> {
  try {
    const body = await control.call({ path, method: "POST", headers: [], payload });
    return { status: 0, message: "", body };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    const { kind, status, message } = error.failure;
    return kind === "grpc" && status !== undefined ? { status, message, body: new Uint8Array(0) } : undefined;
  }
}

/** Returns the APIs whose probes are recognized. A kind counts once. */
async function collect(
  protocol: FoundApi["protocol"],
  recognize: (probe: ServiceProbe) => Promise<string | undefined>,
): Promise<FoundApi[]> {
  const found = await Promise.all(
    KINDS.map(async ([kind, { api }]): Promise<FoundApi[]> => {
      const descriptions = await Promise.all(api.probes.map(recognize));
      const index = descriptions.findIndex((text) => text !== undefined);
      const [description, path] = [descriptions[index], api.probes[index]?.path];
      return description === undefined || path === undefined
        ? []
        : [{ kind, api: api.name, protocol, path, description }];
    }),
  );
  return found.flat();
}

function classify(response: Uint8Array): ServerIdentity["speaks"] {
  const text = textOf(response);
  // nginx and Go respond in plain text on a TLS port.
  if (/^HTTP\/1\.[01] 400 /.test(text) && /https/i.test(text)) return "tls";
  if (text.startsWith(HTTP_BEGIN)) return "http";
  if (response[0] === TLS_ALERT && response[1] === 3) return "tls";
  // An HTTP/2 server starts with SETTINGS on stream 0.
  if (response.length >= FRAME_HEADER_BYTES && response[0] === 0 && response[3] === SETTINGS_FRAME) return "grpc";
  return isForeign(response) ? "other" : "nothing";
}

/**
 * Reports whether a response belongs to another protocol than HTTP, TLS and HTTP/2: whether it begins with foreign text, such
 * as a greeting.
 */
function isForeign(response: Uint8Array): boolean {
  const begin = textOf(response.subarray(0, HTTP_BEGIN.length));
  return begin.length > 0 && /^[\x20-\x7e]/.test(begin) && !HTTP_BEGIN.startsWith(begin);
}

/** Sends an HTTP/1.1 request and returns the bytes of the response that arrive; empty without a response. */
function ask(place: AskedPlace, path: string): Promise<Uint8Array> {
  const request = new TextEncoder().encode(getRequest(place, path));
  return connect(place, place.isSecure, request).then(({ bytes }) => bytes);
}

function getRequest(place: AskedPlace, path: string): string {
  const host = place.host.includes(":") ? `[${place.host}]` : place.host;
  return `GET ${path} HTTP/1.1\r\nHost: ${host}:${place.port}\r\nAccept: */*\r\nConnection: close\r\n\r\n`;
}

interface Outcome {
  readonly isOpened: boolean;
  /** Whether the connection was still open at the end of the time. */
  readonly isTimeUp: boolean;
  readonly bytes: Uint8Array;
}

/** Connects and collects bytes until the server closes. @param request undefined: only connect @param limitMs longest time */
function connect(
  { host, port, sources }: AskedPlace,
  isSecure: boolean,
  request: Uint8Array | undefined,
  limitMs = LIMIT_MS,
): Promise<Outcome> {
  const target: NamedTarget = {
    host,
    port,
    sources,
    // A gRPC-only server rejects a handshake without h2.
    ...(isSecure ? { tls: { ...UNVERIFIED, alpn: request === undefined ? ["http/1.1", "h2"] : ["http/1.1"] } } : {}),
  };
  return new Promise((resolve) => {
    const pieces: Uint8Array[] = [];
    let length = 0;
    let isOpened = false;
    const end = (isTimeUp: boolean): void => {
      clearTimeout(timer);
      resolve({ isOpened, isTimeUp, bytes: Buffer.concat(pieces) });
      socket.close();
    };
    const timer = setTimeout(() => end(true), limitMs);
    const socket = openNamedSocket(target, {
      onOpen: () => {
        isOpened = true;
        if (request === undefined) end(false);
        else socket.write(request);
      },
      onData: (bytes) => {
        pieces.push(bytes.slice());
        length += bytes.length;
        // A greeting is followed by nothing that tells more.
        if (length > MAX_BYTES || isForeign(pieces[0] as Uint8Array)) end(false);
      },
      onClose: () => end(false),
    });
  });
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
