import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * An HTTP server in a process of its own whose latency is known. Usage: `truth-server.ts FROM_MS TO_MS`. It answers each request after a
 * time that is evenly spread between both. `GET /log?from=N` returns what it knows of every other request, from the Nth answer on. Prints
 * `{"port": …}`.
 */

/** A request: when it came and when its answer left, in milliseconds since the first request came. */
export interface LoggedRequest {
  readonly arrivedMs: number;
  readonly answeredMs: number;
}

const [fromMs = 0, toMs = fromMs] = process.argv.slice(2).map(Number);
const log: LoggedRequest[] = [];
let firstMs: number | undefined;

const server = createServer((request, response) => {
  const from = /^\/log\?from=(\d+)$/.exec(request.url ?? "")?.[1];
  if (from !== undefined) {
    response.end(JSON.stringify(log.slice(Number(from))));
    return;
  }
  const nowMs = performance.now();
  firstMs ??= nowMs;
  const startMs = firstMs;
  request.resume();
  setTimeout(
    () => {
      response.end("ok");
      log.push({ arrivedMs: nowMs - startMs, answeredMs: performance.now() - startMs });
    },
    fromMs + Math.random() * (toMs - fromMs),
  );
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })));
process.on("SIGTERM", () => process.exit(0));
