import { msToNs } from "../../plan/units.ts";
import { SERVICE_KINDS } from "../../registry/service-kinds.ts";
import type { GrpcProbeResponse, ServiceApi, ServiceProbe } from "../../service/probe.ts";
import { ControlClient, ControlError } from "../../transport/control-client.ts";
import { type NamedTarget, openNamedSocket } from "../../transport/named-socket.ts";
import type { SourceTurns } from "../../transport/source-addresses.ts";
import { loadClient } from "./create-client.ts";

const LIMIT_MS = 1500;
const MAX_BYTES = 64 * 1024; // 64 KiB, more than any response to these requests
const FRAME_HEADER_BYTES = 9;
const SETTINGS_FRAME = 4;
const TLS_ALERT = 0x15;
const HTTP_BEGIN = "HTTP/1.";
const UNVERIFIED = { verifyPeer: false, verifyHost: false } as const;

/** What a server speaks. */
export interface ServerIdentity {
  /** `nothing`: no connection or no response. `other`: bytes of another protocol. */
  readonly speaks: "http" | "grpc" | "tls" | "other" | "nothing";
  /** The known APIs that it serves, in the order of the service kinds. */
  readonly found: readonly FoundApi[];
}

/** An API that a server serves. */
export interface FoundApi {
  /** The service kind that measures it. */
  readonly kind: keyof typeof SERVICE_KINDS;
  /** Name of the API: `kserve`. */
  readonly api: string;
  readonly protocol: "http" | "grpc";
  /** Path of the request that the server answered. */
  readonly path: string;
  /** The server: `Triton 2.51.0 (KServe v2)`. */
  readonly description: string;
}

/** The address to query. */
export interface AskedPlace {
  readonly host: string;
  readonly port: number;
  /** Query over TLS, without verification. */
  readonly isSecure: boolean;
  /** What connections come from. Absent: the system's choice. */
  readonly sources?: SourceTurns | undefined;
}

/** Sends what servers of each known kind answer; takes a few seconds at most and never throws. */
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

/** Sends one GET and returns the status of its response; undefined without one. Takes 1.5 s at most and never throws. */
export async function askStatus(place: AskedPlace, path: string): Promise<number | undefined> {
  const { status } = readResponse(await ask(place, path));
  return status === 0 ? undefined : status;
}

/** Returns the status, 0 without one, and the text of a response over HTTP/1.1. */
function readResponse(bytes: Uint8Array): { readonly status: number; readonly text: string } {
  const [, status = "0", text = ""] = /^HTTP\/1\.\d (\d{3})(?:.*?\r\n\r\n(.*))?/s.exec(textOf(bytes)) ?? [];
  return { status: Number(status), text };
}

interface ProbedKind {
  readonly api: ServiceApi;
  readonly isInProcess?: true;
}

/** The kinds to recognize; the first one of those with the same API. */
const KINDS = (Object.entries(SERVICE_KINDS) as [FoundApi["kind"], ProbedKind][])
  .filter(([, { isInProcess }]) => isInProcess !== true)
  .filter(([, { api }], index, all) => all.findIndex(([, other]) => other.api.name === api.name) === index);

/** The path of the first request, which also shows the protocol. */
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

/** Reports whether a response begins like none of HTTP, TLS and HTTP/2: with text of another protocol, such as a greeting. */
function isForeign(response: Uint8Array): boolean {
  const begin = textOf(response.subarray(0, HTTP_BEGIN.length));
  return begin.length > 0 && /^[\x20-\x7e]/.test(begin) && !HTTP_BEGIN.startsWith(begin);
}

/** Sends an HTTP/1.1 request and returns the response as far as it arrives; empty without one. */
function ask(place: AskedPlace, path: string): Promise<Uint8Array> {
  const host = place.host.includes(":") ? `[${place.host}]` : place.host;
  const head = `GET ${path} HTTP/1.1\r\nHost: ${host}:${place.port}\r\nAccept: */*\r\nConnection: close\r\n\r\n`;
  return connect(place, place.isSecure, new TextEncoder().encode(head)).then(({ bytes }) => bytes);
}

interface Outcome {
  readonly isOpened: boolean;
  readonly bytes: Uint8Array;
}

/** Connects and collects bytes until the server closes. @param request undefined: only connect */
function connect(
  { host, port, sources }: AskedPlace,
  isSecure: boolean,
  request: Uint8Array | undefined,
): Promise<Outcome> {
  const target: NamedTarget = {
    host,
    port,
    sources,
    // A server of gRPC alone refuses a handshake without h2.
    ...(isSecure ? { tls: { ...UNVERIFIED, alpn: request === undefined ? ["http/1.1", "h2"] : ["http/1.1"] } } : {}),
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
    const socket = openNamedSocket(target, {
      onOpen: () => {
        isOpened = true;
        if (request === undefined) end();
        else socket.write(request);
      },
      onData: (bytes) => {
        pieces.push(bytes.slice());
        length += bytes.length;
        // A greeting is followed by nothing that tells more.
        if (length > MAX_BYTES || isForeign(pieces[0] as Uint8Array)) end();
      },
      onClose: end,
    });
  });
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
