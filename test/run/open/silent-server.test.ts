// Runs on: bun, deno, node.

import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { unlessSilent } from "../../../src/run/open/silent-server.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { listen } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";

/** A query waits for a server that is slow, and not for one that answers nothing. */

/** Starts a server, and asks it something that ends with `asking`. */
async function ask(serve: (socket: Socket, text: string) => void, asking: Promise<string>): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {}).on("data", (bytes) => serve(socket, bytes.toString()));
  });
  const url = `127.0.0.1:${await listen(server)}`;
  try {
    return await unlessSilent(makePlan({ target: { url, protocol: "http" } }), asking);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

test("a server that answers nothing is an error, although the query does not end", LIMIT, async () => {
  const never = Promise.withResolvers<string>().promise;
  await assert.rejects(
    ask(() => {}, never),
    { name: "RunError", code: "unreachable" },
  );
});

test(
  "a server that works on each request for a long time is waited for, because it refuses what is not HTTP",
  LIMIT,
  async () => {
    const answer = Promise.withResolvers<string>();
    let refusedCount = 0;
    const serve = (socket: Socket, text: string): void => {
      if (text.startsWith("GET ")) return;
      socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
      // It has been asked twice by now.
      if (++refusedCount === 2) answer.resolve("late");
    };
    assert.equal(await ask(serve, answer.promise), "late");
  },
);
