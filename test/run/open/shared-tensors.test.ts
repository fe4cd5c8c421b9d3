import assert from "node:assert/strict";
import { test } from "node:test";
import type { DataStep } from "../../../src/inputs/dataset.ts";
import { word } from "../../../src/plan/messages.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { SharedTensors, type SharedTensorsOptions } from "../../../src/run/open/shared-tensors.ts";
import { MissingCallError } from "../../../src/service/missing-call.ts";
import type { Ask, Query, Service, ServiceSharedMemory } from "../../../src/service/service.ts";
import type { SharedPlace } from "../../../src/service/tensor.ts";
import type { SharedRegion } from "../../../src/transport/shared-memory/shared-memory.ts";
import { makeModel, spec } from "../../inputs/make-model.ts";
import { makeService } from "../send/fake-client.ts";

interface FakeServer {
  readonly regions: Map<string, SharedRegion>;
  /** Responses to registrations, the first ones first; none: it is taken. */
  readonly refusals: RunError[];
}

/** Names of this test's own, since all processes share them. */
const IN = `IN${process.pid}`;
const OUT = `OUT${process.pid}`;

function makeShared(change: Partial<SharedTensorsOptions> = {}, outputShape = [4], outputBytes = 100) {
  const server: FakeServer = { regions: new Map(), refusals: [] };
  const query = (kind: string, region: SharedRegion): Query => ({ kind, region }) as unknown as Query;
  const ask: Ask = (asked) => {
    const { kind, region } = asked as unknown as { kind: string; region: SharedRegion };
    const refusal = kind === "register" ? server.refusals.shift() : undefined;
    if (refusal !== undefined) return Promise.reject(refusal);
    if (kind === "register") server.regions.set(region.name, region);
    else server.regions.delete(region.name);
    return Promise.resolve(undefined);
  };
  const base = makeService();
  const places: ReadonlyMap<string, SharedPlace>[] = [];
  const service: Service = {
    ...base,
    model: { ...makeModel([spec(IN, "UINT8", [1])]), outputs: [spec(OUT, "UINT8", outputShape)] },
    codec: {
      ...base.codec,
      withOutputsAt: (outputs) => {
        places.push(outputs);
        return base.codec;
      },
    },
  };
  const memory: ServiceSharedMemory = {
    kind: "system",
    outputBytes,
    register: (region) => query("register", region),
    unregister: (region) => query("unregister", region),
  };
  const steps = [0, 1].map((value): DataStep => {
    return { inputs: new Map([[IN, { bytes: Uint8Array.of(value) }]]), expected: new Map() };
  });
  const dataset = { streams: [steps], isFromJson: true, warnings: [] };
  const options = { memory, service, dataset, slotCount: 1, ask, ...change };
  return { server, places, open: () => SharedTensors.open(options) };
}

test("each step's inputs and each output have a region, which is registered until the end", async () => {
  const { server, open } = makeShared();
  const shared = await open();
  assert.deepEqual([...server.regions.keys()], [OUT, `${IN}_0_0`, `${IN}_0_1`]);
  assert.deepEqual([...(server.regions.get(`${IN}_0_1`) as SharedRegion).read(0, 1)], [1]);
  const [tensor] = shared.inputsOf(1);
  assert.deepEqual([tensor?.bytes.length, tensor?.place], [0, { region: `${IN}_0_1`, offset: 0, sizeBytes: 1 }]);
  assert.deepEqual([await shared.close(), server.regions.size], [[], 0]);
  assert.deepEqual(await shared.close(), [], "closing again does nothing");
});

test("outputs are read from their place", async () => {
  const { server, open } = makeShared();
  const shared = await open();
  (server.regions.get(OUT) as SharedRegion).write(0, Uint8Array.of(5, 6, 7, 8));
  const output = { name: OUT, datatype: "UINT8", shape: [4], bytes: new Uint8Array(0) } as const;
  assert.deepEqual([...shared.read(output, 0)], [5, 6, 7, 8]);
  assert.deepEqual([...shared.read({ ...output, shape: [2] }, 0)], [5, 6]);
  assert.deepEqual([...shared.read({ ...output, name: "other" }, 0)], []);
  await shared.close();
});

test("slots have their own places when outputs are compared, and no more than configured", async () => {
  const { places, open } = makeShared({ slotCount: 3 });
  const shared = await open();
  for (const slot of [0, 2]) shared.codecOf(slot);
  shared.codecOf(2);
  assert.deepEqual(
    places.map((outputs) => outputs.get(OUT)?.offset),
    [0, 128],
  );
  assert.equal(shared.isPerSlot, true);
  assert.throws(() => shared.codecOf(3), /more than 3 requests are in flight/);
  await shared.close();
});

test("an output of varying size has the bytes that were asked for, and not none", async () => {
  const { server, open } = makeShared({}, [-1]);
  const shared = await open();
  assert.equal(server.regions.get(OUT)?.sizeBytes, 100);
  await shared.close();
  await assert.rejects(makeShared({}, [-1], 0).open(), /shared memory of 0 bytes/);
});

test("names that the server already has get a suffix, with a warning", async () => {
  const { server, open } = makeShared();
  server.refusals.push(new RunError("refused", "region is already in manager", ""));
  const shared = await open();
  for (const name of server.regions.keys()) assert.ok(name.endsWith(`_${process.pid}`), name);
  assert.match(shared.warnings[0] ?? "", /exists already/);
  await shared.close();
});

test("a server that refuses leaves nothing behind", async () => {
  const { server, open } = makeShared();
  // It is asked again as long as the memory can be opened to more users.
  server.refusals.push(...new Array<RunError>(9).fill(new RunError("refused", "cannot open", "")));
  await assert.rejects(open(), (error: unknown) => {
    assert.ok(error instanceof RunError);
    assert.match(word(error.hint), /with the same memory/);
    return true;
  });
  assert.equal(server.regions.size, 0);
});

test("a server without shared memory is not asked again, and the memory stays closed to other users", async () => {
  const { server, open } = makeShared();
  const missing = (): RunError => new MissingCallError("refused", "HTTP status 404", "");
  server.refusals.push(missing(), missing());
  await assert.rejects(open(), (error: unknown) => {
    assert.ok(error instanceof RunError);
    assert.match(word(error.hint), /This server has no shared memory for tensors: leave out/);
    return true;
  });
  assert.equal(server.refusals.length, 1);
});
