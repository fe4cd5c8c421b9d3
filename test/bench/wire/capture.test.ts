import assert from "node:assert/strict";
import { test } from "node:test";
import { readExchanges, type Segment } from "./capture.ts";

const SERVER = 80;
const encoder = new TextEncoder();

/** A segment of a client's port: an empty text opens its connection. */
function from(port: number, epochNs: bigint, text = ""): Segment {
  return { epochNs, sourcePort: port, destinationPort: SERVER, payload: encoder.encode(text) };
}

function to(port: number, epochNs: bigint): Segment {
  const payload = encoder.encode('data: {"content":"a"}\n\n');
  return { epochNs, sourcePort: SERVER, destinationPort: port, payload };
}

test("a request begins with its first byte, or where its connection was opened for it", () => {
  const segments = [
    from(1, 10n),
    from(2, 11n),
    from(1, 20n, "POST"),
    from(2, 21n, "POST"),
    to(1, 30n),
    to(2, 31n),
    // The first connection is kept; the second client opens another, on another port and then on the same one.
    from(1, 40n, "POST"),
    from(3, 41n),
    from(3, 44n, "POST"),
    to(3, 50n),
    to(1, 51n),
    from(3, 60n),
    from(3, 63n, "POST"),
    to(3, 70n),
  ];
  assert.deepEqual(
    readExchanges(segments, SERVER).map(({ sentNs, tokenNs }) => [sentNs, ...tokenNs]),
    [
      [20n, 30n],
      [21n, 31n],
      [40n, 51n],
      [41n, 50n],
      [60n, 70n],
    ],
  );
});
