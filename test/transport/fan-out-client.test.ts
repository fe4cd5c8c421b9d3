import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Call } from "../../src/transport/call.ts";
import type { ClientOptions, LoadClient } from "../../src/transport/client.ts";
import { BY_MEMBER, FanOutClient, ServerTurns } from "../../src/transport/fan-out-client.ts";
import type { WireRequest } from "../../src/transport/request.ts";
import { FakeClient } from "../run/send/fake-client.ts";

const REQUEST: WireRequest = { path: "/", method: "POST", headers: [], payload: new Uint8Array(1) };
const OPTIONS = {
  responses: { keepBodies: false },
  lanes: { laneCount: 1 },
  stallTimeoutNs: 1e9,
  maxResponseBytes: 1e6,
};

/** A fake client at each destination, which counts what it received. */
function makeDestinations(names: readonly string[]) {
  const clients: FakeClient[] = [];
  const destinations = names.map((name, index) => ({
    name,
    createClient: ({ onDone }: ClientOptions): LoadClient => {
      const client = new FakeClient(onDone);
      clients[index] = client;
      const statusCounts = new Uint32Array(1000);
      statusCounts[200] = index + 1;
      return Object.assign(client, { received: { bytes: 10 ** index, statusCounts, unaskedCount: index + 1 } });
    },
  }));
  return { clients, destinations };
}

describe("servers take turns", () => {
  test("whatever the slot; a call names its server, and cancelling a slot reaches the server of its request", async () => {
    const done: Call[] = [];
    const { clients, destinations } = makeDestinations(["a:1", "b:1"]);
    const client = new FanOutClient(destinations, new ServerTurns(2), {
      ...OPTIONS,
      onDone: (call) => done.push(call),
    });
    await client.reserve(3);
    for (const slot of [0, 2, 1]) client.send(slot, REQUEST, undefined);
    assert.deepEqual(
      clients.map(({ active }) => active),
      [[0, 1], [2]],
    );
    client.cancel(2, { kind: "cancelled", message: "enough" });
    clients[0]?.answer(0);
    assert.deepEqual(
      done.map(({ slot, server, failure }) => [slot, server, failure?.kind]),
      [
        [2, 1, "cancelled"],
        [0, 0, undefined],
      ],
    );
  });

  test("their counts are added, and failures belong to one of them", async () => {
    const { destinations } = makeDestinations(["a:1", "b:1"]);
    const client = new FanOutClient(destinations, new ServerTurns(2), { ...OPTIONS, onDone: () => {} });
    await client.reserve(2);
    for (const slot of [0, 1]) client.send(slot, REQUEST, undefined);
    const call = client.calls[1] as Call;
    assert.equal(client.attribute(call, { kind: "http", message: "no" }).server, "b:1");
    assert.equal(client.attribute(call, { kind: "cancelled", message: "planned" }).server, undefined);
    assert.equal(client.attribute(call, { kind: "unfinished", message: "the end" }).server, "b:1");
    assert.deepEqual(client.servers, [
      { name: "a:1", sentCount: 1, failedCount: 0 },
      { name: "b:1", sentCount: 1, failedCount: 1 },
    ]);
    const { bytes, statusCounts, unaskedCount } = client.received ?? {};
    assert.deepEqual([bytes, statusCounts?.[200], unaskedCount], [11, 3, 3]);
  });
});

test("a request goes to its member, and to one of the member's servers", async () => {
  const done: Call[] = [];
  const pair = makeDestinations(["a:1", "b:1"]);
  const one = makeDestinations(["one"]);
  const mix = [
    ...one.destinations,
    {
      name: "pair",
      createClient: (options: ClientOptions) => new FanOutClient(pair.destinations, new ServerTurns(2), options),
    },
  ];
  const client = new FanOutClient(mix, BY_MEMBER, { ...OPTIONS, onDone: (call) => done.push(call) });
  await client.reserve(4);
  for (const [slot, member] of [1, 0, 1, 1].entries()) client.send(slot, { ...REQUEST, member }, undefined);
  assert.deepEqual(
    client.calls.map(({ slot, member, server }) => [slot, member, server]),
    [
      [0, 1, 0],
      [1, 0, 0],
      [2, 1, 1],
      [3, 1, 0],
    ],
  );
  client.cancel(2, { kind: "cancelled", message: "enough" });
  assert.deepEqual(done, [client.calls[2]]);
  assert.equal(client.attribute(client.calls[2] as Call, { kind: "http", message: "" }).server, "pair at b:1");
  assert.equal(client.attribute(client.calls[1] as Call, { kind: "http", message: "" }).server, "one");
  assert.deepEqual(client.servers, [
    { name: "one", sentCount: 1, failedCount: 1 },
    { name: "pair at a:1", sentCount: 2, failedCount: 0 },
    { name: "pair at b:1", sentCount: 1, failedCount: 1 },
  ]);
  assert.equal(client.received, undefined);
});
