import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BodyWriter } from "../../../src/report/records/body-texts.ts";
import { TextBuffer } from "../../../src/report/records/text-buffer.ts";

const encoder = new TextEncoder();
const latin1 = new TextDecoder("latin1");

function written(bodies: readonly Uint8Array[], change?: (text: string) => string): string {
  const out = new TextBuffer();
  out.append("before:");
  const writer = new BodyWriter(out, change);
  for (const body of bodies) writer.write(body, 0, body.length);
  writer.end();
  return out.textFrom("before:".length);
}

/** Decodes a body as it must stand in the export. */
function textOf(body: Uint8Array): string {
  const text = Buffer.from(body).toString("utf8");
  return Buffer.from(text).equals(body) ? text : latin1.decode(body);
}

function expected(bodies: readonly Uint8Array[], change = (text: string): string => text): string {
  return bodies.map((body) => JSON.stringify({ response: change(textOf(body)) })).join(",");
}

/** Fills empty lists; between their brackets is what JSON knows as space. */
const change = (one: string): string => one.replaceAll(/\[[ \t\r\n]*\]/g, "[0]");

test("the bodies of a response are written as JSON.stringify writes each alone, whatever their bytes are", () => {
  const part = fc.oneof(
    fc.constantFrom(
      ...['data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"delta":{"content":"', '"}}]}\n\n'],
    ),
    fc.constantFrom("data: [DONE]\n\n", "[]", "[ \n]", "]", "[", '"', "\\", "\u0000\u001f\u007f\b\f\r\t", "\uFEFF"),
    fc.string(),
    fc.string({ unit: "grapheme" }),
  );
  const text = fc.array(part, { maxLength: 6 }).map((parts) => encoder.encode(parts.join("")));
  const body = fc.oneof({ arbitrary: text, weight: 5 }, { arbitrary: fc.uint8Array({ maxLength: 40 }), weight: 1 });
  fc.assert(
    fc.property(fc.array(body, { maxLength: 12 }), (bodies) => {
      assert.equal(written(bodies), expected(bodies));
      assert.equal(written(bodies, change), expected(bodies, change));
    }),
    { numRuns: 300 },
  );
});

test("events that differ in their text only are written as JSON.stringify writes them", () => {
  const head = 'data: {"id":"chatcmpl-1","created":1700000000,"choices":[{"index":0,"delta":{"content":"';
  const tail = '"},"finish_reason":null}]}\n\n';
  const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 100 }), fc.constantFrom("a", "", " b", "[]", "[ ]"));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
      const events = texts.map((text) => encoder.encode(`${head}${JSON.stringify(text).slice(1, -1)}${tail}`));
      // Characters that are cut: their bytes come in two events.
      const cut = encoder.encode(`${head}好${tail}`);
      const bodies = [...events, cut.subarray(0, head.length + 1), cut.subarray(head.length + 1), ...events];
      assert.equal(written(bodies), expected(bodies));
      assert.equal(written(bodies, change), expected(bodies, change));
    }),
  );
});

test("bytes that are not UTF-8 are written as one character each", () => {
  const [start = 0, ...rest] = encoder.encode("é");
  const bodies = [new Uint8Array([0xff, 0x00, 0x22]), new Uint8Array([0x61, start]), new Uint8Array(rest)];
  assert.equal(written(bodies), '{"response":"ÿ\\u0000\\""},{"response":"aÃ"},{"response":"©"}');
});
