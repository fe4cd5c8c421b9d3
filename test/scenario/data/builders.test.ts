import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { stringify } from "yaml";
import * as api from "../../../src/index.ts";
import {
  type Family,
  inputFamily,
  loadFamily,
  parameterFamily,
  targetFamily,
} from "../../../src/scenario/data/families.ts";
import { loadDataScenario } from "../../../src/scenario/data/load-data.ts";
import { defineScenario, type Scenario } from "../../../src/scenario/define.ts";
import { abOf } from "../../../src/scenario/definition/ab.ts";
import { partNamesOf } from "../../../src/scenario/definition/per-target.ts";
import { codeNameOf, type DataForm } from "../../../src/scenario/form.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { readExamples, toModule } from "../../guides/doc-examples.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";

/** Scenarios in YAML and JSON are the same as in TypeScript: for each builder, and for whole scenarios. */

/** What a scenario without code does not have. */
const CODE = /=>|\bfunction\b|defineTarget|\bawait\b|\bparams\b/;
const SCENARIOS = join(import.meta.dirname, "../../../scenarios");
/** The source's API, because another test of this process may have given `"rampart"` another meaning. */
const INDEX = new URL("../../../src/index.ts", import.meta.url).href;

const folder = makeFolder();

const {
  ab,
  perTarget,
  ramp,
  grpc,
  embedded,
  embeddedLlm,
  errorRate,
  fileBody,
  input,
  findMax,
  fixedSchedule,
  goodput,
  hold,
  http,
  intervals,
  trace,
  mix,
  multipart,
  mlperf,
  p99,
  periodic,
  phase,
  rate,
  rateRamp,
  rateSteps,
  sessionRate,
  sessions,
  soak,
  spike,
  steps,
  throughput,
  triton,
  warmup,
} = api;

/** A field in YAML, and the same in TypeScript. */
type Pair = readonly [yaml: string, value: unknown];

