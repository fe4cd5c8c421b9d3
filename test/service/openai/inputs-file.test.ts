import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatInputsFile, type MetadataOrder } from "../../../src/service/openai/inputs-file.ts";
import type { Payload } from "../../../src/service/openai/payload.ts";

async function textOf(payloads: readonly Payload[], order: MetadataOrder = "session"): Promise<string> {
  let text = "";
  for await (const piece of formatInputsFile(payloads, order)) text += piece;
  return text;
}

const body = { model: "tiny", messages: [{ role: "user", content: "naïve 🙂\n" }], stop: [], temperature: 0.7 };
const timed = { isTensors: false, sessionId: "s", delayMs: 50, timestampMs: 7 };

test("the file is laid out as Python prints JSON with an indent of two", async () => {
  const text = await textOf([
    { body, isTensors: false, sessionId: "s", delayMs: 50 },
    { body: { model: "tiny", text_input: ["a"] }, isTensors: true },
  ]);
  assert.equal(
    text,
    `{
  "data": [
    {
      "payload": [
        {
          "model": "tiny",
          "messages": [
            {
              "role": "user",
              "content": "na\\u00efve \\ud83d\\ude42\\n"
            }
          ],
          "stop": [],
          "temperature": 0.7
        }
      ],
      "session_id": [
        "s"
      ],
      "delay": [
        50
      ]
    },
    {
      "model": "tiny",
      "text_input": [
        "a"
      ]
    }
  ]
}`,
  );
});

test("keys beside a payload are in GenAI-Perf's order for sessions and for traces", async () => {
  const keysOf = async (order: MetadataOrder): Promise<string[]> => {
    const { data } = JSON.parse(await textOf([{ body, ...timed }], order)) as { data: object[] };
    return Object.keys(data[0] ?? {});
  };
  assert.deepEqual(await keysOf("session"), ["payload", "session_id", "delay", "timestamp"]);
  assert.deepEqual(await keysOf("trace"), ["payload", "timestamp", "delay", "session_id"]);
});

test("no payloads give an empty list", async () => {
  assert.equal(await textOf([]), '{\n  "data": []\n}');
});

test("any content comes back from the file, which is plain ASCII", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (content) => {
      const text = await textOf([{ body: { content }, isTensors: false }]);
      assert.match(text, /^[\n -~]*$/);
      assert.deepEqual(JSON.parse(text), { data: [{ payload: [{ content }] }] });
    }),
  );
});
