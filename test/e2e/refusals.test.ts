import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { after, before, describe, test } from "node:test";
import { runRampart } from "./command.ts";
import { openTriton, readServerCounts, type TritonAddresses } from "./servers.ts";

/** What cannot be measured is refused with its reason, in bounded time and with the right exit code. */

let triton: TritonAddresses;
before(async () => {
  triton = await openTriton();
});
after(async () => {
  await triton?.stop();
});

describe("refusals", () => {
  for (const [model, reason] of [
    ["repeat_int32", /'repeat_int32' is decoupled/],
    ["no_such_model", /no_such_model/],
  ] as const) {
    test(`model ${model}`, async () => {
      const args = ["perf_analyzer", "-m", model, "-u", triton.http, "--request-count", "5"];
      const { code, stderr } = await runRampart(args);
      assert.equal(code, 99);
      assert.match(stderr, reason);
    });
  }

  test("all problems of a command line together, before a server is queried", async () => {
    const earlier = await readServerCounts(triton.http, "simple");
    const args = [
      "perf_analyzer",
      "-m",
      "simple",
      "-u",
      triton.http,
      "--sync",
      "--async",
      "--streaming",
      "-f",
      "/no/such/folder/x.csv",
    ];
    const { code, stderr } = await runRampart(args);
    assert.equal(code, 99);
    for (const part of [/--async and --sync/, /gRPC/, /no\/such\/folder/]) assert.match(stderr, part);
    assert.deepEqual(await readServerCounts(triton.http, "simple"), earlier);
  });

  test("nothing listens", async () => {
    const { code, stderr } = await runRampart(["perf_analyzer", "-m", "simple", "-u", "127.0.0.1:1"]);
    assert.equal(code, 99);
    assert.match(stderr, /127\.0\.0\.1:1/);
  });

  test("the gRPC port is asked over HTTP", async () => {
    const args = ["perf_analyzer", "-m", "simple", "-u", triton.grpc, "--stall-timeout", "2s"];
    const { code, stderr } = await runRampart(args);
    assert.equal(code, 99);
    assert.ok(stderr.includes(triton.grpc), stderr);
  });

  for (const [name, answer] of [
    ["never answers", undefined],
    ["answers garbage", "\u0000\u0001garbage\r\n\r\n"],
    ["closes at once", ""],
  ] as const) {
    for (const protocol of ["http", "grpc"]) {
      test(`a server that ${name}, over ${protocol}`, async () => {
        const server = await startFaulty(answer);
        try {
          const url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
          const args = ["perf_analyzer", "-m", "simple", "-i", protocol, "-u", url, "--stall-timeout", "1s"];
          const { code, stderr } = await runRampart(args);
          assert.equal(code, 99);
          assert.ok(stderr.includes("failed to get"), stderr);
        } finally {
          server.close();
        }
      });
    }
  }
});

/** A server that answers each connection's first bytes with something, with nothing, or closes. */
function startFaulty(answer: string | undefined): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      if (answer === "") socket.destroy();
      else if (answer !== undefined) socket.write(answer);
    });
  });
  server.unref();
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
