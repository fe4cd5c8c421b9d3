import assert from "node:assert/strict";
import { test } from "node:test";
import { mistakesOf } from "./mistakes-of.ts";

/** Mistakes in YAML as users make them. Each is one error, with its line, its field, and the text to write. */

const FIELDS = {
  name: "name: x",
  params: "# no parameters",
  target: 'target: { triton: { url: "h:1", model: m } }',
  load: "load: { hold: 2 }",
  inputs: "inputs: random",
  assert: "assert: [p99 < 1 s]",
};

const CASES: readonly (readonly [line: string, place: string, hint: string])[] = [
  ["load: { hold: { users: 2, for: 1 s } }", "4:17, load.hold.users", "Write concurrency: 2."],
  ["load: { steps: { users: 2 } }", "4:18, load.steps.users", "Write levels: 2."],
  ["load: { rate: { rps: 50 } }", "4:17, load.rate.rps", "Write perSec: 50."],
  ["load: { hold: { concurrency: 2, duration: 30s } }", "4:33, load.hold.duration", "Write for: 30 s in the load."],
  ["load: { hold: { concurrency: 2, time: 30s } }", "4:33, load.hold.time", "Write for: 30 s in the load."],
  ["load: { hold: { concurrency: 2, for: 30 } }", "4:38, load.hold.for", 'Add the unit: "30 s" or "30 ms".'],
  ["load: hold 16", "4:7, load", "Write { hold: 16 }."],
  ["load: hold(16)", "4:7, load", "Write { hold: 16 }."],
  ["load: hold:16", "4:7, load", "Write { hold: 16 }."],
  ['load: "ramp(1, 50)"', "4:7, load", "Write { ramp: { from: 1, to: 50 } }."],
  ["load: steps(1, 2, 4)", "4:7, load", "Write { steps: [1, 2, 4] }."],
  ["load: { ramp: 1..8 }", "4:15, load.ramp", "Write { ramp: { from: 1, to: 8 } }."],
  ["load: { ramp: 1 to 8 }", "4:15, load.ramp", "Write { ramp: { from: 1, to: 8 } }."],
  ["load: { ramp: [1, 8] }", "4:9, load.ramp", "Write { ramp: { from: 1, to: 8 } }."],
  ["load: { ramp: 1:64:4 }", "4:15, load.ramp.to", "Write to: 8."],
  ["load: { rateRamp: 10-100 }", "4:19, load.rateRamp", "Write { rateRamp: { from: 10, to: 100 } }."],
  [
    "load: { findMax: { where: p99 < 1 s, atMost: 64 } }",
    "4:38, load.findMax.atMost",
    "Write range: { ramp: { from: 1, to: 64 } } for the highest load, or forAtMost: 30 s for the longest measurement of each load.",
  ],
  ["load: { steps: 1,2,4 }", "4:1, load", "Write { steps: [1, 2, 4] }."],
  [
    "load: { hold: 2, rate: 10 }",
    "4:1, load",
    "Write them as phases, one after the other: [{ hold: 2 }, { rate: 10 }].",
  ],
  ["load: [{ warmup: 1 s }, { hold: 2 }]", "4:18, load[0].warmup", "Write warmup: { for: 1 s, load: { hold: 4 } }."],
  [
    "load: { findMax: { range: [1, 64], where: p99 < 1 s } }",
    "4:20, load.findMax.range",
    "Write { ramp: { from: 1, to: 64 } }.",
  ],
  [
    "target: h:1",
    "3:9, target",
    'Write { triton: { url: "h:1", model: NAME } }, { openai: { url: "h:1", model: NAME } } or { http: "h:1" }.',
  ],
  ["inputs: data.json", "5:9, inputs", "Write { json: data.json }."],
  ["inputs: p.jsonl", "5:9, inputs", "Write { prompts: { file: p.jsonl } }."],
  ["inputs: { prompts: { isl: 9 } }", "5:1, inputs", "Use random, zero or json, or an openai target."],
  ["params: { users: 4 }", "2:18, params.users", "Write { integer: 4 }."],
  ["params: { users: true }", "2:18, params.users", "Write { flag: true }."],
  ["params: { users: { int: 4 } }", "2:20, params.users.int", "Write integer."],
  ["assert: [errorRate = 0]", "6:10, assert[0]", "Write errorRate == 0."],
  ["assert: [errorRate === 0]", "6:10, assert[0]", "Write errorRate == 0."],
  ["assert: [p99 =< 1 s]", "6:10, assert[0]", "Write p99 <= 1 s."],
  ["assert: [errorRate < %1]", "6:10, assert[0]", 'Write "1 %".'],
  ["assert: [p99: 1 s]", "6:10, assert[0]", "Write p99(latency) < 1 s."],
  ["name: load: test", "1:7", 'Put the text in quotes: name: "load: test".'],
  ['name: "x', "1:9", "Add the closing quote."],
  ["load: { hold: { concurrency: 2 }", "5:1", "Add the missing } above."],
  ["load: *l", "4", 'Write &l before the value that it stands for, or "*l" for a text.'],
  ["load: { hold: 2 }\nload: { hold: 4 }", "5:1, load", "Leave one of the two out."],
  ["assert: []\n---\nname: y", "7:1", "Write each scenario into a file of its own: --- begins another document."],
];

test("a mistake is one error, with the text to write", () => {
  for (const [line, place, hint] of CASES) {
    const [key = ""] = line.split(":", 1);
    const text = Object.entries({ ...FIELDS, [key]: line }).map(([, one]) => one);
    const [said = "", ...more] = mistakesOf(text.join("\n"));
    assert.ok(said.startsWith(`x.yaml:${place}: `) && said.endsWith(` ${hint}`), `${line}: ${said}`);
    assert.deepEqual(more, [], line);
  }
});
