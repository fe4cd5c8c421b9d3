// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Client, credentials } from "@grpc/grpc-js";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { grpcProtoService } from "../../../src/mock/services/grpc-proto.ts";
import type { MockPlan } from "../../../src/plan/mock.ts";
import { readProfile, runCommand } from "../../cli/perf-analyzer/run-command.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { demoProto } from "../../servers/dynamic.ts";

/** `rampart mock --proto FILE`: the methods of a file, described by reflection. */

const LLM = {
  firstToken: { kind: "constant", ms: 0 },
  tokenGapMs: 1,
  osl: 3,
  tokensPerEvent: 1,
  reasoningTokens: 0,
  cutRatio: 0,
} as const;
const PLAN: MockPlan = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0, llm: LLM };

async function start(plan: MockPlan, file = demoProto): Promise<{ port: number; stop(): Promise<void> }> {
  const services = [await grpcProtoService.create(plan, file)];
  const { grpcPort, stop } = await startMock(plan, LOOPBACK, services);
  return { port: grpcPort, stop };
}

const mock = await start(PLAN);
after(() => mock.stop());

/** Calls a method and returns the responses to the first of two requests. */
async function call(
  port: number,
  method: string,
  entry: object,
  ...flags: string[]
): Promise<{ code: number; err: string; responses: unknown[] }> {
  const folder = makeFolder();
  const file = join(folder, "in.json");
  const profile = join(folder, "out.json");
  await writeFile(file, JSON.stringify({ data: [entry] }));
  const target = ["--service-kind", "dynamic_grpc", "-u", `127.0.0.1:${port}`, "--grpc-method", method];
  const run = ["--input-data", file, "--request-count", "2", "--profile-export-file", profile, ...flags];
  const { code, err } = await runCommand([...target, ...run]);
  if (code !== 0) return { code, err, responses: [] };
  const outputs = readProfile(profile).experiments[0]?.requests[0]?.response_outputs ?? [];
  return { code, err, responses: outputs.map(({ response }) => JSON.parse(String(response)) as unknown) };
}

/** Calls a method of `demo.v1.Text` with another client. Resolves with the sizes of its responses. Rejects with them as `sizes`. */
function responseSizes(port: number, method: string, text: string): Promise<number[]> {
  const request = Buffer.from([0x0a, text.length, ...Buffer.from(text)]);
  return stream(port, `/demo.v1.Text/${method}`, request).then((responses) => responses.map(({ length }) => length));
}

/** Lists the services by reflection, and returns the response as text. */
async function reflect(port: number, version: string): Promise<string> {
  const listServices = Buffer.from([0x3a, 1, 0x2a]);
  const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
  return Buffer.concat(await stream(port, path, listServices)).toString("latin1");
}

/** Makes a call with grpc-js. Rejects with the sizes of the responses that came. */
function stream(port: number, path: string, request: Buffer): Promise<Buffer[]> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = client.makeServerStreamRequest(
    path,
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => bytes,
    request,
  );
  const responses: Buffer[] = [];
  return new Promise<Buffer[]>((resolve, reject) => {
    call.on("data", (answer: Buffer) => responses.push(answer));
    call.on("end", () => resolve(responses));
    call.on("error", (error) => reject(Object.assign(error, { sizes: responses.map(({ length }) => length) })));
  }).finally(() => client.close());
}

const RESPONSE = { text: "hi", number: 0, ok: false };

