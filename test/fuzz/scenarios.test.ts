import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import * as api from "../../src/index.ts";
import { UserError } from "../../src/plan/problem.ts";
import { defineScenario, type ScenarioDefinition } from "../../src/scenario/define.ts";
import { toLaterError, toLoadError } from "../../src/scenario/scenario-error.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { createFolder, runRampart } from "../cli/rampart-process.ts";
import { LIMIT } from "../time-limit.ts";
import { fewerRuns } from "./bounds.ts";

/** Scenarios of untyped callers: a plan or problems with their places, whatever stands where. */

const { embedded, embeddedLlm, hold, openai, p99, periodic, input, ramp, rate, sessions, steps, triton } = api;

const circular: { self?: unknown } = {};
circular.self = circular;
let deep: unknown = 1;
for (let i = 0; i < 100_000; i++) deep = [deep];
const throwing = {
  get kind(): never {
    throw new Error("the user's own words");
  },
};
const trap = (): never => {
  throw new Error("trapped");
};
const hostile = new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap });

const ODD: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  5n,
  Symbol("s"),
  "",
  "x",
  "5 s",
  () => 1,
  class {},
  [],
  {},
  [null],
  circular,
  deep,
  throwing,
  hostile,
  new Date(Number.NaN),
  new Map(),
  Promise.resolve(1),
  { kind: "__proto__" },
  { kind: "constructor" },
  { kind: "triton" },
  { kind: "openai" },
  { kind: "ramp" },
  { kind: ["triton"] },
  [triton("h", { model: "m" })],
  { metric: null },
  { metric: { key: "goodput" } },
  { metric: { key: Symbol("x"), statistic: "mean" } },
  { metric: { key: hostile, statistic: "mean" }, comparison: hostile, limit: circular },
];

const least = { name: "n", target: embedded(), load: hold(1, { requests: 10 }) };
const BASES: readonly object[] = [
  least,
  {
    name: "n",
    target: triton("localhost:1", { model: "m", shapes: { A: [1] }, headers: { a: "b" }, composingModels: ["a"] }),
    load: ramp(1, 4, { for: "1 s" }),
    assert: [p99().below("5 ms"), api.errorRate().is(0)],
    stability: { window: "5 s", within: "1 %", trials: 3, percentile: 99 },
    metrics: { url: "h:1/m", every: "1 s" },
    cancel: { share: "5 %", after: "1 s", seed: 1 },
    sequences: { length: 5 },
    inputs: api.input.json("a.json"),
  },
  {
    name: "n",
    target: openai("localhost:1", { model: "m", tokenizer: "none", streaming: true }),
    load: rate(5, { requests: 5 }),
    inputs: input.prompts({ isl: 5, osl: 5 }),
    assert: [api.goodput({ timeToFirstToken: "5 ms" }).above(1)],
  },
  { name: "n", target: embeddedLlm(), load: sessions(1), inputs: input.prompts({ sessions: { count: 2, turns: 3 } }) },
  { name: "n", target: embedded(), load: periodic(1, 5, { step: 1, period: 5, requests: 10 } as never) },
  { name: "n", target: embedded(), load: steps([1, 2]), inputs: api.input.zero() },
];

type Path = readonly (string | number)[];

function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) yield* pathsOf(item, [...path, key]);
}

function replaceIn(value: unknown, [key, ...rest]: Path, odd: unknown): unknown {
  if (key === undefined) return odd;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = replaceIn(copy[key], rest, odd);
  return copy;
}

const INTERNAL = /TypeError|RangeError|\[object Object\]|Invalid (key|type)|received undefined/;

/** The problems' text of a definition; empty when it makes a plan. */
function problemsOf(definition: unknown): string {
  try {
    JSON.stringify(toPlan(defineScenario(definition as ScenarioDefinition), "/folder"));
    return "";
  } catch (error) {
    assert.ok(error instanceof UserError, String(error instanceof Error ? error.stack : error));
    assert.doesNotMatch(error.message, INTERNAL);
    assert.ok(error.message.length > 10);
    return error.message;
  }
}

