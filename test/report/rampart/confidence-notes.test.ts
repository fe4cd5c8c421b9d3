import assert from "node:assert/strict";
import { test } from "node:test";
import { describeConfidence, formatMarked } from "../../../src/report/rampart/confidence-notes.ts";
import { makeWindow } from "../../measure/make-window.ts";

/** Latencies that slow down from 1 to 2 ms, with an outlier of 50 ms in every fiftieth, at all times alike. */
const DRIFTING = Array.from({ length: 40_000 }, (_, index) =>
  index % 50 === 37 ? 5e7 + ((index * 7919) % 40_000) * 100 : 1e6 + 25 * index,
);

test("a drifting average beside steady outliers says for which number the samples are worth how many", () => {
  const notes = describeConfidence(makeWindow({ latenciesNs: DRIFTING }), 1, "infer/s");
  assert.match(notes[0] ?? "", /^40,000 samples, worth \d+ independent ones? for the average/);
  assert.match(notes.join("\n"), /^p99\.9 5\d\.\d+ ms \(5.* ms; worth [\d,]{5,} independent ones\)$/m);
  assert.match(
    notes.at(-1) ?? "",
    /^\* too few independent samples: p50 \d of 11, p90 \d+ of 64; about [\d,]+ samples would be enough$/,
  );
  // A projection has two digits, not the precision of a count.
  const [, enough = ""] = /about ([\d,]+) samples/.exec(notes.at(-1) ?? "") ?? [];
  assert.match(enough.replaceAll(",", ""), /^\d{2}0+$/);
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

test("of samples that drift all the time the note has the size of the drift, of others what they are worth", () => {
  const noteOf = (latenciesNs: readonly number[]): string =>
    describeConfidence(makeWindow({ latenciesNs }), 1, "infer/s")[0] ?? "";
  const rising = Array.from({ length: 4000 }, (_, at) => 1e6 + 250 * at);
  // The fifths have means of 1.1 and 1.9 ms, the batches of 32 samples the rest of the range.
  assert.match(
    noteOf(rising),
    /^4,000 samples, \+73 % from the first to the last fifth, means of batches 1\.0\d* to 1\.99\d* ms/,
  );
  assert.match(noteOf(rising.toReversed()), /^4,000 samples, −42 % from the first to the last fifth/);
  const mixed = rising.map((_, at) => rising[(at * 2003) % rising.length] as number);
  for (const latencies of [mixed, mixed.slice(0, 8)]) assert.match(noteOf(latencies), /samples, worth \d/);
});
