import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { median } from "./median.ts";
import { readGhz, readPerfAnalyzer, readWrk } from "./read-report.ts";

const missing = { p50Us: Number.NaN, p99Us: Number.NaN };

const wrkOutput = [
  "  Latency Distribution",
  "     50%  166.00us",
  "     75%  241.00us",
  "     90%    1.10ms",
  "     99%    1.87ms",
  "",
];
const cases = [
  {
    tool: "perf_analyzer",
    read: readPerfAnalyzer,
    output: "    p50 latency: 208 usec\n    p90 latency: 400 usec\n    p99 latency: 995 usec\n",
    expected: { p50Us: 208, p99Us: 995 },
  },
  { tool: "wrk", read: readWrk, output: wrkOutput.join("\n"), expected: { p50Us: 166, p99Us: 1870 } },
  {
    tool: "ghz",
    read: readGhz,
    output: '{"latencyDistribution":[{"percentage":50,"latency":1500500},{"percentage":99,"latency":5378000}]}',
    expected: { p50Us: 1500.5, p99Us: 5378 },
  },
];

describe("percentiles of a load generator's report", () => {
  for (const { tool, read, output, expected } of cases) {
    test(`${tool}: read in µs`, () => assert.deepEqual(read(output), expected));
    test(`${tool}: NaN when it reported none`, () => assert.deepEqual(read("failed"), missing));
  }
});

describe("median", () => {
  for (const [values, expected] of [
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[5, Number.NaN, 7], 6],
    [[], Number.NaN],
  ] as const) {
    test(`of [${values.join(", ")}] is ${expected}`, () => assert.equal(median([...values]), expected));
  }
});
