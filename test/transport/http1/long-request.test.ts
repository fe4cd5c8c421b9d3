import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Http1Client } from "../../../src/transport/http1/client.ts";
import type { WireRequest } from "../../../src/transport/request.ts";
import { listen } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";
import { Driver } from "../drive.ts";

/** When a request is sent that the kernel does not take at once. */

/** More than the buffers of a connection on loopback hold. */
const BODY_BYTES = 48 * 1024 * 1024;
const PAUSE_MS = 300;

test("a long request is sent when the server has taken it, not when it is queued", LIMIT, async () => {
  const server = createServer((request, response) => {
    // Reads nothing for a time, then everything.
    setTimeout(() => request.resume().on("end", () => response.end("ok")), PAUSE_MS);
  });
  const port = await listen(server);
  const authority = `127.0.0.1:${port}`;
  const endpoint = { host: "127.0.0.1", port, authority, pathPrefix: "", headers: [] };
  const driver = new Driver((options) => new Http1Client(endpoint, options), { stallTimeoutNs: 30e9 });
  try {
    const request = (bytes: number): WireRequest => ({
      path: "/",
      method: "POST",
      headers: [],
      payload: new Uint8Array(bytes),
    });
    await driver.client.reserve(1);
    // The second one on a connection that has been used.
    for (const _ of [1, 2]) {
      const { failure, times } = await driver.request(0, request(BODY_BYTES));
      assert.equal(failure, undefined);
      const [startNs, sentNs, firstByteNs] = times;
      assert.ok(sentNs - startNs >= 0.9 * PAUSE_MS * 1e6, `sent after ${(sentNs - startNs) / 1e6} ms`);
      assert.ok(sentNs <= firstByteNs, "sent before the response");
    }
    // What the kernel takes at once is sent at once.
    const { times } = await driver.request(0, request(100));
    const [startNs, sentNs, firstByteNs] = times;
    assert.ok(firstByteNs - sentNs >= 0.9 * PAUSE_MS * 1e6, `${(sentNs - startNs) / 1e6} ms`);
  } finally {
    driver.close();
    server.closeAllConnections();
    server.close();
  }
});
