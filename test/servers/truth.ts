import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readPorts } from "./read-ports.ts";
import type { LoggedRequest } from "./truth-server.ts";

const READY_TIMEOUT_MS = 60_000;

/** A server whose latency is known, in a process of its own. */
export interface TruthServer extends AsyncDisposable {
  readonly url: string;
  /** Returns what the server knows of each request. @param from leaves out as many answers. Default: 0 */
  log(from?: number): Promise<readonly LoggedRequest[]>;
  stop(): Promise<void>;
}

/** Starts the server. It answers each request after a time that is evenly spread between both. */
export async function startTruth(fromMs: number, toMs = fromMs): Promise<TruthServer> {
  const script = fileURLToPath(new URL("truth-server.ts", import.meta.url));
  const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
  const child = spawn(node, [script, String(fromMs), String(toMs)], { stdio: ["ignore", "pipe", "inherit"] });
  const { port } = await readPorts<{ port: number }>(child, "the server of known truth", READY_TIMEOUT_MS);
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  return {
    url,
    log: async (from = 0) => (await (await fetch(`${url}/log?from=${from}`)).json()) as LoggedRequest[],
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
