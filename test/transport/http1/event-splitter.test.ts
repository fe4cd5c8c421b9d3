import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { EventSplitter } from "../../../src/transport/http1/event-splitter.ts";
import { toText, utf8 } from "../bytes.ts";

const MOST = 1_000_000;

/** The events of a body that comes in pieces cut at the given places, and what was left at its end. */
function split(body: Uint8Array, cuts: readonly number[]): { events: string[]; rest: string[] } {
  const events: string[] = [];
  const splitter = new EventSplitter((bytes, start, end) => events.push(toText(bytes.slice(start, end))), MOST);
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
  ["lines that end with CR alone", "data: a\r\rid: 1\rdata: b\r\r", ["data: a\r\r", "id: 1\rdata: b\r\r"], []],
  ["empty lines between events", "\n\ndata: a\n\n\n\ndata: b\n\n\n", ["data: a\n\n", "data: b\n\n"], []],
  [
    "line breaks that change",
    "data: a\n\r\ndata: b\r\n\ndata: c\n\n",
    ["data: a\n\r\n", "data: b\r\n\n", "data: c\n\n"],
    [],
  ],
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

  test("an event whose lines end with CR alone is reported when its last CR is read; a late LF is not a line of the next event", () => {
    const events: string[] = [];
    const splitter = new EventSplitter((bytes, start, end) => events.push(toText(bytes.slice(start, end))), MOST);
    const feed = (text: string): void => splitter.feed(utf8(text), 0, text.length);
    feed("data: a\r\r");
    assert.deepEqual(events, ["data: a\r\r"]);
    feed("\ndata: b\r");
    feed("\ndata: c\r\n\r");
    feed("\n");
    assert.deepEqual(events, ["data: a\r\r", "data: b\r\ndata: c\r\n\r\n"]);
  });

  test("the events are those of the specification, whatever ends the lines and wherever the reads are cut", () => {
    const body = fc.array(fc.constantFrom("data: x", "a", "\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", ":"), {
      maxLength: 30,
    });
    const unify = (text: string): string => text.replace(/\r\n|\r/g, "\n");
    fc.assert(
      fc.property(body, fc.array(fc.nat(200), { maxLength: 6 }), (parts, cuts) => {
        const text = parts.join("");
        const { events, rest } = split(utf8(text), cuts);
        const expected = unify(text)
          .split(/\n{2,}/)
          .map((event) => event.replace(/^\n+/, ""))
          .filter((event) => event !== "");
        assert.deepEqual(
          [...events, ...rest].map((event) => unify(event).replace(/\n*$/, "")),
          expected.map((event) => event.replace(/\n*$/, "")),
        );
      }),
    );
  });

  test("an event that comes byte by byte takes time in proportion to its length", () => {
    let count = 0;
    const splitter = new EventSplitter(() => count++, 2 * MOST);
    const byte = utf8("x");
    for (let i = 0; i < 1_000_000; i++) splitter.feed(byte, 0, 1);
    splitter.end();
    assert.equal(count, 1);
  });

  test("an event without end is refused above the limit, whatever was complete before it; an event of just the limit is read", () => {
    const events: number[] = [];
    const splitter = new EventSplitter((_, start, end) => events.push(end - start), 100);
    const feed = (text: string): void => splitter.feed(utf8(text), 0, text.length);
    for (let i = 0; i < 50; i++) feed("data: a\n\n");
    feed(`data: ${"x".repeat(94)}`);
    assert.throws(() => feed("x"), { name: "EventTooLargeError", message: /no end after 100 bytes/ });
    assert.deepEqual(events, new Array(50).fill(9));
    const other = new EventSplitter((_, start, end) => events.push(end - start), 100);
    for (const piece of ["data: ", "x".repeat(94), "\n\ndata: b\n\n"]) other.feed(utf8(piece), 0, piece.length);
    assert.deepEqual(events.slice(50), [102, 9]);
  });
});
