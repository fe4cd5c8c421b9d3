import assert from "node:assert/strict";
import { test } from "node:test";
import { combineAxes, type PointOutcome, runSweep, type SweepTask } from "../../src/campaign/sweep.ts";
import { createLadder } from "../../src/load/search.ts";
import type { MeasuredPoint, PointParameters } from "../../src/result/sweep.ts";

/** Sweeps and searches of runs that take no time: parameters have names of no front door. */

const WIDTHS = { name: "width", values: [1, 2, 4] };
const DEPTHS = { name: "depth", values: [5, 6] };

interface Point extends MeasuredPoint {
  readonly latencyMs: number;
}

/** The point took as many milliseconds as the product of its parameters. */
function measured(parameters: PointParameters, failureReason?: string): PointOutcome<Point> {
  const latencyMs = parameters.reduce((product, [, value]) => product * value, 1);
  const name = parameters.map(([, value]) => value).join("x");
  return { kind: "measured", point: { name, parameters, latencyMs }, failureReason, isClientLimited: false };
}

interface Ran {
  readonly ran: Awaited<ReturnType<typeof runSweep<Point>>>;
  readonly tried: string[];
  /** Number of points at each change. */
  readonly changes: number[];
  readonly notes: string;
}

async function run(
  axes: SweepTask<Point>["axes"],
  measure: (name: string, parameters: PointParameters) => PointOutcome<Point>,
  search?: SweepTask<Point>["search"],
): Promise<Ran> {
  const tried: string[] = [];
  const changes: number[] = [];
  const notes: string[] = [];
  const ran = await runSweep({
    axes,
    search,
    measure: async (parameters, _repeat, isFirst) => {
      assert.equal(isFirst, tried.length === 0);
      tried.push(parameters.map(([, value]) => value).join("x"));
      return measure(tried.at(-1) as string, parameters);
    },
    onChange: ({ points }) => changes.push(points.length),
    note: (text) => notes.push(text),
  });
  return { ran, tried, changes, notes: notes.join("\n") };
}

test("axes are combined, the last changing fastest; none is one point", () => {
  assert.deepEqual(
    combineAxes([DEPTHS, { name: "width", values: [1, 2] }]),
    [5, 6].flatMap((depth) =>
      [1, 2].map((width) => [
        ["depth", depth],
        ["width", width],
      ]),
    ),
  );
  assert.deepEqual(combineAxes([]), [[]]);
});

test("a failed point or a failureReason fails the sweep, which continues; the files are written after each point", async () => {
  const { ran, tried, changes, notes } = await run([WIDTHS], (name, parameters) =>
    name === "2" ? { kind: "failed", parameters, reason: "no server" } : measured(parameters),
  );
  assert.deepEqual([ran.isPassed, tried, changes], [false, ["1", "2", "4"], [1, 1, 2, 2]]);
  assert.deepEqual(
    ran.sweep.failed.map(({ reason }) => reason),
    ["no server"],
  );
  assert.match(notes, /^point 2 of 3: width 2\nwidth 2 failed: no server$/m);
  assert.equal((await run([WIDTHS], (_name, parameters) => measured(parameters))).ran.isPassed, true);
  assert.equal((await run([WIDTHS], (_name, parameters) => measured(parameters, "unstable"))).ran.isPassed, false);
});

test("an interrupted point ends the sweep and is in no summary", async () => {
  const { ran, tried } = await run([WIDTHS], (name, parameters) =>
    name === "2" ? { kind: "interrupted" } : measured(parameters),
  );
  assert.deepEqual([ran.isPassed, tried, ran.sweep.points.length, ran.sweep.failed], [false, ["1", "2"], 1, []]);
});

test("a search gives one answer for each combination of the other parameters", async () => {
  const search = {
    parameter: "width",
    ladder: createLadder({ kind: "list", values: WIDTHS.values }, true),
    limits: ["latency <= 10 ms"],
    findBroken: ({ latencyMs }: Point) => (latencyMs <= 10 ? [] : [`latency <= 10 ms: ${latencyMs}`]),
  };
  const { ran, tried, notes } = await run([WIDTHS, DEPTHS], (_name, parameters) => measured(parameters), search);
  const answers = ran.sweep.search?.answers.map(({ fixed, highest, lowestBroken }) => [fixed, highest, lowestBroken]);
  assert.deepEqual(answers, [
    [[["depth", 5]], 2, 4],
    [[["depth", 6]], 1, 2],
  ]);
  // The searched value stays at the place of its axis.
  assert.ok(ran.isPassed && tried[0] === "1x5");
  assert.match(notes, /^width 2, depth 6 breaks latency <= 10 ms: 12$/m);
  assert.deepEqual(ran.sweep.brokenLimits.get("1x6"), []);
  const unstable = await run([WIDTHS], (_name, parameters) => measured(parameters, "unstable"), search);
  assert.equal(unstable.ran.isPassed, false);
  assert.match(unstable.notes, /^width 1 fails: unstable$/m);
});
