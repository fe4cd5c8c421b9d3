import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import { RunError } from "../../src/plan/problem.ts";
import { sum } from "../../src/plan/units.ts";
import { createJsonReport } from "../../src/report/model-files.ts";
import { createPerfAnalyzerCsv } from "../../src/report/perf-analyzer/csv.ts";
import { ProfileExport } from "../../src/report/profile-export.ts";
import { createReports } from "../../src/report/report-formats.ts";
import { REPORT_VERSION } from "../../src/report/schema/report-schema.ts";
import type { RequestRecord } from "../../src/result/request-record.ts";
import { makeFolder } from "../make-folder.ts";
import { makeWindow } from "../measure/make-window.ts";
import { makePlan, type PlanChange } from "../plan/make-plan.ts";
import { makeLevel, makeResult, makeSink, tell } from "./make-result.ts";

/** Reports that are files. */

function windowOf(count: number): ReturnType<typeof makeWindow> {
  return makeWindow({ latenciesNs: new Array(count).fill(1e6) });
}

test("CSV rows are sorted by ascending throughput", async () => {
  const folder = makeFolder();
  const csv = join(folder, "out.csv");
  const plan = makePlan({ outputs: { style: "perf_analyzer", files: { perfAnalyzerCsv: csv } } });
  const levels = [30, 10, 20].map((count, index) =>
    makeLevel({ level: index + 1, window: windowOf(count), hasServerCounters: false }),
  );
  const unstable = makeLevel({ level: 9, outcome: "unstable" });
  await tell(
    createPerfAnalyzerCsv(plan, makeSink(), csv),
    makeResult(
      plan,
      [...levels, unstable].map((level) => ({ ...level, hasServerCounters: false })),
    ),
  );
  assert.equal(
    readFileSync(csv, "utf8"),
    "Concurrency,Inferences/Second,Client Send,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency\n" +
      "2,10,0,0,1000,1000,1000,1000\n3,20,0,0,1000,1000,1000,1000\n1,30,0,0,1000,1000,1000,1000\n",
  );
});

test("a CSV of a server with statistics keeps its columns where a level has none", async () => {
  const folder = makeFolder();
  const csv = join(folder, "out.csv");
  const plan = makePlan({ outputs: { style: "perf_analyzer", files: { csv }, isVerboseCsv: true } });
  const levels = [makeLevel(), makeLevel({ level: 2, window: windowOf(40) })];
  await tell(createPerfAnalyzerCsv(plan, makeSink(), csv), makeResult(plan, levels));
  const rows = readFileSync(csv, "utf8")
    .trimEnd()
    .split("\n")
    .map((row) => row.split(","));
  assert.deepEqual(
    rows.map((row) => row.length),
    [16, 16, 16],
  );
  // 1000 us in all, 50 us sending and receiving, 10 + 60 us in the server.
  assert.deepEqual(rows[1], [
    "1",
    "30",
    "20",
    "880",
    "10",
    "5",
    "50",
    "5",
    "30",
    "1000",
    "1000",
    "1000",
    "1000",
    "1000",
    "50",
    "950",
  ]);
  assert.deepEqual(rows[2]?.slice(3, 8), ["0", "0", "0", "0", "0"]);
});

test("a file that can not be written is an error that names it", async () => {
  const path = "/nonexistent/out";
  const plan = makePlan({ outputs: { files: { csv: path, json: path } } });
  for (const report of [createPerfAnalyzerCsv(plan, makeSink(), path), createJsonReport(plan, makeSink(), path)]) {
    await assert.rejects(
      () => tell(report, makeResult(plan, [makeLevel()])),
      (error: unknown) => error instanceof RunError && error.code === "output" && error.message.includes(path),
    );
  }
});

const record = (ns: bigint, value = 1): RequestRecord => ({
  index: 0,
  sendEpochNs: ns,
  latencyNs: 5,
  sequenceId: 0,
  inputs: [{ name: "IN", datatype: "INT32", shape: [1, 2], bytes: new Uint8Array(Int32Array.of(value, 2).buffer) }],
  responses: {
    offsetsNs: [5],
    outputs: [
      new Map([
        ["OUT", { name: "OUT", datatype: "FP32", shape: [1, 1], bytes: new Uint8Array(Float32Array.of(3).buffer) }],
      ]),
    ],
    hasEmptyEnd: false,
  },
});

