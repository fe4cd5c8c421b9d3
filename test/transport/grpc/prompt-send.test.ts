import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "../../../src/transport/call.ts";
import { GrpcStreamClient } from "../../../src/transport/grpc/stream-client.ts";
import { GrpcUnaryClient } from "../../../src/transport/grpc/unary-client.ts";
import { LIMIT } from "../../time-limit.ts";
import { utf8 } from "../bytes.ts";
import { endpointAt, postRequest } from "../drive.ts";
import { startScripted } from "../http2/scripted-server.ts";
import { frame, grpcAnswer, TYPE, words } from "../http2/write-frames.ts";
import { readStreamed } from "../simple-model.ts";

/** Requests that are sent from where another one ended leave at once: nobody flushes for them. */

const REQUEST = postRequest("/s/M", new Uint8Array(20), { stampPlace: { offset: 2, length: 4, idDigits: 4 } });
/** Far longer than anything here takes; a request that waits for it was not sent. */
const LONG_MS = 60_000;

function timeoutAfter(ms: number, what: string): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`never: ${what}`)), ms);
    (timer as { unref?: () => void }).unref?.();
  });
}

test("a request that follows one that stalled on its stream", LIMIT, async () => {
  let arrived: (() => void) | undefined;
  const second = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = await startScripted(async (connection) => {
    await connection.until((seen) => seen.type === TYPE.data, 2);
    arrived?.();
  });
  const done = (call: Call): void => {
    if (call.failure?.kind === "stalled" && call.slot === 0) client.send(0, REQUEST, utf8("0002"));
  };
  const options = {
    lanes: { laneCount: 1 },
    responses: { keepBodies: false },
    maxResponseBytes: 1e6,
    stallTimeoutNs: 3e8,
    onDone: done,
  };
  const client = new GrpcStreamClient(endpointAt(server.port), options, readStreamed);
  try {
    await client.reserve(1);
    client.send(0, REQUEST, utf8("0001"));
    client.flush();
    await Promise.race([second, timeoutAfter(LONG_MS, "the second request")]);
  } finally {
    client.close();
    await server.stop();
  }
});

test("requests that follow responses on a connection that is going away", LIMIT, async () => {
  const arrivals: number[] = [];
  let told: (() => void) | undefined;
  const both = new Promise<void>((resolve) => {
    told = resolve;
  });
  const server = await startScripted(async (connection) => {
    if (connection.index === 0) {
      await connection.request(1);
      await connection.request(3);
      connection.write(frame(TYPE.goaway, 0, 0, words(3, 0)));
      await new Promise((resolve) => setTimeout(resolve, 30));
      connection.write(grpcAnswer(1, new Uint8Array(2)));
      await new Promise((resolve) => setTimeout(resolve, 100));
      connection.write(grpcAnswer(3, new Uint8Array(2)));
      return;
    }
    // Nothing is answered here, so that nothing is read either.
    for (const streamId of [1, 3]) {
      await connection.request(streamId);
      arrivals.push(streamId);
    }
    told?.();
  });
  let follows = 0;
  const done = (call: Call): void => {
    if (call.failure === undefined && follows++ < 2) client.send(call.slot, REQUEST, undefined);
  };
  const options = {
    lanes: { laneCount: 2 },
    responses: { keepBodies: false },
    maxResponseBytes: 1e6,
    stallTimeoutNs: 600e9,
    onDone: done,
  };
  const client = new GrpcUnaryClient(endpointAt(server.port), options);
  try {
    await client.reserve(2);
    client.send(0, REQUEST, undefined);
    client.send(1, REQUEST, undefined);
    client.flush();
    await Promise.race([both, timeoutAfter(LONG_MS, "both requests on the new connection")]);
    assert.deepEqual(arrivals, [1, 3]);
  } finally {
    client.close();
    await server.stop();
  }
});