/** What the examples of builders, which {@link exampleOf} reads, do not show. */
const LOADS: readonly Pair[] = [
  [
    "{ perTarget: { chat: { hold: 4 }, b: { rate: { perSec: 50, for: 1 s } } } }",
    perTarget({ chat: hold(4), b: rate(50, { for: "1 s" }) }),
  ],
  ["{ ramp: { from: 1, to: 8 } }", ramp(1, 8)],
  ["{ ramp: { from: 1, to: 8, step: 7, for: 2 s } }", ramp(1, 8, { step: 7, for: "2 s" })],
  ["{ ramp: { from: 8, to: 1, over: 2 min } }", ramp(8, 1, { over: "2 min" })],
  ["{ hold: 16 }", hold(16)],
  ["{ hold: { concurrency: 16, rampUp: 10 s, requests: 5 } }", hold(16, { rampUp: "10 s", requests: 5 })],
  ["{ steps: [1, 2, 4] }", steps([1, 2, 4])],
  ["{ steps: { levels: [1, 2], for: 1 s } }", steps([1, 2], { for: "1 s" })],
  ["{ rate: 100 }", rate(100)],
  ["{ rateSteps: [100, 200.5] }", rateSteps([100, 200.5])],
  [
    "{ rate: { perSec: 50, distribution: gamma, smoothness: 0.5, seed: 3 } }",
    rate(50, { distribution: "gamma", smoothness: 0.5, seed: 3 }),
  ],
  ["{ rateRamp: { from: 0, to: 500, over: 2 min } }", rateRamp(0, 500, { over: "2 min" })],
  ["{ rateRamp: { from: 0, to: 100 } }", rateRamp(0, 100)],
  ["{ rateRamp: { from: 10, to: 500, step: 50, for: 1m30s } }", rateRamp(10, 500, { step: 50, for: "1m30s" })],
  ["{ intervals: gaps.txt }", intervals("gaps.txt")],
  ["{ intervals: { file: gaps.txt, for: 1 s } }", intervals("gaps.txt", { for: "1 s" })],
  ["fixedSchedule", fixedSchedule()],
  ["{ trace: t.jsonl }", trace("t.jsonl")],
  ["{ trace: { file: t.jsonl, speed: 2 } }", trace("t.jsonl", { speed: 2 })],
  ["{ fixedSchedule: { from: 1 s, to: 2 s, speed: 2 } }", fixedSchedule({ from: "1 s", to: "2 s", speed: 2 })],
  ["{ periodic: { from: 4, to: 16, step: 4, responses: 3 } }", periodic(4, 16, { step: 4, responses: 3 })],
  ["{ sessions: 4 }", sessions(4)],
  ["{ sessions: { concurrency: 4, for: 2 s } }", sessions(4, { for: "2 s" })],
  ["{ sessionRate: { perSec: 4, distribution: poisson } }", sessionRate(4, { distribution: "poisson" })],
  [
    "{ hold: { concurrency: 4, thinkTime: { mean: 2 s, stddev: 1 s } } }",
    hold(4, { thinkTime: { mean: "2 s", stddev: "1 s" } }),
  ],
  ["mlperf.singleStream", mlperf.singleStream()],
  ["{ mlperf.multiStream: { samplesPerQuery: 4 } }", mlperf.multiStream({ samplesPerQuery: 4 })],
  ["{ mlperf.server: { perSec: 20, latency: 15 ms } }", mlperf.server(20, { latency: "15 ms" })],
  ["{ mlperf.offline: { samples: 9 } }", mlperf.offline({ samples: 9 })],
  [
    "[{ warmup: { for: 1 s, load: { hold: 4 } } }, { phase: { name: a, load: { hold: { concurrency: 2, for: 1 s } } } }]",
    [warmup("1 s", hold(4)), phase("a", hold(2, { for: "1 s" }))],
  ],
  ["[{ warmup: { requests: 9, load: { rate: 4 } } }, { rate: 9 }]", [warmup({ requests: 9 }, rate(4)), rate(9)]],
  ["{ soak: { load: 4, for: 1 h, maxDrift: 5 % } }", soak(4, { for: "1 h", maxDrift: "5 %" })],
  [
    "{ spike: { base: 4, peak: { rate: 9 }, at: 1 s, for: 2 s } }",
    spike({ base: 4 as never, peak: rate(9), at: "1 s", for: "2 s" }),
  ],
  [
    "{ findMax: { range: { ramp: { from: 1, to: 64 } }, where: [p99(latency) < 25 ms, errorRate < 1 %], window: 2 s } }",
    findMax({
      range: ramp(1, 64),
      where: [p99("latency").below("25 ms"), errorRate().below("1 %")],
      window: "2 s",
    }),
  ],
  ["{ findMax: { where: p99 < 25 ms } }", findMax({ where: p99("latency").below("25 ms") })],
  [
    "{ findMax: { range: { rateRamp: { from: 1, to: 64, seed: 1 } }, where: [throughput > 1] } }",
    findMax({ range: rateRamp(1, 64, { seed: 1 }), where: [throughput().above(1)] }),
  ],
];

const TARGETS: readonly Pair[] = [
  [
    '{ triton: { url: "h:1", model: m, protocol: grpc, parameters: { max_tokens: 4 } } }',
    triton("h:1", { model: "m", protocol: "grpc", parameters: { max_tokens: 4 } }),
  ],
  ['{ triton: { url: ["h:1", "h:2"], model: m } }', triton(["h:1", "h:2"], { model: "m" })],
  ['{ http: "h:1/x" }', http("h:1/x")],
  [
    '{ http: { url: "h:1", body: { $multipart: { a: b, image: { $file: cat.jpg } } } } }',
    http("h:1", { body: multipart({ a: "b", image: fileBody("cat.jpg") }) }),
  ],
  [
    '{ http: { url: "h:1", body: { text: hi }, success: { status: [200, 404] } } }',
    http("h:1", { body: { text: "hi" }, success: { status: [200, 404] } }),
  ],
  ['{ grpc: { url: "h:1", method: a.B/C, message: { a: 1 } } }', grpc("h:1", { method: "a.B/C", message: { a: 1 } })],
  ['{ grpc: { url: "h:1", method: a.B/C, file: x.json } }', grpc("h:1", { method: "a.B/C", file: "x.json" })],
  ["embedded", embedded()],
  ["{ embedded: { latency: 2 ms, protocol: grpc } }", embedded({ latency: "2 ms", protocol: "grpc" })],
  [
    "{ mix: [{ name: a, target: embedded, weight: 9, tags: { x: y } }, { name: b, target: { embedded: { latency: 1 ms } }, inputs: zero }] }",
    mix([
      { name: "a", target: embedded(), weight: 9, tags: { x: "y" } },
      { name: "b", target: embedded({ latency: "1 ms" }), inputs: input.zero() },
    ]),
  ],
  [
    "{ ab: { base: embedded, candidate: { embedded: { latency: 1 ms } } } }",
    ab(embedded(), embedded({ latency: "1 ms" })),
  ],
  [
    '{ ab: { base: { triton: { url: "h:1", model: m } }, candidate: { triton: { url: ["i:1", "j:1"], model: m } }, pairs: 3, names: [old, new], precision: 2 %, strict: true } }',
    ab(triton("h:1", { model: "m" }), triton(["i:1", "j:1"], { model: "m" }), {
      pairs: 3,
      names: ["old", "new"],
      precision: "2 %",
      strict: true,
    }),
  ],
];

