import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as v from "valibot";
import { formatPage } from "../../../src/report/html/report-page.ts";
import { toReportJson } from "../../../src/report/json/report-json.ts";
import type { Note } from "../../../src/report/model/report-model.ts";
import type { Plot, XyPlot } from "../../../src/report/plot.ts";
import { sweepSchema } from "../../../src/report/schema/sweep.ts";
import {
  buildSweepModel,
  type PointValues,
  type SweptPoint,
  toSweepJson,
} from "../../../src/report/sweep/sweep-model.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { checkFields } from "../check-schema.ts";
import { makeLevel, makeResult } from "../make-result.ts";
import { valuesOf } from "../model/make-model.ts";

/** The charts and the JSON of a sweep. */

const plan = makePlan({ outputs: { style: "rampart" } });

/** A point whose levels had this number of requests in a second, each of this time. */
function makePoint(
  values: PointValues,
  levels: readonly (readonly [level: number, perSec: number, ms: number])[],
  of = plan,
): SweptPoint {
  const measured = levels.map(([level, perSec, ms]) =>
    makeLevel({ level, window: makeWindow({ latenciesNs: new Array(perSec).fill(ms * 1e6) }) }),
  );
  const json = JSON.parse(JSON.stringify(toReportJson(of, makeResult(of, measured)))) as SweptPoint["json"];
  return { values, plan: of, json };
}

function modelOf(points: readonly SweptPoint[], change: object = {}) {
  return buildSweepModel({ points, missing: [], asked: points.length, ...change });
}

function chartOf(points: readonly SweptPoint[], title: string): Plot {
  const charts = modelOf(points).sections.flatMap((section) => section.charts);
  const found = charts.find((chart) => chart.title === title);
  assert.ok(found !== undefined, `no chart ${title}: ${charts.map((chart) => chart.title).join(", ")}`);
  return found;
}

/** Users 1, 2 and 4, with inputs of two lengths. */
const BOTH = ["64", "8"].flatMap((isl, place) =>
  [4, 1, 2].map((users) =>
    makePoint(
      [
        ["isl", isl],
        ["users", String(users)],
      ],
      [[users, 100 * users, (place === 0 ? 10 : 1) * users]],
    ),
  ),
);

test("the capacity is a row for each point, with the reason where it is not known", () => {
  // 2 GPUs cost 2 × 7.2 / 3600 = 0.004 a second.
  const asked = makePlan({
    outputs: { style: "rampart" },
    load: { kind: "concurrency", levels: { kind: "list", values: [1, 2] }, search: "linear" },
    capacity: { gpuCount: 2, gpuHourPrice: 7.2, targetUsers: 5 },
  });
  const point = (isl: string, first: number, second: number): SweptPoint =>
    makePoint(
      [["isl", isl]],
      [
        [1, first, 1],
        [2, second, 1],
      ],
      asked,
    );
  const { sections } = modelOf([point("20", 40, 80), point("40", 40, 42), point("80", 0, 0)]);
  const [, capacity] = sections;
  assert.equal(capacity?.id, "capacity");
  assert.equal(capacity?.title, "Capacity of 2 GPUs at 7.2 per GPU hour");
  assert.equal(capacity?.isSummary, true);
  assert.deepEqual(capacity?.tables.map(valuesOf), [
    [
      { isl: 20, level: "concurrency 2", throughputPerGpu: 40, costPerMillion: 50, targetGpuCount: 6 },
      { isl: 40, level: "concurrency 1", throughputPerGpu: 20, costPerMillion: 100, targetGpuCount: 10 },
    ],
  ]);
  const [unknown, more] = capacity?.lines ?? [];
  assert.equal(unknown, "isl 80: the capacity of 2 GPUs is not known: no request succeeded");
  assert.match(more ?? "", /^isl 20: the server/);
});

