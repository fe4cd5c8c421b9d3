import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { HandshakeLimit } from "../../src/runtime/sockets-node.ts";

class FakeSocket extends EventEmitter {
  bytesRead = 0;

  destroy(error?: Error): this {
    this.emit("destroyed", error);
    return this;
  }
}

const asTls = (socket: FakeSocket) => socket as unknown as Parameters<HandshakeLimit["watch"]>[0];

test("a server that keeps silent ends the connection, and the next one sooner", async () => {
  const limit = new HandshakeLimit(20, 10);
  for (const seconds of ["0.02", "0.01"]) {
    const socket = new FakeSocket();
    const ended = once(socket, "destroyed");
    limit.watch(asTls(socket), "h:1");
    socket.emit("connect");
    const [error] = (await ended) as [Error];
    assert.equal(error.message, `TLS handshake: no response within ${seconds} s`);
  }
});

test("a server that has begun to answer, or that has spoken TLS before, is waited for", async () => {
  const limit = new HandshakeLimit(1, 1);
  const ended: unknown[] = [];
  const watch = (place: string): FakeSocket => {
    const socket = new FakeSocket();
    socket.on("destroyed", (error) => ended.push(error));
    limit.watch(asTls(socket), place);
    socket.emit("connect");
    return socket;
  };
  watch("slow:1").bytesRead = 1;
  const both = [watch("known:1"), watch("known:1")];
  both[0]?.emit("secureConnect");
  watch("known:1");
  const silent = watch("silent:1");
  await once(silent, "destroyed");
  assert.equal(ended.length, 1);
});
