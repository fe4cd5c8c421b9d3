import assert from "node:assert/strict";
import { test } from "node:test";
import { readMessageLists } from "../../../src/inputs/messages/message-list.ts";
import { MIXED } from "../../../src/inputs/step-streams.ts";
import type { ModelInfo } from "../../../src/service/service.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";

/** Messages of calls from a file, in streams as the real perf_analyzer 2.60.0 reads them. */

const MODEL: ModelInfo = { name: "m", version: "", maxBatchSize: 0, inputs: [], outputs: [] };

async function read(file: object): Promise<string[][]> {
  const folder = makeFolder();
  const path = writeIn(folder, "inputs.json", JSON.stringify(file));
  const { streams } = await readMessageLists([path], [], MODEL);
  return streams.map((steps) => steps.map(({ messages = [] }) => Buffer.concat([...messages]).toString()));
}

const call = (text: string): object => ({ message_bytes: [Buffer.from(text).toString("base64")] });

const CASES: readonly (readonly [name: string, file: object, expected: RegExp | readonly (readonly string[])[]])[] = [
  ["entries are one stream", { data: [call("a"), call("b")] }, [["a", "b"]]],
  ["a list is a stream", { data: [[call("a"), call("b")]] }, [["a", "b"]]],
  ["two lists are two", { data: [[call("a"), call("b")], [call("c")]] }, [["a", "b"], ["c"]]],
  ["lists and entries are not mixed", { data: [[call("a")], call("b")] }, new RegExp(`data\\[1\\]: ${MIXED}`)],
  ["an empty stream", { data: [[]] }, /data\[0\]: is a stream without entries/],
  ["a wrong entry of a stream", { data: [[call("a"), { foo: 1 }]] }, /data\[0\]\[1\]: has the unknown field 'foo'/],
  ["validation_data", { data: [call("a")], validation_data: [{}] }, /validation_data: only responses of tensors/],
];

for (const [name, file, expected] of CASES)
  test(name, async () => {
    if (expected instanceof RegExp) await assert.rejects(read(file), expected);
    else assert.deepEqual(await read(file), expected);
  });
