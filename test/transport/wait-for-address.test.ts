import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { findFreePort, isAddress, tryAddress, waitForAddress } from "../../src/transport/wait-for-address.ts";
import { closing } from "../servers/listen.ts";

/** Waiting for a server. */

test("an address is ready when it accepts a connection, or answers with success", async () => {
  let status = 503;
  const port = await findFreePort();
  assert.match((await tryAddress(`127.0.0.1:${port}`)) ?? "", /ECONNREFUSED|refused|connect/i);
  assert.notEqual(await tryAddress(`http://127.0.0.1:${port}/`), undefined);
  const reasons: string[] = [];
  const waiting = waitForAddress(`http://127.0.0.1:${port}/ready`, new AbortController().signal, (reason) => {
    reasons.push(reason);
    if (/503/.test(reason)) status = 204;
  });
  using server = closing(createServer((_request, response) => response.writeHead(status).end()));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await waiting;
  assert.match(reasons.at(-1) ?? "", /status 503/);
  assert.equal(await tryAddress(`127.0.0.1:${port}`), undefined);
});

test("waiting ends when it is aborted", async () => {
  const controller = new AbortController();
  const port = await findFreePort();
  const waiting = waitForAddress(`127.0.0.1:${port}`, controller.signal, () => controller.abort(new Error("enough")));
  await assert.rejects(waiting, /enough/);
});

test("addresses are URLs, or a host and a port", () => {
  for (const good of ["http://h/", "https://h:1/x", "localhost:8000", "[::1]:80"]) assert.ok(isAddress(good), good);
  for (const bad of ["", "h", "http://", "h:", "h:x", "http://h:1,/"]) assert.ok(!isAddress(bad), bad);
});
