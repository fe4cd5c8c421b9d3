import assert from "node:assert/strict";
import { test } from "node:test";
import { asksZeros, isPathsOnly, pathsOf } from "../../../src/cli/perf-analyzer/input-data.ts";

/** What the values of `--input-data` ask for. */

for (const [values, expected] of [
  [[], { zeros: false, paths: [], pathsOnly: false }],
  [["zero"], { zeros: true, paths: [], pathsOnly: false }],
  [["a.json", "zero", "b"], { zeros: true, paths: ["a.json", "b"], pathsOnly: false }],
  [["a.json"], { zeros: false, paths: ["a.json"], pathsOnly: true }],
] as const) {
  test(`--input-data ${values.join(" ") || "not given"} is read as ${JSON.stringify(expected)}`, () => {
    const read = { zeros: asksZeros(values), paths: pathsOf(values), pathsOnly: isPathsOnly(values) };
    assert.deepEqual(read, expected);
  });
}
