import { connect, createServer } from "node:net";
// The real package: Bun replaces a bare `undici` import by its own stub.
import { Agent, request } from "undici/index.js";
import { messageOf } from "../plan/problem.ts";

/** Waits for servers that are about to start. */

/** Time between two attempts. Servers take seconds to start. */
const RETRY_MS = 100;
/** Limit of one attempt. */
const ATTEMPT_MS = 5000;

/** Whether a text is an address that can be tried. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//.test(text) ? URL.canParse(text) : /^.+:\d{1,5}$/.test(text);
}

/**
 * Tries an address once. Returns undefined when the server is ready, otherwise why not.
 * @param address an `http://` or `https://` URL, which must answer with a status from 200 to 299 (with any certificate), or `host:port`,
 *   which must accept a connection
 */
export async function tryAddress(address: string): Promise<string | undefined> {
  try {
    return /^https?:\/\//.test(address) ? await tryUrl(address) : await tryConnection(address);
  } catch (error) {
    return messageOf(error) || ((error as { code?: string }).code ?? "no connection");
  }
}

async function tryUrl(url: string): Promise<string | undefined> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(ATTEMPT_MS) });
    await body.dump();
    return statusCode >= 200 && statusCode <= 299 ? undefined : `it answers with status ${statusCode}`;
  } finally {
    await dispatcher.destroy();
  }
}

function tryConnection(address: string): Promise<string | undefined> {
  const at = address.lastIndexOf(":");
  const socket = connect({ host: address.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(address.slice(at + 1)) });
  return new Promise<undefined>((resolve, reject) => {
    socket.setTimeout(ATTEMPT_MS, () => reject(new Error("it does not accept the connection")));
    socket.once("connect", () => resolve(undefined));
    socket.once("error", reject);
  }).finally(() => socket.destroy());
}

/**
 * Tries an address until it is ready. Rejects when `signal` is aborted.
 * @param onAttempt called with the reason of each attempt that failed
 */
export async function waitForAddress(
  address: string,
  signal: AbortSignal,
  onAttempt: (reason: string) => void,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const reason = await tryAddress(address);
    if (reason === undefined) return;
    onAttempt(reason);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Returns a port of the loopback interface that is free now. */
export function findFreePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
