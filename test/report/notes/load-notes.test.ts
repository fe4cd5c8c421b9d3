import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import type { InputsPlan, OutputsPlan } from "../../../src/plan/plan.ts";
import { describeLoadNotes, describeRepeats, findLoad } from "../../../src/report/notes/load-notes.ts";
import { makeWindow, type WindowParts } from "../../measure/make-window.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeDataset } from "../../run/send/fake-client.ts";
import { makeLevel, makePrepared } from "../make-result.ts";

/** What a reader must know of a load. */

test("gaps without a completion are named with their times, the first three of them", () => {
  const gap = (second: number) => ({ startNs: second * 1e9, endNs: (second + 2) * 1e9, typicalNs: 1.5e6 });
  const noteOf = (...seconds: number[]) =>
    describeLoadNotes(makePlan(), makeLevel({ window: makeWindow({ gaps: seconds.map(gap) }) }))[0];
  assert.equal(noteOf(3), "nothing completed from 3.0 s to 5.0 s (2.0 s) of the run; a typical gap is 1.5 ms");
  assert.equal(
    noteOf(3, 8, 20, 30),
    "nothing completed from 3.0 s to 5.0 s (2.0 s), from 8.0 s to 10.0 s (2.0 s), from 20.0 s to 22.0 s (2.0 s) and 1 time more of the run; a typical gap is 1.5 ms",
  );
  assert.ok(!(noteOf() ?? "").includes("nothing completed"));
});

test("repeated prompts are noted, but no other repetition", () => {
  const payloads: InputsPlan = { kind: "payloads", file: "inputs.json" };
  const json: InputsPlan = { kind: "json", files: ["inputs.json"] };
  const random: InputsPlan = { kind: "random", stringLength: 1, stringData: "" };
  const cases: readonly (readonly [InputsPlan, OutputsPlan["style"], number, number, string | undefined])[] = [
    [payloads, "rampart", 5, 12_416, "12,416 requests were made from 5 prompts"],
    [payloads, "genai-perf", 1, 2, "2 requests were made from 1 prompt:"],
    [payloads, "rampart", 5, 5, undefined],
    [payloads, "rampart", 5, 4, undefined],
    [json, "genai-perf", 5, 6, "6 requests were made from 5 prompts"],
    [json, "rampart", 5, 6, undefined],
    [random, "rampart", 1, 500, undefined],
  ];
  for (const [inputs, style, promptCount, sentCount, start] of cases) {
    const plan = makePlan({ inputs, outputs: { style } });
    const note = describeRepeats({ prepared: makePrepared(plan, { dataset: makeDataset(promptCount) }), sentCount });
    assert.equal(note?.startsWith(start ?? "?") ?? false, start !== undefined, note);
  }
});

const list = { kind: "list", values: [8] } as const;
const rate: LoadPlan = {
  ...{ kind: "request-rate", levels: list, search: "linear", distribution: "constant", seed: 0 },
};
const hold: LoadPlan = { kind: "concurrency", levels: list, search: "linear" };
const responses = (count: number, latencyNs: number): Pick<WindowParts, "latenciesNs" | "inFlightSumNs"> => ({
  latenciesNs: new Array<number>(count).fill(latencyNs),
  inFlightSumNs: count * latencyNs,
});

const STARTS: readonly (readonly [
  name: string,
  load: LoadPlan,
  unit: "concurrency" | "request-rate",
  parts: WindowParts,
  note: RegExp | undefined,
])[] = [
  [
    "a number of scheduled requests that waits for its last responses",
    ...([rate, "request-rate"] as const),
    { ...responses(100, 0.5e9), durationNs: 1.5e9, sendingNs: 1e9 },
    /^throughput includes the wait of 500 ms for the last responses; without it, it is 100 requests\/s/,
  ],
  [
    "one whose responses come at once",
    ...([rate, "request-rate"] as const),
    { ...responses(100, 1e6), durationNs: 1.001e9, sendingNs: 1e9 },
    undefined,
  ],
  [
    "a schedule that begins with nothing in flight",
    ...([rate, "request-rate"] as const),
    { ...responses(80, 0.2e9), sentCount: 100, openAfterCount: 20, inFlightSumNs: 18e9 },
    /^the load began with nothing in flight, so throughput is up to 20 % too low\. Warm up first/,
  ],
  [
    "a schedule that continues",
    ...([rate, "request-rate"] as const),
    { ...responses(100, 0.2e9), openBeforeCount: 20, openAfterCount: 20 },
    undefined,
  ],
  [
    "few rounds of a loop",
    ...([hold, "concurrency"] as const),
    { ...responses(32, 0.25e9), openBeforeCount: 8, openAfterCount: 8 },
    /^the level is short: throughput is known to 25 %\. Measure 3 times as long/,
  ],
  [
    "enough rounds of a loop",
    ...([hold, "concurrency"] as const),
    { ...responses(80, 0.1e9), openBeforeCount: 8, openAfterCount: 8 },
    undefined,
  ],
];
for (const [name, load, unit, parts, note] of STARTS)
  test(`the start and the length of a level are noted where they bias throughput: ${name}`, () => {
    const level = makeLevel({ unit, level: 8, window: makeWindow(parts) });
    const notes = describeLoadNotes(makePlan({ load }), level);
    if (note === undefined) assert.deepEqual(notes, []);
    else assert.match(notes.join("\n"), note);
    for (const { texts, metric } of findLoad(makePlan({ load }), level))
      if (note !== undefined && texts.some((text) => note.test(text))) assert.equal(metric, "throughput");
    const compatible = describeLoadNotes(makePlan({ load, behaviour: { measuresFromNothing: true } }), level);
    const partial = describeLoadNotes(makePlan({ load }), { ...level, outcome: "partial" });
    for (const other of [compatible, partial]) assert.ok(other.every((text) => !notes.includes(text)));
  });
