import assert from "node:assert/strict";
import { test } from "node:test";
import { formatBodies } from "../../src/service/tensor-json.ts";

const encoder = new TextEncoder();

test("the bodies of a response are formatted as each would be alone, whatever their bytes are", () => {
  const [start = 0, ...rest] = encoder.encode("é");
  const pieces = [
    encoder.encode('data: {"a":"b"}\n\n'),
    encoder.encode("data: é 好 🙂"),
    new Uint8Array([0xef, 0xbb, 0xbf, 0x61]),
    new Uint8Array([0xff, 0x00, 0x22]),
    // One character in two bodies.
    new Uint8Array([0x61, start]),
    new Uint8Array(rest),
    new Uint8Array(0),
  ];
  const alone = pieces.map((piece) => formatBodies([piece]));
  for (let first = 0; first < pieces.length; first++)
    for (let end = first; end <= pieces.length; end++)
      assert.equal(formatBodies(pieces.slice(first, end)), alone.slice(first, end).join(","));
  const latin1 = (text: string): string => `{"response":${JSON.stringify(text)}}`;
  assert.deepEqual(alone.slice(3, 6), [latin1('ÿ\0"'), latin1("aÃ"), latin1("©")]);
});
