// The real package: Bun replaces a bare `undici` import by its own stub.
import { type Dispatcher, EnvHttpProxyAgent, request } from "undici/index.js";
import { defined } from "../plan/objects.ts";
import { describeConnectError } from "./connect-failure.ts";
import { USER_AGENT } from "./user-agent.ts";

/** Requests off the measured path, whose response may have any length and speed. */

/** Settings of one request. */
export interface RequestOnceOptions {
  /** Dispatcher with proxies and timeouts. Its owner destroys it. */
  readonly dispatcher: Dispatcher;
  /** Default: `GET`. */
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Cancels the request and the reading of its response. */
  readonly signal: AbortSignal;
}

/** Timeouts for a server, in milliseconds. */
export interface ServerLimits {
  /** For opening the connection, including TLS. */
  readonly connectMs: number;
  /** For the headers of a response. */
  readonly headersMs: number;
  /** For each part of a body. */
  readonly bodyMs: number;
}

/** Creates a dispatcher that connects through the proxies of the environment. @param limits default: undici's */
export function openDispatcher(limits?: ServerLimits): Dispatcher {
  if (limits === undefined) return new EnvHttpProxyAgent();
  const { connectMs, headersMs, bodyMs } = limits;
  return new EnvHttpProxyAgent({ headersTimeout: headersMs, bodyTimeout: bodyMs, connect: { timeout: connectMs } });
}

/** A response whose body has not been read. */
export type UnreadResponse = Dispatcher.ResponseData;

/**
 * Sends a request without following redirects.
 * @throws the signal's reason, or an Error with a plain message
 */
export async function requestOnce(url: URL | string, options: RequestOnceOptions): Promise<UnreadResponse> {
  const { dispatcher, method = "GET", headers, body, signal } = options;
  try {
    const all = { "user-agent": USER_AGENT, ...headers };
    return await request(url, { dispatcher, method, headers: all, signal, ...defined({ body }) });
  } catch (error) {
    throw describe(error, signal);
  }
}

/** Yields the bytes of a response's body. @throws Error when it has more than `mostBytes`; otherwise like {@link requestOnce} */
export async function* readBody(
  { body }: UnreadResponse,
  mostBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let byteCount = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      byteCount += chunk.length;
      if (byteCount > mostBytes) break;
      yield chunk;
    }
  } catch (error) {
    throw describe(error, signal);
  }
  if (byteCount > mostBytes)
    throw new Error(`the response is longer than ${(mostBytes / 2 ** 20).toLocaleString("en-US")} MiB`);
}

/** Reads a response's body as text. Otherwise like {@link readBody}. */
export async function readBodyText(response: UnreadResponse, mostBytes: number, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of readBody(response, mostBytes, signal)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

function describe(error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason as Error;
  return new Error(describeConnectError(error instanceof Error ? error : new Error(String(error))));
}