/** Each was an internal error once. */
const NAMED: readonly (readonly [name: string, definition: unknown, said: RegExp])[] = [
  ["a target without anything", { ...least, target: {} }, /^target(\.kind)?: must be triton/],
  ["a list of targets", { ...least, target: [embedded()] }, /^target.*: must be triton/],
  [
    "a target without options",
    { ...least, target: { kind: "triton", url: "h" } },
    /^target: was not made by one of rampart's/,
  ],
  ["a name that contains itself", { ...least, name: circular }, /^name\.self: contains itself/],
  ["an option nested 100,000 deep", { ...least, cancel: deep }, /^cancel\.0\.0: is nested deeper than 100 levels/],
  ["a getter that throws", { ...least, load: throwing }, /^load: reading it throws: the user's own words/],
  ["a proxy that throws", hostile, /^the scenario: reading it throws: trapped/],
  [
    "a million assertions",
    { ...least, assert: Array.from({ length: 1_000_000 }, () => p99().below("5 ms")) },
    /^assert: has 1000000 items, more than 10000/,
  ],
  [
    "a million wrong levels",
    { ...least, load: steps(new Array(1_000_000).fill("x")) },
    /^load\.values: has 1000000 items/,
  ],
];

describe("fuzz: definitions of scenarios", () => {
  for (const [name, definition, said] of NAMED) test(name, () => assert.match(problemsOf(definition), said));

  test("anything anywhere makes a plan or problems", LIMIT, () => {
    // By number: what fails could not be printed.
    const odd = fc.oneof(
      fc.nat({ max: ODD.length - 1 }).map((index) => ({ index })),
      fc.anything().map((value) => ({ value })),
    );
    const change = fc
      .nat({ max: BASES.length - 1 })
      .chain((base) => fc.tuple(fc.constant(base), fc.constantFrom(...pathsOf(BASES[base])), odd));
    fc.assert(
      fc.property(change, ([base, path, chosen]) => {
        problemsOf(replaceIn(BASES[base], path, "index" in chosen ? ODD[chosen.index] : chosen.value));
      }),
      fewerRuns(2),
    );
  });
});

describe("a scenario whose code throws", () => {
  const SCENARIO =
    'import { defineScenario, embedded, hold } from "rampart";\nexport default defineScenario({ name: "x", target: embedded({ latency: "20 ms" }), load: hold(1, { requests: 100 }) });\n';

  /** Exit code 64 and one line. */
  const refused: readonly (readonly [name: string, text: string, said: RegExp])[] = [
    [
      "in a function, behind types",
      'interface A {\n  readonly b: number;\n}\nfunction f(_: A): never {\n  throw new Error("my own words");\n}\nf({ b: 1 });\n',
      /^rampart: x\.ts:5:\d+: does not load: my own words\. /,
    ],
    [
      "behind an enum",
      "enum E {\n  A,\n}\nconst made: unknown = E.A;\nthrow new Error('my own ' + made);\n",
      /^rampart: x\.ts:5:\d+: does not load: my own 0\. /,
    ],
    [
      "what cannot be read",
      'throw { toString() { throw new Error("inner"); } };\n',
      /^rampart: x\.ts: does not load: /,
    ],
    [
      "in a promise that nobody waits for",
      `${SCENARIO}void Promise.reject(new Error("rejected later"));\n`,
      /^rampart: x\.ts:3:\d+: throws while it runs: rejected later\. /m,
    ],
    [
      "in a timer",
      `${SCENARIO}setTimeout(() => {\n  throw new Error("thrown later");\n}, 300);\n`,
      /^rampart: x\.ts:4:\d+: throws while it runs: thrown later\. /m,
    ],
  ];
  for (const [name, text, said] of refused) {
    test(name, LIMIT, async () => {
      using folder = createFolder({ "x.ts": text });
      const { code, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
      assert.equal(code, 64, err);
      assert.match(err, said);
      assert.doesNotMatch(err, /internal error|^\s+at /m);
    });
  }

  test("a circle of imports names the file that came too early", LIMIT, async () => {
    const files = {
      "x.ts": `import { a } from "./other.ts";\nexport const b = 1;\nexport default a;\n`,
      "other.ts": 'import { b } from "./x.ts";\nexport const a = b + 1;\n',
    };
    using folder = createFolder(files);
    const { code, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.equal(code, 64, err);
    assert.match(err, /^rampart: other\.ts:2:\d+: does not load: Cannot access 'b' before initialization\. /);
  });

  test("an error of Rampart's own is not taken for the scenario's", () => {
    const error = new Error("own");
    assert.equal(toLaterError(error, "x.ts", "/elsewhere/x.ts"), undefined);
    assert.equal(toLoadError(error, "x.ts", "/elsewhere/x.ts").problems[0]?.path, "x.ts");
  });
});