describe("the mock of a .proto file", () => {
  const cases: readonly (readonly [method: string, entry: object, count: number])[] = [
    ["Echo", { message: { text: "hi", numbers: [1] } }, 1],
    ["Collect", { messages: [{ text: "no" }, { text: "hi" }] }, 1],
    ["Repeat", { message: { text: "hi" } }, 3],
    ["Talk", { messages: [{ text: "hi" }, { text: "hi" }] }, 2],
  ];
  for (const [method, entry, count] of cases)
    test(`answers ${method} with the fields of the same name, found by reflection`, async () => {
      const { code, err, responses } = await call(mock.port, `demo.v1.Text/${method}`, entry);
      assert.equal(code, 0, err);
      assert.deepEqual(responses, Array(count).fill(RESPONSE));
    });

  test("repeats a request of the response's type, with maps and nested types that reflection describes", async () => {
    const folder = makeFolder();
    const text = `syntax = "proto3"; package own; import "google/protobuf/timestamp.proto";
      message Item { message Part { int64 size = 1; } enum Kind { A = 0; B = 1; } Part part = 1; map<string, Part> parts = 2; Kind kind = 3; google.protobuf.Timestamp at = 4; }
      service Items { rpc Get(Item) returns (Item); }`;
    const file = writeIn(folder, "own.proto", text);
    const own = await start(PLAN, file);
    try {
      const item = { part: { size: 3 }, parts: { x: { size: 4 } }, kind: "B", at: "2026-01-31T12:00:00Z" };
      const { code, err, responses } = await call(own.port, "own.Items/Get", { message: item });
      assert.equal(code, 0, err);
      assert.deepEqual(responses, [item]);
    } finally {
      await own.stop();
    }
  });

  for (const version of ["v1", "v1alpha"])
    test(`describes itself by reflection ${version} to a client of another library`, async () => {
      const text = await reflect(mock.port, version);
      for (const name of ["demo.v1.Text", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha"])
        assert.ok(text.includes(name), text);
    });

  test("adds the planned bytes to each response, which has the same fields", async () => {
    const large = await start({ ...PLAN, responseBytes: 5000 });
    try {
      for (const [method, count] of [
        ["Echo", 1],
        ["Repeat", 3],
      ] as const) {
        const { responses } = await call(large.port, `demo.v1.Text/${method}`, { message: { text: "hi" } });
        assert.deepEqual(responses, Array(count).fill(RESPONSE));
        const sizes = await responseSizes(large.port, method, "hi");
        assert.equal(sizes.length, count);
        for (const size of sizes) assert.ok(size > 5000 && size < 5050, String(size));
      }
    } finally {
      await large.stop();
    }
  });

  test("cuts the planned share of streams off in the middle, and no other calls", async () => {
    const cutting = await start({ ...PLAN, llm: { ...LLM, cutRatio: 1 } });
    try {
      for (const method of ["Repeat", "Talk"]) {
        const entry = method === "Talk" ? { messages: [{ text: "hi" }, { text: "hi" }] } : { message: { text: "hi" } };
        const { code, err } = await call(cutting.port, `demo.v1.Text/${method}`, entry);
        assert.equal(code, 99);
        assert.match(err, /had error: .*(without trailers|reset|INTERNAL_ERROR)/i);
      }
      assert.equal((await call(cutting.port, "demo.v1.Text/Echo", { message: { text: "hi" } })).code, 0);
      // A client may drop what it has not handed over when the reset comes.
      await assert.rejects(responseSizes(cutting.port, "Repeat", "hi"), ({ sizes }: { sizes: readonly number[] }) => {
        assert.ok(sizes.length <= 2 && sizes.every((size) => size === 4), JSON.stringify(sizes));
        return true;
      });
    } finally {
      await cutting.stop();
    }
  });

  test("names what exists, and fails by the planned ratio", async () => {
    const unknown = await call(mock.port, "demo.v1.Text/Nope", { message: {} });
    assert.equal(unknown.code, 99);
    assert.match(unknown.err, /the service has demo\.v1\.Text\/Collect, demo\.v1\.Text\/Echo/);
    const failing = await start({ ...PLAN, errorRatio: 1 });
    try {
      const { code, err } = await call(failing.port, "demo.v1.Text/Echo", { message: {} });
      assert.equal(code, 99);
      assert.match(err, /planned failure/);
    } finally {
      await failing.stop();
    }
  });
});
