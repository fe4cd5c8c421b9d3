import assert from "node:assert/strict";
import { test } from "node:test";
import type { Socket } from "../../../src/runtime/socket.ts";
import { ProtocolError } from "../../../src/transport/failure.ts";
import { FrameSender } from "../../../src/transport/http2/sender.ts";
import { TYPE } from "./write-frames.ts";

/** Sends acknowledgements to a socket that always has this number of bytes left to send. */
function sendAcks(count: number, pendingBytes: number): void {
  const sender = new FrameSender();
  const socket: Socket = { pendingBytes, write: () => pendingBytes === 0, close: () => {} };
  for (let sent = 0; sent < count; sent++) {
    sender.putAck(TYPE.ping, new Uint8Array(8), 0, 8);
    sender.writeTo(socket);
  }
}

test("a server that sends PINGs without end and reads nothing cannot fill the memory with their acknowledgements", () => {
  sendAcks(10_000, 1);
  assert.throws(
    () => sendAcks(10_001, 1),
    (error) => error instanceof ProtocolError && /does not read their acknowledgements/.test(error.message),
  );
});

test("a server that reads the acknowledgements may send any number of PINGs", () => {
  sendAcks(50_000, 0);
});
