import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { problem } from "../../../src/plan/problem.ts";
import { placeInCode } from "../../../src/scenario/definition/code-places.ts";

/** Where a field stands in the code of a scenario. */

const path = join(tmpdir(), `rampart-places-${process.pid}.ts`);
after(() => rmSync(path, { force: true }));

function placeOf(code: string, field: string): string {
  writeFileSync(path, code);
  const found = problem("invalid-value", field, "is wrong", "Correct it.");
  return String(placeInCode(found, path, "x.ts", { surplus: 1 }).path);
}

const SCENARIO = `import { defineScenario, embedded, errorRate, hold, mix, p99 } from "rampart";

// defineScenario({ name: "in a comment", load: 1 })
const text = \`load: \${"assert: ["}\`;
const limits = [errorRate().is(0), p99("latency").below(50)];
export default defineScenario({
  "name": "a name with load: and assert: [",
  /* load: */ load: ({ users }) => [hold(users, { for: "1 s" }), hold(2, { for: 5 })],
  target: mix([
    { name: "a", target: embedded() },
    { name: "b", target: embedded({ latency: 5, pattern: /load: [(]/ }) },
  ]),
  assert: limits,
  surplus: text,
  stability: { window: 5, ...{ within: 3 } },
  tags,
});
`;

const CASES: readonly (readonly [field: string, place: string])[] = [
  ["name", "x.ts:7:4, name"],
  ["load", "x.ts:8:15, load"],
  ["load.0", "x.ts:8:37, load[0]"],
  ["load.1.for", "x.ts:8:76, load[1].for"],
  ["load.1.concurrency", "x.ts:8:66, load[1].concurrency"],
  ["target.1.target.latency", "x.ts:11:37, target[1].target.latency"],
  ["assert.1", "x.ts:5:36, assert[1]"],
  ["surplus", "x.ts:14:3, surplus"],
  ["stability.within", "x.ts:15:32, stability.within"],
  ["tags.length", "x.ts:16:3, tags.length"],
  ["tags (tags) #1, input 0", "x.ts:16:3, tags, input 0"],
  ["target.1.target.body (make it) #2, request 3", "x.ts:11:18, target[1].target.body, request 3"],
  ["target, generate(…), input 0", "x.ts:9:3, target, generate(…), input 0"],
  ["tags #1", "x.ts:16:3, tags"],
  ["inputs", "x.ts:6:16, inputs"],
  ["thresholds", "thresholds"],
  ["x.ts", "x.ts"],
];

describe("a field of a scenario has the line and the column of", () => {
  for (const [field, place] of CASES) test(field, () => assert.equal(placeOf(SCENARIO, field), place));

  test("the call, where another file has it", () => {
    const code = 'import { base } from "./base.ts";\n\nexport default defineScenario({ ...base.definition });\n';
    assert.equal(placeOf(code, "load.for"), "x.ts:3:16, load.for");
  });

  test("nothing, where the call is somewhere else, or brackets do not close", () => {
    assert.equal(placeOf('export { default } from "./other.ts";', "load.for"), "x.ts, load.for");
    assert.equal(placeOf("defineScenario(", "load.for"), "x.ts:1:1, load.for");
  });
});
