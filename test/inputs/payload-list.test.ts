import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { DataOrder } from "../../src/inputs/dataset.ts";
import { readPayloadList } from "../../src/inputs/payload-list.ts";
import { UserError } from "../../src/plan/problem.ts";

/** Payloads from a file. */

async function withFile<T>(text: string, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "rampart-payloads-"));
  try {
    const path = join(folder, "inputs.json");
    await writeFile(path, text);
    return await use(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes?.subarray(4));

describe("a file of payloads", () => {
  test("each entry is a step, its payload compact and behind its length", async () => {
    const text = JSON.stringify({ data: [{ payload: [{ model: "ä", n: 1.5 }] }, { payload: [{}] }] }, undefined, 2);
    const { streams, isFromJson } = await withFile(text, (path) => readPayloadList(path, "in-turn"));
    const payloads = streams[0]?.map(({ inputs }) => inputs.get("payload")?.bytes);
    assert.deepEqual(payloads?.map(textOf), ['{"model":"ä","n":1.5}', "{}"]);
    const [first = new Uint8Array(4)] = payloads ?? [];
    assert.equal(new DataView(first.buffer).getUint32(0, true), first.length - 4);
    assert.equal(isFromJson, true);
  });

  test("with times the steps come in the order in which they are due", async () => {
    const entry = (n: number, timestamp: unknown): object => ({ payload: [{ n }], timestamp });
    const text = JSON.stringify({ data: [entry(1, [30]), entry(2, 10), entry(3, [20.5])] });
    const { streams } = await withFile(text, (path) => readPayloadList(path, "at-times"));
    assert.deepEqual(
      streams[0]?.map(({ timestampMs, inputs }) => [timestampMs, textOf(inputs.get("payload")?.bytes)]),
      [
        [10, '{"n":2}'],
        [20.5, '{"n":3}'],
        [30, '{"n":1}'],
      ],
    );
  });

  test("with sessions each is a stream of its turns, in the order of the first ones, with pauses", async () => {
    const entry = (n: number, session_id: unknown, delay?: unknown): object => ({
      payload: [{ n }],
      session_id,
      delay,
    });
    const entries = [entry(1, ["b"], [5]), entry(2, ["a"], 0), entry(3, ["b"], [1.5]), entry(4, 7), entry(5, ["a"])];
    const { streams } = await withFile(JSON.stringify({ data: entries }), (path) =>
      readPayloadList(path, "in-sessions"),
    );
    assert.deepEqual(
      streams.map((turns) =>
        turns.map(({ sessionId, delayMs, inputs }) => [sessionId, delayMs, textOf(inputs.get("payload")?.bytes)]),
      ),
      [
        [
          ["b", 5, '{"n":1}'],
          ["b", 1.5, '{"n":3}'],
        ],
        [
          ["a", 0, '{"n":2}'],
          ["a", undefined, '{"n":5}'],
        ],
        [["7", undefined, '{"n":4}']],
      ],
    );
  });

  const wrong: readonly (readonly [text: string, order: DataOrder, messages: readonly RegExp[]])[] = [
    ["{", "in-turn", [/inputs\.json is not JSON/]],
    ["[]", "in-turn", [/has no list 'data'/]],
    ['{"data":[]}', "in-turn", [/has no entries/]],
    ['{"data":[{"payload":{}},{"text":"a"},3]}', "in-turn", [/data\[0\] has no payload/, /data\[1\]/, /data\[2\]/]],
    [
      '{"data":[{"payload":[{}]},{"payload":[{}],"timestamp":[-1]}]}',
      "at-times",
      [/data\[0\] has no timestamp/, /data\[1\]/],
    ],
    [
      '{"data":[{"payload":[{}]},{"payload":[{}],"session_id":["a"],"delay":[-1]},{"payload":[{}],"session_id":[""]}]}',
      "in-sessions",
      [/data\[0\] has no session_id/, /data\[1\] has a delay that is no time/, /data\[2\] has no session_id/],
    ],
  ];
  for (const [text, order, messages] of wrong) {
    test(`refused, everything at once: ${text}`, async () => {
      const error = await withFile(text, (path) => readPayloadList(path, order)).then(
        () => assert.fail("it was read"),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof UserError);
      const told = error.problems.map(({ path, message }) => `${path} ${message}`);
      assert.equal(told.length, messages.length);
      for (const [index, message] of messages.entries()) assert.match(told[index] ?? "", message);
    });
  }

  test("a file that is not there is named", async () => {
    await assert.rejects(readPayloadList("nowhere.json", "in-turn"), /nowhere\.json.*cannot be read/s);
  });
});
