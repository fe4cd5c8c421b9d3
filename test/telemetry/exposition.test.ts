import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Exposition } from "../../src/telemetry/exposition.ts";

/** Prometheus' text format, line by line. */

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

function readAll(text: string): Sample[] {
  const samples: Sample[] = [];
  new Exposition().read(text, ({ name, labels }, value) => samples.push({ name, labels, value }));
  return samples;
}

/** A line, and the sample it is: name, labels, value; undefined when it is none. */
const lines: readonly (readonly [
  line: string,
  sample: readonly [string, Record<string, string>, number] | undefined,
])[] = [
  ["up 1", ["up", {}, 1]],
  ["up 1 1395066363000", ["up", {}, 1]],
  ['a{gpu_uuid="GPU-1"} 0.5', ["a", { gpu_uuid: "GPU-1" }, 0.5]],
  ['a{x="1",y="2"} 1.7179869184e+10', ["a", { x: "1", y: "2" }, 17179869184]],
  ['a { x = "1" , y = "2" , } 3', ["a", { x: "1", y: "2" }, 3]],
  ["a{} 3", ["a", {}, 3]],
  ['a{path="C:\\\\DIR",text="say \\"hi\\"\\n}"} -.5', ["a", { path: "C:\\DIR", text: 'say "hi"\n}' }, -0.5]],
  ["a +Inf", ["a", {}, Number.POSITIVE_INFINITY]],
  ["a -Inf", ["a", {}, Number.NEGATIVE_INFINITY]],
  ["a NaN", ["a", {}, Number.NaN]],
  ["ns:sub_total\t7  ", ["ns:sub_total", {}, 7]],
  ["# HELP a 1", undefined],
  ["", undefined],
  ["a", undefined],
  ["a b", undefined],
  ["a 1x", undefined],
  ["a 0x10", undefined],
  ["1a 1", undefined],
  ['a{x="1" 1', undefined],
  ["a{x=1} 1", undefined],
  ["a} 1", undefined],
];

describe("a line of metrics", () => {
  for (const [line, sample] of lines) {
    test(JSON.stringify(line), () => {
      const parsed = readAll(line).map(({ name, labels, value }) => [name, Object.fromEntries(labels), value]);
      assert.deepEqual(parsed, sample === undefined ? [] : [sample]);
    });
  }
});

test("lines may end in either way, the last one in none", () => {
  const text = 'a 1\r\n# TYPE b gauge\nb{x="1"} 2\n\nb{x="2"} 3\nb_total 4';
  assert.deepEqual(
    readAll(text).map(({ name, value }) => [name, value]),
    [
      ["a", 1],
      ["b", 2],
      ["b", 3],
      ["b_total", 4],
    ],
  );
});

test("no text makes it throw or hang", () => {
  let state = 1;
  const next = (below: number): number => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
  const pieces = ['"', "\\", "{", "}", ",", "=", "a", "1", "e", "+", " ", "\n", "\t", "#", "nv_gpu", "\u0000", "é"];
  for (let run = 0; run < 2000; run++) {
    let text = "";
    for (let i = next(60); i > 0; i--) text += pieces[next(pieces.length)];
    for (const { name } of readAll(text)) assert.match(name, /^[a-zA-Z_:][\w:]*$/);
  }
  const before = process.cpuUsage();
  readAll(`a{x="${"\\".repeat(100_000)}`);
  readAll(`a{${'x="1",'.repeat(20_000)}`);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 2e6, `${user + system} us of CPU`);
});
