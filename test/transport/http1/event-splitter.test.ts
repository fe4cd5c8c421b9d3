import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { EventSplitter } from "../../../src/transport/http1/event-splitter.ts";
import { toText, utf8 } from "../bytes.ts";

/** The events of a body that comes in pieces cut at the given places, and what was left at its end. */
function split(body: Uint8Array, cuts: readonly number[]): { events: string[]; rest: string[] } {
  const events: string[] = [];
  const splitter = new EventSplitter((event) => events.push(toText(event)));
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  // In a larger buffer, which is overwritten after each read as a socket's is.
  const buffer = new Uint8Array(body.length + 2);
  for (let i = 1; i < places.length; i++) {
    const piece = body.subarray(places[i - 1], places[i]);
    buffer.set(piece, 1);
    splitter.feed(buffer, 1, 1 + piece.length);
    buffer.fill(0x0a);
  }
  const complete = events.length;
  splitter.end();
  return { events: events.slice(0, complete), rest: events.slice(complete) };
}

const BODIES: readonly (readonly [name: string, body: string, events: readonly string[], rest: readonly string[]])[] = [
  ["two events", "data: a\n\ndata: b\n\n", ["data: a\n\n", "data: b\n\n"], []],
  ["line breaks of the web", "data: a\r\n\r\ndata: b\r\n\r\n", ["data: a\r\n\r\n", "data: b\r\n\r\n"], []],
  ["several lines", "event: x\ndata: a\ndata: b\n\n", ["event: x\ndata: a\ndata: b\n\n"], []],
  ["an event that nothing ends", "data: a\n\ndata: [DO", ["data: a\n\n"], ["data: [DO"]],
  ["a line break at the end only", "data: a\n", [], ["data: a\n"]],
  ["nothing", "", [], []],
];

describe("server-sent events", () => {
  for (const [name, body, events, rest] of BODIES) {
    test(`${name}: the same in whatever pieces they come`, () => {
      const bytes = utf8(body);
      for (let first = 0; first <= bytes.length; first++)
        for (let second = first; second <= bytes.length; second++)
          assert.deepEqual(split(bytes, [first, second]), { events: [...events], rest: [...rest] });
    });
  }

  test("no byte is lost or told twice, and every event but the last ends with an empty line", () => {
    const body = fc.array(fc.constantFrom("data: x", "a", "\n", "\r\n", "\n\n", "\r\n\r\n", ":"), { maxLength: 30 });
    fc.assert(
      fc.property(body, fc.array(fc.nat(200), { maxLength: 6 }), (parts, cuts) => {
        const text = parts.join("");
        const { events, rest } = split(utf8(text), cuts);
        assert.equal([...events, ...rest].join(""), text);
        for (const event of events) assert.match(event, /\n\r?\n$/);
        for (const event of [...events, ...rest]) assert.doesNotMatch(event, /\n\r?\n[\s\S]/);
      }),
    );
  });
});