const INPUTS: readonly Pair[] = [
  ["random", input.random()],
  ["{ chain: [{ path: /a }] }", input.chain([{ path: "/a" }])],
  [
    "{ chain: { count: 2, users: [{ n: 1 }], calls: [{ path: '/{{n}}', extract: { t: a.b, c: { cookie: sid } }, once: true }] } }",
    input.chain([{ path: "/{{n}}", extract: { t: "a.b", c: { cookie: "sid" } }, once: true }], {
      count: 2,
      users: [{ n: 1 }],
    }),
  ],
  ["{ zero: { stringLength: 4 } }", input.zero({ stringLength: 4 })],
  ["{ json: a.json }", input.json("a.json")],
  ["{ json: [a.json, b.json] }", input.json("a.json", "b.json")],
  ['{ files: "*.jpg" }', input.files("*.jpg")],
  ["{ dir: images }", input.dir("images")],
  ["{ prompts: { isl: { mean: 9, stddev: 1 }, osl: 4 } }", input.prompts({ isl: { mean: 9, stddev: 1 }, osl: 4 })],
  ["{ payloads: a.jsonl }", input.payloads("a.jsonl")],
];

const PARAMETERS: readonly Pair[] = [
  ["{ a: integer }", { a: api.param.integer() }],
  ["{ a: { integer: 16 } }", { a: api.param.integer(16) }],
  [
    "{ a: { integer: { default: 16, min: 1, description: Users. } } }",
    { a: api.param.integer(16, { min: 1, description: "Users." }) },
  ],
  ["{ a: { number: { max: 3 } } }", { a: api.param.number({ max: 3 }) }],
  ["{ a: { text: { default: x, secret: true } } }", { a: api.param.text("x", { secret: true }) }],
  ["{ a: { percent: 5 % } }", { a: api.param.percent("5 %") }],
  ["{ a: { duration: 5 s } }", { a: api.param.duration("5 s") }],
  ["{ a: { choice: [x, y] } }", { a: api.param.choice(["x", "y"]) }],
  ["{ a: { choice: { values: [x, y], description: Z } } }", { a: api.param.choice(["x", "y"], { description: "Z" }) }],
  ["{ a: flag }", { a: api.param.flag() }],
  ["{ a: { flag: true } }", { a: api.param.flag(true) }],
];

/** What a builder made, as plain data. The pacing of a load is only a type. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item: unknown) => (key === "pacing" ? undefined : item)));
}

/** Reads a scenario without the check of whole plans. */
function readText(text: string, name = "x.yaml"): Scenario {
  const path = writeIn(folder, name, text);
  return loadDataScenario(path, name).scenario;
}

function readField(field: string, yaml: string): unknown {
  const rest = { name: "x", target: "embedded", load: "{ hold: 1 }" };
  const fields = Object.entries({ ...rest, [field]: yaml }).map(([name, value]) => `${name}: ${value}`);
  return (readText(fields.join("\n")).definition as Record<string, unknown>)[field];
}