describe("the charts of a sweep", () => {
  test("one parameter: throughput and latency over it, in the colours of their meaning, and latency against throughput", () => {
    const points = [4, 1, 16].map((users) => makePoint([["users", String(users)]], [[users, 50 * users, users]]));
    const knee = chartOf(points, "Latency against throughput") as XyPlot;
    assert.deepEqual(
      knee.series.map(({ name, meaning, points: own, labels }) => ({ name, meaning, own, labels })),
      [
        {
          name: "p50",
          meaning: "p50",
          own: [
            [50, 1],
            [200, 4],
            [800, 16],
          ],
          labels: undefined,
        },
        {
          name: "p99",
          meaning: "p99",
          own: [
            [50, 1],
            [200, 4],
            [800, 16],
          ],
          labels: ["1", "4", "16"],
        },
      ],
    );
    assert.deepEqual([knee.xLabel, knee.yLabel], ["Throughput (infer/s)", "Latency (ms)"]);
    assert.deepEqual(knee.notes, ["The numbers at the points are users."]);
    const throughput = chartOf(points, "Throughput by users") as XyPlot;
    assert.deepEqual(
      throughput.series.map(({ meaning, points: own }) => [meaning, own]),
      [
        [
          "throughput",
          [
            [1, 50],
            [4, 200],
            [16, 800],
          ],
        ],
      ],
    );
    assert.equal(throughput.isLogX, true);
    const latency = chartOf(points, "Latency by users") as XyPlot;
    assert.deepEqual(
      latency.series.map(({ name, meaning }) => [name, meaning]),
      [
        ["p50", "p50"],
        ["p99", "p99"],
      ],
    );
  });

  test("two parameters: a line for each value of the other, in the order of the numbers and in one range of colours", () => {
    const knee = chartOf(BOTH, "Latency against throughput") as XyPlot;
    assert.deepEqual(
      knee.series.map(({ name, shade, points }) => ({ name, shade, points })),
      [
        {
          name: "isl 8",
          shade: 0,
          points: [
            [100, 1],
            [200, 2],
            [400, 4],
          ],
        },
        {
          name: "isl 64",
          shade: 1,
          points: [
            [100, 10],
            [200, 20],
            [400, 40],
          ],
        },
      ],
    );
    const byIsl = chartOf(BOTH, "Latency by isl") as XyPlot;
    assert.deepEqual(
      byIsl.series.map(({ name, points }) => [name, points]),
      [
        [
          "users 1",
          [
            [8, 1],
            [64, 10],
          ],
        ],
        [
          "users 2",
          [
            [8, 2],
            [64, 20],
          ],
        ],
        [
          "users 4",
          [
            [8, 4],
            [64, 40],
          ],
        ],
      ],
    );
    assert.equal(byIsl.yLabel, "p99 of latency (ms)");
    const { sections } = modelOf(BOTH);
    assert.deepEqual(
      sections.map(({ id, charts }) => [id, charts.length]),
      [
        ["points", 3],
        ["by-parameter", 2],
      ],
    );
  });

  test("words: a bar for each, in the order in which they were asked for", () => {
    const points = ["undici", "own"].map((client, at) => makePoint([["client", client]], [[1, 100 + at, 2 + at]]));
    const bars = chartOf(points, "Throughput by client");
    assert.ok(bars.kind === "bars");
    assert.deepEqual(bars.categories, ["undici", "own"]);
    assert.deepEqual(
      bars.series.map(({ meaning, values }) => [meaning, values]),
      [["throughput", [100, 101]]],
    );
    const knee = chartOf(points, "Latency against throughput") as XyPlot;
    assert.deepEqual(
      knee.series.map(({ name, style, points: own }) => [name, style, own]),
      [
        ["client undici", "points", [[100, 2]]],
        ["client own", "points", [[101, 3]]],
      ],
    );
  });

  test("several levels: a curve along the load for each value", () => {
    const points = ["a", "b"].map((model, at) =>
      makePoint(
        [["model", model]],
        [
          [1, 100, 1 + at],
          [2, 150, 2 + at],
        ],
      ),
    );
    const knee = chartOf(points, "Latency against throughput") as XyPlot;
    assert.deepEqual(
      knee.series.map(({ name, points: own, labels }) => [name, own, labels]),
      [
        [
          "model a",
          [
            [100, 1],
            [150, 2],
          ],
          ["1", "2"],
        ],
        [
          "model b",
          [
            [100, 2],
            [150, 3],
          ],
          ["1", "2"],
        ],
      ],
    );
    const bars = chartOf(points, "Throughput by model");
    assert.ok(bars.kind === "bars");
    assert.deepEqual(
      bars.series.map(({ name, values }) => [name, values]),
      [
        ["load 1", [100, 100]],
        ["load 2", [150, 150]],
      ],
    );
  });

  test("more than ten lines are left out, and a note has their number", () => {
    const points = Array.from({ length: 24 }, (_, at) =>
      makePoint(
        [
          ["isl", String(at % 12)],
          ["users", String(1 + (at % 2))],
        ],
        [[1, 10 + at, 1]],
      ),
    );
    const { series, notes } = chartOf(points, "Latency against throughput") as XyPlot;
    assert.equal(series.length, 10);
    assert.ok(notes.includes("The first 10 of 12 combinations are drawn."), notes.join());
  });

  test("are on the page", async () => {
    const page = await formatPage(modelOf(BOTH));
    for (const title of ["Latency against throughput", "Throughput by isl", "Latency by users"])
      assert.ok(page.includes(title), title);
  });

  test("a single point has none, and neither do targets with loads of their own", () => {
    for (const model of [modelOf(BOTH.slice(0, 1)), modelOf(BOTH, { noun: "targets" })])
      assert.deepEqual(
        model.sections.flatMap(({ charts }) => charts),
        [],
      );
  });
});

