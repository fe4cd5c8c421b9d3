import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import { openMetricsSource } from "../../src/run/server-metrics.ts";
import { ResponseTooLargeError } from "../../src/transport/failure.ts";
import { latin1 } from "../transport/bytes.ts";
import { startRawServer } from "../transport/raw-server.ts";

const { message: MESSAGE } = new ResponseTooLargeError(16 * 1024 * 1024);

for (const [name, head, piece] of [
  ["a page announced as longer", "Content-Length: 300000000\r\n\r\n", ""],
  ["a page without end", "Connection: close\r\n\r\n", `up{a="${"x".repeat(1000)}"} 1\n`.repeat(1000)],
] as const)
  test(`${name} is rejected with the reason`, { timeout: 180_000 }, async () => {
    const server = await startRawServer(async (connection) => {
      await connection.until(({ bytes }) => bytes.length > 0);
      const { socket } = connection;
      const bytes = latin1(piece);
      const more = (): void => {
        if (!socket.destroyed && bytes.length > 0) socket.write(bytes, more);
      };
      socket.write(latin1(`HTTP/1.1 200 OK\r\n${head}`), more);
    });
    const source = openMetricsSource(new URL(`http://127.0.0.1:${server.port}/metrics`), DEFAULT_TLS, 30e9);
    try {
      await assert.rejects(source.fetch(), { message: MESSAGE });
    } finally {
      source.close();
      await server.stop();
    }
  });