test("a profile export contains the windows' requests and their bounds, and nothing from between", async () => {
  const folder = makeFolder();
  const profileExport = join(folder, "profile.json");
  const plan = makePlan({ outputs: { files: { profileExport } } });
  const report = new ProfileExport(plan, makeSink(), profileExport);
  report.onLevelStart?.("concurrency", 2, true);
  report.onRecord?.(record(1n));
  report.onLevelStart?.("concurrency", 2, false);
  report.onRecord?.(record(2n));
  report.onRecordsCut?.(undefined);
  report.onRecord?.(record(10n));
  report.onRecord?.(record(11n));
  report.onRecordsCut?.({ startEpochNs: 9n, endEpochNs: 20n });
  report.onRecord?.(record(21n));
  report.onRecordsCut?.({ startEpochNs: 20n, endEpochNs: 30n });
  report.onRecord?.(record(31n));
  report.onLevelStart?.("request-rate", 2.5, false);
  report.onRecordsCut?.(undefined);
  report.finish(makeResult(plan, []));
  const request = (ns: number): string =>
    `{"timestamp":${ns},"request_inputs":{"IN":[1,2]},"response_timestamps":[${ns + 5}],"response_outputs":[{"OUT":3.0}]}`;
  assert.equal(
    readFileSync(profileExport, "utf8"),
    `{"experiments":[{"experiment":{"mode":"concurrency","value":2},"requests":[${[10, 11, 21].map(request).join(",")}],"window_boundaries":[9,20,30]},` +
      `{"experiment":{"mode":"request_rate","value":2.5},"requests":[],"window_boundaries":[]}],"version":"0.0.0","service_kind":"triton","endpoint":""}`,
  );
  assert.deepEqual(readdirSync(folder), ["profile.json"]);
});

test("the times in a profile export are whole nanoseconds, also around a second and with leading zeros", () => {
  const places = fc.constantFrom(0n, 5n, 99_999_999n, 100_000_000n, 900_000_000n, 999_999_998n);
  const gaps = fc.array(fc.constantFrom(0, 1, 2, 50_000_000, 900_000_000, 1_000_000_000, 3e12), { maxLength: 5 });
  fc.assert(
    fc.property(fc.constantFrom(0n, 1n, 1_700_000_000n), places, gaps, (sec, placeNs, gapsNs) => {
      const path = join(makeFolder(), "profile.json");
      const report = new ProfileExport(makePlan({ outputs: { files: { profileExport: path } } }), makeSink(), path);
      const sendNs = sec * 1_000_000_000n + placeNs;
      const offsetsNs = gapsNs.map((_, at) => sum(gapsNs.slice(0, at + 1)));
      report.onLevelStart?.("concurrency", 1, false);
      const responses = { offsetsNs, outputs: offsetsNs.map(() => new Uint8Array(0)), hasEmptyEnd: false };
      report.onRecord?.({ ...record(sendNs), responses });
      report.onRecordsCut?.({ startEpochNs: 0n, endEpochNs: 2n ** 62n });
      report.finish(makeResult(makePlan(), []));
      const [, times] = /"response_timestamps":\[([\d,]*)\]/.exec(readFileSync(path, "utf8")) ?? [];
      assert.equal(times, offsetsNs.map((ns) => String(sendNs + BigInt(ns))).join(","));
    }),
    { numRuns: 60 },
  );
});

test("a profile export of a run that could not begin leaves nothing behind", async () => {
  const folder = makeFolder();
  const profileExport = join(folder, "profile.json");
  const report = new ProfileExport(makePlan({ outputs: { files: { profileExport } } }), makeSink(), profileExport);
  report.onLevelStart?.("concurrency", 1, false);
  report.discard?.();
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(existsSync(profileExport), false);
});

test("the JSON report counts requests that were sent again, each of which counts once as sent", async () => {
  const folder = makeFolder();
  const jsonFile = join(folder, "out.json");
  const plan = makePlan({ outputs: { files: { json: jsonFile } } });
  for (const [resendCount, resent] of [
    [0, {}],
    [2, { resent: 2 }],
  ] as const) {
    await tell(createJsonReport(plan, makeSink(), jsonFile), makeResult(plan, [makeLevel()], { resendCount }));
    const { requests } = JSON.parse(readFileSync(jsonFile, "utf8")) as { requests: object };
    assert.deepEqual(requests, { sent: 30, completed: 30, failed: 0, ...resent });
  }
});