test("the JSON of a sweep has the fields of its published schema and no other", () => {
  const missing = [{ values: [["users", "8"]], reason: "the server is gone" }] as const;
  const json: unknown = JSON.parse(JSON.stringify(toSweepJson({ points: BOTH, missing, asked: 7 })));
  const checked = checkFields(sweepSchema, json);
  assert.deepEqual(checked.missing, [{ values: { users: 8 }, reason: "the server is gone" }]);
  const last = buildSweepModel({ points: BOTH, missing, asked: 7 }).suites.at(-1);
  assert.match(last?.name ?? "", /: users 8$/);
  assert.deepEqual(
    last?.cases.map(({ state, message }) => [state, message]),
    [["unresolved", "the server is gone"]],
  );
  assert.deepEqual(checked.points[0]?.values, { isl: 64, users: 4 });
  assert.deepEqual(checked.verdict.reasons.at(-1), {
    ...{ state: "partial", code: "not-measured" },
    text: "users 8: the server is gone",
  });
  assert.equal(v.is(sweepSchema, { ...(json as object), version: 99 }), false);
  assert.equal(v.is(sweepSchema, { ...(json as object), surprise: 1 }), true);
});

test("notes of several points that differ in numbers only are one, and name the others", () => {
  const noted = ["1", "2", "4", "8"].map((users, place) => {
    const point = makePoint([["users", users]], [[Number(users), 100, 1]]);
    const note = (code: string, text: string): Note => ({ code, severity: "caution", levels: [], text });
    const busy = note(
      "client",
      `At ${users} users: the client waited for a core ${place + 5} % of the time. Lower the load.`,
    );
    const once = place === 3 ? [note("gap", "Nothing completed for 3 s.")] : [];
    return { ...point, json: { ...point.json, notes: [busy, note("same", "The same."), ...once] } };
  });
  const textsOf = (points: readonly SweptPoint[]): string[] => modelOf(points).notes.map(({ text }) => text);
  assert.deepEqual(textsOf(noted), [
    "users 1: at 1 users: the client waited for a core 5 % of the time. Lower the load. Likewise 3 more points.",
    "The same.",
    "users 8: nothing completed for 3 s.",
  ]);
  assert.match(textsOf(noted.slice(0, 2))[0] ?? "", / Likewise users 2\.$/);
});

test("the verdict of a point has the color of its meaning", () => {
  const points = (["passed", "unresolved", "failed"] as const).map((name) => {
    const point = makePoint([["users", "1"]], [[1, 100, 1]]);
    return { ...point, json: { ...point.json, verdict: { ...point.json.verdict, name } } };
  });
  const { columns = [], rows = [] } = modelOf(points).sections[0]?.tables[0] ?? {};
  const at = columns.findIndex(({ key }) => key === "verdict");
  assert.deepEqual(
    rows.map((row) => row[at]?.mark),
    [undefined, "unresolved", "failed"],
  );
});
