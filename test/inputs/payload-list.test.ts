import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
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
    const { streams, isFromJson } = await withFile(text, (path) => readPayloadList(path, false));
    const payloads = streams[0]?.map(({ inputs }) => inputs.get("payload")?.bytes);
    assert.deepEqual(payloads?.map(textOf), ['{"model":"ä","n":1.5}', "{}"]);
    const [first = new Uint8Array(4)] = payloads ?? [];
    assert.equal(new DataView(first.buffer).getUint32(0, true), first.length - 4);
    assert.equal(isFromJson, true);
  });

  test("with times the steps come in the order in which they are due", async () => {
    const entry = (n: number, timestamp: unknown): object => ({ payload: [{ n }], timestamp });
    const text = JSON.stringify({ data: [entry(1, [30]), entry(2, 10), entry(3, [20.5])] });
    const { streams } = await withFile(text, (path) => readPayloadList(path, true));
    assert.deepEqual(
      streams[0]?.map(({ timestampMs, inputs }) => [timestampMs, textOf(inputs.get("payload")?.bytes)]),
      [
        [10, '{"n":2}'],
        [20.5, '{"n":3}'],
        [30, '{"n":1}'],
      ],
    );
  });

  const wrong: readonly (readonly [text: string, isTimed: boolean, messages: readonly RegExp[]])[] = [
    ["{", false, [/inputs\.json is not JSON/]],
    ["[]", false, [/has no list 'data'/]],
    ['{"data":[]}', false, [/has no entries/]],
    ['{"data":[{"payload":{}},{"text":"a"},3]}', false, [/data\[0\] has no payload/, /data\[1\]/, /data\[2\]/]],
    [
      '{"data":[{"payload":[{}]},{"payload":[{}],"timestamp":[-1]}]}',
      true,
      [/data\[0\] has no timestamp/, /data\[1\]/],
    ],
  ];
  for (const [text, isTimed, messages] of wrong) {
    test(`refused, everything at once: ${text}`, async () => {
      const error = await withFile(text, (path) => readPayloadList(path, isTimed)).then(
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
    await assert.rejects(readPayloadList("nowhere.json", false), /nowhere\.json.*cannot be read/s);
  });
});