test("the JSON report contains the plan, every level and every verdict", async () => {
  const folder = makeFolder();
  const jsonFile = join(folder, "out.json");
  const assertions = [{ metric: { key: "throughput" }, comparison: "above", limit: 31 }] as const;
  const plan = makePlan({ outputs: { files: { json: jsonFile } }, assertions });
  const scheduled = makeWindow({ latenciesNs: [1e6], scheduledNs: [4e6], failedCount: 1 });
  await tell(
    createJsonReport(plan, makeSink(), jsonFile),
    makeResult(
      plan,
      [makeLevel(), makeLevel({ level: 2, window: scheduled, delayedByLimit: { count: 3, longestNs: 5e6 } })],
      { isInterrupted: true },
    ),
  );
  const json = JSON.parse(readFileSync(jsonFile, "utf8")) as Record<string, unknown> & {
    levels: Record<string, unknown>[];
  };
  assert.deepEqual(
    [json["version"], json["name"], json["isPartial"], json["durationSec"]],
    [REPORT_VERSION, "a test", true, 3.5],
  );
  assert.deepEqual(json["requests"], { sent: 32, completed: 31, failed: 1 });
  assert.deepEqual(json["plan"], plan);
  assert.equal(json["startedAt"], "2023-11-14T22:13:20.000Z");
  assert.deepEqual(json["assertions"], [
    {
      text: "throughput > 31 infer/s",
      state: "fail",
      isMet: false,
      level: 2,
      measured: { value: 1, unit: "perSec" },
      measuredText: "worst 1.00 infer/s at concurrency 2",
      limit: { value: 31, unit: "perSec" },
      limitText: "31 infer/s",
    },
  ]);
  const [first, second] = json.levels as {
    metrics: Record<string, { value: number; count: number; mean: number; hdrHistogram: string }>;
    delayedByLimit?: object;
  }[];
  assert.deepEqual([first?.delayedByLimit, second?.delayedByLimit], [undefined, { count: 3, longestMs: 5 }]);
  const [latency, later] = [first?.metrics["latencyUs"], second?.metrics["latencyUs"]];
  assert.deepEqual([first?.metrics["throughputPerSec"]?.value, latency?.count, latency?.mean], [30, 30, 1000]);
  // The histograms of several results add up to one.
  const [one, other] = [latency, later].map((found) => decodeFromCompressedBase64(found?.hdrHistogram ?? ""));
  assert.ok(one !== undefined && other !== undefined);
  assert.deepEqual([one.totalCount, one.getValueAtPercentile(50)], [30, 1000]);
  one.add(other);
  assert.equal(one.totalCount, 30 + (later?.count ?? 0));
  assert.deepEqual(
    [
      second?.metrics["errorRateRatio"]?.value,
      second?.metrics["scheduledLatencyUs"]?.mean,
      first?.metrics["scheduledLatencyUs"],
    ],
    [0.5, 4000, undefined],
  );
});

/** Where there are files, one report removes those of an earlier run. For JSON, one follows the runs over time. */
const kinds: readonly (readonly [outputs: NonNullable<PlanChange["outputs"]>, count: number])[] = [
  [{ style: "perf_analyzer" }, 1],
  [{ style: "rampart", isLive: false }, 1],
  [{ style: "perf_analyzer", files: { perfAnalyzerCsv: "x.csv" } }, 3],
  [{ style: "rampart", isLive: true }, 3],
  [{ style: "rampart" }, 3],
  [{ style: "perf_analyzer", isLive: true }, 3],
  [{ style: "rampart", isLive: false, files: { csv: "x.csv", json: "x.json", profileExport: "x.profile" } }, 6],
];

for (const [outputs, count] of kinds) {
  test(`a plan with ${JSON.stringify(outputs)} has ${count} reports`, async () => {
    assert.equal((await createReports(makePlan({ outputs }), makeSink())).length, count);
  });
}

test("a file for an unknown report is refused, by any front door", async () => {
  const outputs = { style: "rampart", files: { cvs: "x.csv" } } as NonNullable<PlanChange["outputs"]>;
  await assert.rejects(createReports(makePlan({ outputs }), makeSink()), /outputs\.files\.cvs.*is not known/);
});

test("a warning during the run is a note of the JSON, as on the console", async () => {
  const folder = makeFolder();
  const json = join(folder, "out.json");
  const plan = makePlan({ outputs: { files: { json } } });
  const report = createJsonReport(plan, makeSink(), json);
  report.onWarning?.({ kind: "many-versions", model: "simple" });
  await tell(report, makeResult(plan, [makeLevel()]));
  const { notes } = JSON.parse(readFileSync(json, "utf8")) as { notes: { text: string }[] };
  assert.ok(
    notes.some(({ text }) => text.startsWith("Several versions of model simple")),
    JSON.stringify(notes),
  );
});