describe("each builder makes the same from YAML as from TypeScript", () => {
  const tables: readonly (readonly [field: string, pairs: readonly Pair[], families: readonly Family[]])[] = [
    ["load", LOADS, [loadFamily()]],
    ["target", TARGETS, [targetFamily()]],
    ["inputs", INPUTS, [inputFamily()]],
    ["params", PARAMETERS, [parameterFamily()]],
  ];
  for (const [field, pairs, families] of tables)
    test(`in ${field}, and none is left out`, async () => {
      for (const [yaml, value] of pairs) assert.deepEqual(plain(readField(field, yaml)), plain(value), yaml);
      for (const form of families.flatMap(({ entries }) => Array.from(entries.values(), ({ form }) => form))) {
        if (!pairs.some(([yaml]) => new RegExp(`(?<![\\w.])${form.name}\\b`).test(yaml))) {
          const example = await exampleOf(form);
          assert.deepEqual(plain(readField(field, JSON.stringify(toData(example)))), plain(example), form.name);
        }
        const [first = "", member] = codeNameOf(form).split(".");
        const found = (api as Readonly<Record<string, unknown>>)[first];
        const made = member === undefined ? found : (found as Readonly<Record<string, unknown>>)[member];
        assert.equal(typeof made, "function", `${codeNameOf(form)} is no function of "rampart"`);
      }
    });
});

/** Returns what the example in the doc comment of a builder makes. */
async function exampleOf(form: DataForm): Promise<unknown> {
  const call = `${codeNameOf(form)}(`;
  const example = readExamples().find(({ text }) => text.startsWith(call) && !CODE.test(text));
  assert.ok(example, `${call}…) has no example that is plain data, and no pair in this file`);
  const file = writeIn(folder, `${form.name}.ts`, toModule(example, INDEX, Object.keys(api)));
  return ((await import(pathToFileURL(file).href)) as { value: unknown }).value;
}

/** Returns what builders made as data: the inverse of what is tested. */
function toData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toData);
  if (typeof value !== "object" || value === null) return value;
  if ("metric" in value) return assertionToData(value as never);
  if ("kind" in value && "options" in value) return callToData(value as never);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toData(item)]));
}

interface Made {
  readonly kind: string;
  readonly url?: string;
  readonly moreUrls?: readonly string[];
  readonly values?: readonly unknown[];
  readonly files?: readonly string[];
  readonly options: object;
}

function callToData({ kind, url, moreUrls = [], values, files: paths, options }: Made): unknown {
  const entries = [targetFamily(), loadFamily(), inputFamily()].flatMap((family) => [...family.entries]);
  const [name, { form }] = entries.find(
    ([, { make }]) => (make([], {}) as { kind: string }).kind === kind,
  ) as never as [string, (typeof entries)[number][1]];
  const given = values ?? paths ?? (url === "" ? [] : [url, ...moreUrls]);
  if (form.takes === "by-name") return { [name]: toData(options) };
  const args = (form.args ?? []).map((arg, index) => [arg, toData(form.takes === undefined ? given[index] : given)]);
  return { [name]: { ...Object.fromEntries(args), ...(toData(options) as object) } };
}

const COMPARISONS: Readonly<Record<string, string>> = { "at-most": "atMost", "at-least": "atLeast" };

function assertionToData({ metric, comparison, limit, where }: Record<string, unknown>): object {
  const { key, statistic, limits } = metric as { key: string; statistic?: string | number; limits?: object };
  const name = statistic === undefined ? key : typeof statistic === "number" ? `p${statistic}` : statistic;
  const tags = where === undefined ? {} : { where };
  return {
    [name]: statistic === undefined ? (limits ?? null) : key,
    [COMPARISONS[comparison as string] ?? (comparison as string)]: limit,
    ...tags,
  };
}

/** Imports a scenario with the source's API. */
async function importExample(name: string): Promise<Scenario> {
  const folder = makeFolder();
  const file = join(folder, name);
  writeFileSync(file, readFileSync(join(SCENARIOS, name), "utf8").replace('"rampart"', JSON.stringify(INDEX)));
  return ((await import(file)) as { default: Scenario }).default;
}

