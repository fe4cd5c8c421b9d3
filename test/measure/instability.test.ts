import assert from "node:assert/strict";
import { test } from "node:test";
import { explainInstability } from "../../src/measure/instability.ts";
import { makeInstability, makeWindow } from "./make-window.ts";

/** Why a level did not become stable. */

const window = makeWindow({ latenciesNs: new Array(600).fill(1e6), durationNs: 3e9 });

test("it reports what varied, by how much and over which windows", () => {
  const both = makeInstability({ throughputRatio: 0.234, latencyRatio: 0.4 });
  assert.equal(
    explainInstability(both, window, undefined).moved,
    "over windows 8 to 10 throughput moved by 23.4 % (100, 110, 104 infer/s) and latency moved by 40 % (1 ms, 1.4 ms, 1.1 ms); 10 % is allowed",
  );
  assert.equal(
    explainInstability(both, window, undefined).brief[0],
    "throughput moved by 23.4 % and latency by 40 %; 10 % is allowed",
  );
  const latency = makeInstability({ throughputRatio: 0.05, latencyRatio: 0.4 });
  assert.match(explainInstability(latency, window, undefined).moved, /^over windows 8 to 10 latency moved by 40 % /);
  const asynchronous = makeInstability({ throughputRatio: 0.2, latencyRatio: 0.9, isThroughputOnly: true });
  assert.doesNotMatch(explainInstability(asynchronous, window, undefined).moved, /latency/);
});

test("too few windows for the stability rule are reported as such", () => {
  const short = makeInstability({ throughputRatio: 0.5, latencyRatio: 0, trials: 2 });
  const windows = short.windows.slice(0, 2);
  const { moved, cause, brief, remedy, metric } = explainInstability({ ...short, windows }, window, undefined);
  assert.equal(moved, "2 windows are too few to compare");
  assert.equal(cause, "a level needs 3 of them");
  assert.deepEqual(brief, [moved, cause]);
  assert.equal(remedy, "three-windows");
  assert.equal(metric, undefined);
});

const steady = { inferPerSec: 100, latencyNs: 1e6, requestCount: 200 };
const causes: readonly (readonly [
  name: string,
  change: Parameters<typeof makeInstability>[0],
  measured: Parameters<typeof makeWindow>[0],
  askedPerSec: number | undefined,
  cause: RegExp,
  remedy: string,
])[] = [
  [
    "a busy client",
    {},
    { health: { cpuRatio: 0.97 } },
    undefined,
    /^the client .*: the client used 97 % of a core/,
    "less-load",
  ],
  [
    "a rate that the server does not reach",
    {},
    { latenciesNs: new Array(300).fill(1e6), durationNs: 3e9 },
    150,
    /^the client was not the limit \(10 % of a core\); the server answered 100\.0 of 150 requests per second/,
    "less-load",
  ],
  [
    "windows with few requests",
    { windows: [steady, { ...steady, requestCount: 12 }, steady] },
    {},
    undefined,
    /a window held as few as 12 requests/,
    "longer-windows",
  ],
  [
    "a window with a single request",
    { windows: [steady, { ...steady, requestCount: 1 }, steady] },
    {},
    undefined,
    /a window held as few as 1 request$/,
    "longer-windows",
  ],
  [
    "a level that still settles",
    { throughputRatio: 0.5, windows: [80, 100, 120].map((inferPerSec) => ({ ...steady, inferPerSec })) },
    {},
    undefined,
    /the values kept moving in one direction/,
    "more-trials",
  ],
  [
    "a little too much movement",
    { throughputRatio: 0.12, latencyRatio: 0.05 },
    {},
    undefined,
    /up and down/,
    "wider-tolerance",
  ],
  ["much movement", { throughputRatio: 0.1, latencyRatio: 2 }, {}, undefined, /up and down/, "longer-windows"],
];

for (const [name, change, measured, askedPerSec, cause, remedy] of causes) {
  test(`the cause: ${name}`, () => {
    const asked = askedPerSec === undefined ? undefined : { perSec: askedPerSec, gapDeviationRatio: 0 };
    const report = explainInstability(makeInstability(change), makeWindow(measured), asked);
    assert.match(report.cause, cause);
    assert.ok(report.cause.endsWith(report.brief[1]) && !report.brief[1].includes("not the limit"), report.brief[1]);
    assert.equal(report.remedy, remedy);
  });
}

test("fewer responses than a Poisson rate's mean may be chance, which no lower load would help", () => {
  const asked = { perSec: 100, gapDeviationRatio: 1 };
  const measured = makeWindow({ latenciesNs: new Array(270).fill(1e6), durationNs: 3e9 });
  assert.doesNotMatch(explainInstability(makeInstability(), measured, asked).cause, /the server answered/);
});
