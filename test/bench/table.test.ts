import assert from "node:assert/strict";
import { cpus } from "node:os";
import { describe, test } from "node:test";
import { executableName, originalName } from "./clients.ts";
import { costOfFurther, type Sample } from "./measure.ts";
import { parseCores } from "./pin.ts";
import { cases, judge, type Samples } from "./table.ts";

describe("the cores a process may use", () => {
  for (const [list, cores] of [
    ["0-3,8", [0, 1, 2, 3, 8]],
    ["1", [1]],
    ["", []],
  ] as const) {
    test(`'${list}'`, () => assert.deepEqual(parseCores(list), cores));
  }
});

/** Samples of one round in which the executable takes this share of perf_analyzer's CPU time and is this late. */
function sampleAll(share: number, lateP99Us: number): Samples {
  const sample: Sample = {
    requests: 1000,
    cpuUsPerRequest: 100,
    cpuUsPerFurther: 100,
    requestsPerSec: 1,
    p50Us: 1,
    p99Us: 1,
    peakMb: 1,
    connections: 1,
    serverCores: 1,
    lateP50Us: 1,
    lateP99Us: 1,
  };
  const own = { ...sample, cpuUsPerRequest: 100 * share, cpuUsPerFurther: 100 * share, lateP99Us };
  return new Map(
    cases.map(({ title }) => [
      title,
      new Map([
        [executableName, [own]],
        [originalName, [sample]],
      ]),
    ]),
  );
}

describe("goals with a core each", () => {
  const judgePinned = (samples: Samples) =>
    judge(samples, new Map()).filter(({ text }) => /sequences|shared memory, 16|rate/.test(text));
  const failed = (samples: Samples) => judgePinned(samples).flatMap(({ text, passed }) => (passed ? [] : [text]));

  test("there are ten, passed when all is well and missed when nothing was measured", () => {
    assert.equal(judgePinned(new Map()).length, 10);
    assert.deepEqual(failed(sampleAll(0.3, 900)), []);
    assert.equal(failed(new Map()).length, 10);
  });

  test("half of perf_analyzer's CPU is enough at a rate only", () => {
    const missed = failed(sampleAll(0.5, 900));
    assert.equal(missed.length, 4);
    assert.ok(missed.every((text) => !text.includes("rate")));
  });

  test("lateness of more than 1 ms is a goal missed", () => {
    assert.deepEqual(failed(sampleAll(0.3, 1001)), [
      "HTTP rate of 5,000/s: p99 lateness at the server, ms",
      "gRPC rate of 5,000/s: p99 lateness at the server, ms",
      "HTTP rate of 30,000/s: p99 lateness at the server, ms",
      ...(cpus().length < 4 ? [] : ["HTTP rate of 30,000/s, two threads that send: p99 lateness at the server, ms"]),
    ]);
  });
});

test("a request costs without the start what the longer of two runs costs more, for each request more", () => {
  const short = { requests: 100, cpuUsPerRequest: 50 };
  assert.equal(costOfFurther(short, { requests: 400, cpuUsPerRequest: 20 }), 10);
});