describe("whole scenarios have the same plan from YAML and JSON as from TypeScript", () => {
  const examples = readdirSync(SCENARIOS).filter(
    (name) => name.endsWith(".ts") && !CODE.test(readFileSync(join(SCENARIOS, name), "utf8")),
  );
  test("there are examples that need no code", () => assert.ok(examples.length >= 3, examples.join()));
  for (const name of examples)
    test(`scenarios/${name}`, async () => {
      check(await importExample(name), SCENARIOS);
    });

  test("with all fields that are plain data", () => {
    const scenario = defineScenario({
      name: "all",
      target: triton("h:1", { model: "m" }),
      load: rateSteps([10, 20], { distribution: "poisson" }),
      inputs: input.random({ stringLength: 3 }),
      assert: [p99("scheduledLatency").where({ length: "long" }).atMost("5 ms"), errorRate().is(0)],
      tags: { team: "search", shard: 3, isNew: true, length: "long" },
      warmupRequests: 3,
      warmupFor: "1 s",
      stability: { window: "1 s", within: "5 %", trials: 4, percentile: 95 },
      sequences: { length: 3, ids: [1, 9], serial: true },
      metrics: { url: "h:8002/metrics", every: "2 s" },
      maxErrorRate: "50 %",
      cancel: { share: "1 %", after: "60 ms" },
      client: "undici",
      stallTimeout: "5 s",
      timeout: "9 s",
      maxResponseBytes: 1000,
      derive: { perReq: { value: "latency.mean", unit: "s", better: "lower" } },
    });
    check(scenario as unknown as Scenario, "/base");
  });

  test("with two targets in turn, of each of them", () => {
    const made = defineScenario({
      name: "turns",
      target: ab(triton("h:1", { model: "m" }), embedded({ latency: "1 ms" }), { pairs: 2 }),
      load: hold(4, { for: "1 s" }),
      assert: [errorRate().is(0)],
    });
    const read = readText(
      [
        "name: turns",
        "target:",
        "  ab:",
        '    base: { triton: { url: "h:1", model: m } }',
        "    candidate: { embedded: { latency: 1 ms } }",
        "    pairs: 2",
        "load: { hold: { concurrency: 4, for: 1 s } }",
        "assert: [errorRate == 0]",
      ].join("\n"),
    );
    for (const side of [0, 1] as const)
      assert.deepEqual(toPlan(read, "/base", { side }), toPlan(made as unknown as Scenario, "/base", { side }));
    assert.deepEqual(abOf(read.definition), { pairs: 2 });
  });

  test("with a load of its own for each target, of each of them", () => {
    const made = defineScenario({
      name: "own loads",
      target: mix([
        { name: "a", target: embedded() },
        { name: "b", target: embedded({ protocol: "grpc" }), inputs: input.zero() },
      ]),
      load: perTarget({ a: hold(4, { for: "1 s" }), b: rate(50, { for: "1 s" }) }),
      assert: [errorRate().is(0)],
    });
    const read = readText(
      [
        "name: own loads",
        "target: { mix: [{ name: a, target: embedded }, { name: b, target: { embedded: { protocol: grpc } }, inputs: zero }] }",
        "load:",
        "  perTarget:",
        "    a: { hold: { concurrency: 4, for: 1 s } }",
        "    b: { rate: { perSec: 50, for: 1 s } }",
        "assert: [errorRate == 0]",
      ].join("\n"),
    );
    assert.deepEqual(partNamesOf(read.definition), ["a", "b"]);
    for (const part of [0, 1])
      assert.deepEqual(toPlan(read, "/base", { part }), toPlan(made as unknown as Scenario, "/base", { part }));
  });

  test("with goodput and assertions that abort", () => {
    const limits = { timeToFirstToken: "200 ms", outputTokensPerSecPerUser: 20 } as const;
    const yaml = [
      "name: x",
      "target: { embeddedLlm: { streaming: true } }",
      "load: { hold: 2 }",
      "inputs: { payloads: a.jsonl }",
      "assert:",
      "  - goodput(timeToFirstToken <= 200 ms, outputTokensPerSecPerUser >= 20) >= 10",
      "  - p99 < 1 s abortAfter 10 s",
    ].join("\n");
    const scenario = defineScenario({
      name: "x",
      target: embeddedLlm({ streaming: true }),
      load: hold(2),
      inputs: input.payloads("a.jsonl"),
      assert: [goodput(limits).atLeast(10), p99().below("1 s").abortAfter("10 s")],
    });
    assert.deepEqual(toPlan(readText(yaml), "/"), toPlan(scenario as unknown as Scenario, "/"));
  });
});

/** Compares the plan of a scenario with that of the same as YAML and as JSON. @param base of relative paths */
function check(scenario: Scenario, base: string): void {
  const data = toData(plain(scenario.definition));
  const plan = toPlan(scenario, base);
  assert.deepEqual(toPlan(readText(stringify(data)), base), plan);
  assert.deepEqual(toPlan(readText(JSON.stringify(data), "x.json"), base), plan);
}
