import assert from "node:assert/strict";
import { test } from "node:test";
import { type Exchange, readExchanges, readSegments, type Segment } from "./capture.ts";
import { compareWithWire } from "./compare.ts";

const SERVER = 8000;
const encoder = new TextEncoder();

/** A pcap file of Ethernet frames, as tcpdump writes it on loopback. */
function makeCapture(
  packets: readonly { readonly at: readonly [sec: number, fraction: number]; readonly frame: Uint8Array }[],
  magic = 0xa1b23c4d,
): Uint8Array {
  const file = new Uint8Array(24 + packets.reduce((sum, { frame }) => sum + 16 + frame.length, 0));
  const view = new DataView(file.buffer);
  view.setUint32(0, magic, true);
  let at = 24;
  for (const {
    at: [sec, fraction],
    frame,
  } of packets) {
    for (const [i, value] of [sec, fraction, frame.length, frame.length].entries())
      view.setUint32(at + 4 * i, value, true);
    file.set(frame, at + 16);
    at += 16 + frame.length;
  }
  return file;
}

/** An IPv4 frame with TCP options of four bytes. */
function makeFrame(from: number, to: number, text: string): Uint8Array {
  const payload = encoder.encode(text);
  const frame = new Uint8Array(14 + 20 + 24 + payload.length);
  const view = new DataView(frame.buffer);
  view.setUint16(12, 0x0800);
  view.setUint8(14, 0x45);
  view.setUint16(16, frame.length - 14);
  view.setUint8(23, 6);
  view.setUint16(34, from);
  view.setUint16(36, to);
  view.setUint8(46, 6 << 4);
  frame.set(payload, 58);
  return frame;
}

test("a capture's segments have their time to the nanosecond, ports and bytes; those without bytes and other packets are left out", () => {
  const other = makeFrame(1, 2, "x");
  other[23] = 17;
  const packets = [
    { at: [5, 7] as const, frame: makeFrame(50_000, SERVER, "POST") },
    { at: [5, 8] as const, frame: makeFrame(SERVER, 50_000, "") },
    { at: [5, 9] as const, frame: other },
    { at: [6, 10] as const, frame: makeFrame(SERVER, 50_000, "HTTP") },
  ];
  const read = (magic?: number): unknown[] =>
    readSegments(makeCapture(packets, magic)).map(({ epochNs, sourcePort, payload }) => [
      epochNs,
      sourcePort,
      new TextDecoder().decode(payload),
    ]);
  assert.deepEqual(read(), [
    [5_000_000_007n, 50_000, "POST"],
    [6_000_000_010n, SERVER, "HTTP"],
  ]);
  assert.deepEqual(read(0xa1b2c3d4)[1], [6_000_010_000n, SERVER, "HTTP"]);
  assert.throws(() => readSegments(new Uint8Array(100)), /no pcap file/);
  const cut = makeCapture(packets);
  new DataView(cut.buffer).setUint32(24 + 12, 9999, true);
  assert.throws(() => readSegments(cut), /was cut/);
});

test("an exchange begins with the request's first bytes, and has each segment that ended an event with text", () => {
  const segment = (atMs: number, from: number, to: number, text: string): Segment => ({
    epochNs: BigInt(atMs) * 1_000_000n,
    sourcePort: from,
    destinationPort: to,
    payload: encoder.encode(text),
  });
  const event = (content: string): string => `data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`;
  const exchanges = readExchanges(
    [
      segment(0, 1, SERVER, "POST / HTTP/1.1"),
      segment(1, 1, SERVER, "the rest"),
      segment(2, 2, SERVER, "POST / HTTP/1.1"),
      segment(3, SERVER, 1, `HTTP/1.1 200 OK\r\n\r\n${event("")}`),
      segment(5, SERVER, 1, event("a")),
      segment(6, SERVER, 2, event("x")),
      segment(7, SERVER, 1, event("b").slice(0, 20)),
      segment(8, SERVER, 1, event("b").slice(20)),
      segment(9, SERVER, 1, event("c") + event("d")),
      segment(10, 1, SERVER, "POST / HTTP/1.1"),
      segment(12, SERVER, 1, event("e")),
      segment(13, 3, SERVER, "never answered"),
    ],
    SERVER,
  );
  const ms = ({ sentNs, tokenNs }: Exchange): number[] => [sentNs, ...tokenNs].map((timeNs) => Number(timeNs) / 1e6);
  assert.deepEqual(exchanges.map(ms), [
    [0, 5, 8, 9],
    [2, 6],
    [10, 12],
  ]);
});

test("a client's times are held against those of the wire, request by request", () => {
  const exchanges = [
    { sentNs: 1_000_000n, tokenNs: [11_000_000n, 31_000_000n] },
    { sentNs: 2_000_000n, tokenNs: [12_000_000n, 32_000_000n] },
  ];
  const measured = [
    { sentNs: 500_000n, firstMs: 12, lastMs: 33 },
    { sentNs: 1_500_000n, firstMs: 14, lastMs: 35 },
  ];
  assert.deepEqual(compareWithWire(measured, exchanges, 11), {
    requests: 2,
    ttftMs: 13,
    wireTtftMs: 10,
    firstLateMs: 2.5,
    firstLateP99Ms: 3.5,
    lastLateMs: 3.5,
    itlMs: 2.1,
    wireItlMs: 2,
  });
  assert.throws(() => compareWithWire(measured.slice(1), exchanges, 11), /recorded 1 requests, 2 passed/);
});
