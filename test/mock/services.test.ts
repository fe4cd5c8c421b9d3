import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { StatusError } from "../../src/mock/grpc-frames.ts";
import { createPacing } from "../../src/mock/pacing.ts";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import type { MockHandlers, MockMethod } from "../../src/mock/services/service.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";

/** What a service of the mock can be: HTTP paths and gRPC methods of any call type beside the built-in ones. */

const text = new TextDecoder();

/** Echoes each message; refuses "bad". */
const echo: MockMethod = async function* (messages) {
  for await (const message of messages) {
    if (text.decode(message) === "bad") throw new StatusError(9, "planned: bad");
    yield message;
  }
};

const handlers: MockHandlers = {
  describe: (http) => `echo ${http}`,
  answerHttp: ({ method, path, body }, response) => {
    if (path !== "/echo") return false;
    response.writeHead(200).end(`${method} ${body.toString()}`);
    return true;
  },
  methods: { "/test.Echo/Talk": echo },
};

const mock = await startMock(DEFAULT_MOCK, LOOPBACK, [handlers]);
after(() => mock.stop());

/** Sends messages on one stream, and returns the responses and the status. */
function talk(...sent: string[]): Promise<{ responses: string[]; code: number; details: string }> {
  const client = new Client(`127.0.0.1:${mock.grpcPort}`, credentials.createInsecure());
  const same = (bytes: Buffer): Buffer => bytes;
  const call = client.makeBidiStreamRequest("/test.Echo/Talk", same, same);
  const responses: string[] = [];
  return new Promise((resolve) => {
    call.on("data", (bytes: Buffer) => responses.push(bytes.toString()));
    call.on("error", (_error: ServiceError) => {});
    call.on("status", ({ code, details }) => {
      client.close();
      resolve({ responses, code, details });
    });
    for (const message of sent) call.write(Buffer.from(message));
    call.end();
  });
}

describe("a service of the mock", () => {
  test("answers its own HTTP paths, and leaves the others to the mock", async () => {
    const own = await fetch(`http://127.0.0.1:${mock.httpPort}/echo`, { method: "POST", body: "x" });
    assert.equal(await own.text(), "POST x");
    const other = await fetch(`http://127.0.0.1:${mock.httpPort}/v2/health/ready`);
    assert.equal(other.status, 200);
  });

  test("answers each message of a gRPC call, and ends with OK", async () => {
    assert.deepEqual(await talk("a", "b", "c"), { responses: ["a", "b", "c"], code: 0, details: "" });
    assert.deepEqual((await talk()).code, 0);
  });

  test("ends a call with the status that it throws, after the responses so far", async () => {
    assert.deepEqual(await talk("a", "bad"), { responses: ["a"], code: 9, details: "planned: bad" });
    assert.deepEqual(await talk("bad"), { responses: [], code: 9, details: "planned: bad" });
  });

  test("fails by the planned ratio", () => {
    const count = (errorRatio: number): number => {
      const pacing = createPacing({ ...DEFAULT_MOCK, errorRatio });
      return Array.from({ length: 1000 }, () => pacing.fails()).filter(Boolean).length;
    };
    assert.equal(count(0), 0);
    assert.equal(count(1), 1000);
    assert.ok(Math.abs(count(0.25) - 250) < 60);
  });
});
