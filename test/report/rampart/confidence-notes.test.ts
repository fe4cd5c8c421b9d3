import assert from "node:assert/strict";
import { test } from "node:test";
import { describeConfidence, describeShape, formatMarked } from "../../../src/report/rampart/confidence-notes.ts";
import { makeWindow } from "../../measure/make-window.ts";

/** Latencies that slow down from 1 to 2 ms, with an outlier of 50 ms in every fiftieth, at all times alike. */
const DRIFTING = Array.from({ length: 40_000 }, (_, index) =>
  index % 50 === 37 ? 5e7 + ((index * 7919) % 40_000) * 100 : 1e6 + 25 * index,
);

test("a drifting average beside steady outliers says so, and for which percentile the samples are worth how many", () => {
  const notes = describeConfidence(makeWindow({ latenciesNs: DRIFTING }), 1, "infer/s");
  assert.match(notes[0] ?? "", /^40,000 samples, drift of \+\d+ % from the first to the last fifth/);
  assert.match(notes.join("\n"), /^p99\.9 5\d\.\d+ ms \(5.* ms; worth [\d,]{5,} independent ones\)$/m);
  assert.match(notes.at(-1) ?? "", /^\* too few independent samples: p50 \d of 11, p90 \d+ of 64; warm up first$/);
});

test("too few samples of a steady load are answered with the time that is enough", () => {
  // 100 in a second: p90 needs 64 of them, and p99 662.
  const latenciesNs = Array.from({ length: 100 }, (_, at) => 1e6 + ((at * 617) % 100) * 1000);
  const window = makeWindow({ latenciesNs, durationNs: 1e9 });
  assert.match(
    describeConfidence(window, 1, "infer/s").at(-1) ?? "",
    /^\* too few independent samples: p99 100 of 662; about 6\.7 s would be enough$/,
  );
});

test("a percentile has a mark exactly when the note gives its number of samples, and that is below the needed one", () => {
  for (const count of [1, 10, 11, 63, 64, 65, 661, 662, 663, 7000]) {
    const window = makeWindow({ latenciesNs: Array.from({ length: count }, (_, at) => 1e6 + ((at * 7919) % count)) });
    const text = describeConfidence(window, 1, "infer/s").join("\n");
    const weak = new Map<string, boolean>();
    for (const [, name = "", has = "", needed = ""] of text.matchAll(/(p[\d.]+) ([\d,]+) of ([\d,]+)/g))
      weak.set(name, Number(has.replaceAll(",", "")) < Number(needed.replaceAll(",", "")));
    for (const percentile of [50, 90, 99])
      assert.equal(
        weak.get(`p${percentile}`),
        formatMarked(window.latency, percentile).endsWith("*") || undefined,
        text,
      );
  }
});

const noteOf = (latenciesNs: readonly number[]): string =>
  describeConfidence(makeWindow({ latenciesNs }), 1, "infer/s").join("\n");

test("of samples that drift all the time the note has the size of the drift, of others what they are worth", () => {
  const rising = Array.from({ length: 4000 }, (_, at) => 1e6 + 250 * at);
  // The fifths have medians of 1.1 and 1.9 ms.
  assert.match(noteOf(rising), /^4,000 samples, drift of \+73 % from the first to the last fifth/);
  assert.match(noteOf(rising.toReversed()), /^4,000 samples, drift of −42 % from the first to the last fifth/);
  const mixed = rising.map((_, at) => rising[(at * 2003) % rising.length] as number);
  for (const latencies of [mixed, mixed.slice(0, 8)]) assert.match(noteOf(latencies), /samples, worth \d/);
});

test("one burst and a slow start are named, with their size, and no number of samples is said to be enough", () => {
  const around = (from: number, to: number, factor: number): number[] =>
    Array.from({ length: 4000 }, (_, at) => (1e6 + ((at * 617) % 100) * 1000) * (at >= from && at < to ? factor : 1));
  const burst = noteOf(around(1984, 2112, 12));
  assert.match(burst, /^4,000 samples, one burst: 12 times the rest/);
  assert.doesNotMatch(burst, /drift|worth|would be enough/);
  const start = noteOf(around(0, 320, 3));
  assert.match(start, /^4,000 samples, slow start: 3 times the rest/);
  assert.doesNotMatch(start, /drift|worth|would be enough/);
});

const SIZE = { from: 4, to: 6, startNs: 7.2e9, endNs: 7.5e9, factor: 11.83 };
const SHAPES = [
  [{ kind: "steady" }, undefined],
  [{ kind: "correlated" }, undefined],
  [{ kind: "drift", ratio: -0.1234 }, "drift of −12 % from the first to the last fifth"],
  [{ kind: "burst", ...SIZE }, "one burst 4.2 s after the start, 300 ms long: 12 times the rest"],
  [{ kind: "burst", from: 4, to: 6, factor: 0.25 }, "one burst: 0.25 times the rest"],
  [{ kind: "start-up", ...SIZE, startNs: 2.9e9, endNs: 3.1e9 }, "slow start: 12 times the rest in the first 100 ms"],
  [{ kind: "start-up", from: 0, to: 2, factor: 0.5 }, "fast start: 0.5 times the rest"],
] as const;
for (const [shape, text] of SHAPES)
  test(`a shape is described: ${text ?? shape.kind}`, () => assert.equal(describeShape(shape, 3e9), text));
