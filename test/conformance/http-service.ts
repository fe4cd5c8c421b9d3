import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { SequenceRequest } from "../run/send/sequence-traffic.ts";
import { listen } from "../servers/listen.ts";
import {
  type ExpectedFailure,
  type Fault,
  LARGE_BYTES,
  type RowServer,
  type ServerSettings,
  SLOW_MS,
  Traffic,
} from "./row.ts";

/** Servers for rows whose protocol is HTTP: a row says how to answer well, and all the faults are here. */

/** A request with the whole of its body. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer. */
export interface HttpAnswer {
  /** Default: 200. */
  readonly status?: number;
  /** Default: `application/json`. */
  readonly type?: string;
  readonly body: string | Uint8Array;
}

/** How a server of one kind answers. */
export interface HttpService {
  /** Whether a request belongs to the load; the others are queries. */
  isLoad(request: HttpRequest): boolean;
  /** Returns the answer to a query, or the good answer to a request of the load. */
  answer(request: HttpRequest, settings: ServerSettings, traffic: Traffic): HttpAnswer;
  /** Returns the answer that reports a failure. Default: status 500 with `{"error": …}`. */
  error?(request: HttpRequest): HttpAnswer;
  /** Returns the request's place in a sequence. Absent: the kind has no sequences. */
  sequence?(request: HttpRequest): SequenceRequest | undefined;
}

/** How a client counts the faults of a server over HTTP. */
export const HTTP_FAILURES = {
  error: { kind: "http", status: 500 },
  silent: { kind: "stalled" },
  close: { kind: "closed" },
  break: { kind: "closed" },
  "wrong-type": { kind: "unreadable" },
  huge: { kind: "limit" },
} as const satisfies Partial<Record<Fault, ExpectedFailure>>;

const PAGE: HttpAnswer = { type: "text/html", body: "<!doctype html><title>Sign in</title><p>Please sign in.</p>" };
const ERROR: HttpAnswer = { status: 500, body: JSON.stringify({ error: "made to fail" }) };

/** Returns how to start servers of a kind, on free ports. */
export function httpServers(service: HttpService): (settings: ServerSettings) => Promise<RowServer> {
  return async (settings) => {
    const traffic = new Traffic();
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      response.on("error", () => {});
      void serve(service, settings, traffic, request, response);
    };
    const { certificates } = settings;
    const server =
      certificates === undefined
        ? createServer(listener)
        : createTlsServer(
            { key: readFileSync(certificates.keyFile), cert: readFileSync(certificates.certFile) },
            listener,
          );
    return {
      address: `127.0.0.1:${await listen(server)}`,
      traffic,
      stop: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };
}

async function serve(
  service: HttpService,
  settings: ServerSettings,
  traffic: Traffic,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const { method = "", url: path = "", headers } = incoming;
  const request: HttpRequest = { method, path, headers, body: Buffer.concat(pieces) };
  if (!service.isLoad(request)) return send(response, service.answer(request, settings, traffic));
  const index = traffic.arrive(service.sequence?.(request));
  if (settings.holdUntil !== undefined) await traffic.until(settings.holdUntil);
  const fault = settings.fault(index);
  if (fault === "slow") await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  traffic.end(fault);
  const good = (): HttpAnswer => service.answer(request, settings, traffic);
  if (fault === "silent") return;
  if (fault === "close") response.destroy();
  else if (fault === "break") breakOff(response, good());
  else if (fault === "error") send(response, service.error?.(request) ?? ERROR);
  else if (fault === "wrong-type") send(response, PAGE);
  else send(response, fault === "large" || fault === "huge" ? pad(good()) : good());
}

function send(response: ServerResponse, { status = 200, type = "application/json", body }: HttpAnswer): void {
  const bytes = Buffer.from(body as string);
  response.writeHead(status, { "Content-Type": type, "Content-Length": bytes.length });
  response.end(bytes);
}

function breakOff(response: ServerResponse, { type = "application/json", body }: HttpAnswer): void {
  const bytes = Buffer.from(body as string);
  response.writeHead(200, { "Content-Type": type, "Content-Length": bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}

/** Returns an answer with the same meaning and more bytes: spaces after JSON, a comment before events. */
function pad({ body, ...answer }: HttpAnswer): HttpAnswer {
  const text = typeof body === "string" ? body : Buffer.from(body).toString("latin1");
  if (answer.type === "text/event-stream") return { ...answer, body: `: ${"x".repeat(LARGE_BYTES)}\n\n${text}` };
  return { ...answer, body: text + " ".repeat(LARGE_BYTES) };
}
