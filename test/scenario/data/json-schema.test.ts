// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to parameters are written so
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { readDescriptions } from "../../../src/cli/help/descriptions.ts";
import { inputFamily, loadFamily, parameterFamily, targetFamily } from "../../../src/scenario/data/families.ts";
import { scenarioJsonSchema } from "../../../src/scenario/data/json-schema.ts";

/** The published JSON Schema accepts scenarios that run, and refuses mistakes. */

const SCENARIOS = join(import.meta.dirname, "../../../scenarios");
const schema = scenarioJsonSchema(readDescriptions());
const isValid = new Ajv2020({ strict: false }).compile(schema as object);

interface Data {
  [key: string]: unknown;
}

const LEAST: Data = { target: "embedded", load: { hold: 1 } };

const RIGHT: readonly Data[] = [
  {},
  { $schema: "./scenario.schema.json" },
  { load: { ramp: { from: 1, to: "${users}", step: 2 } }, params: { users: { integer: 3 } } },
  { load: [{ warmup: { for: "1 s", load: { hold: 2 } } }, { soak: { load: 4, for: "1 h" } }] },
  { load: { rateSteps: [1, 2.5] } },
  { maxErrorRate: "1%", cancel: { share: "0.5 %" }, load: { hold: { concurrency: 1, for: "1m30s" } } },
  { maxErrorRate: 0 },
  { load: "mlperf.offline" },
  { load: { "mlperf.offline": null } },
  { load: { findMax: { range: { ramp: { from: 1, to: 9 } }, where: ["p99 < 3 ms"] } } },
  { target: { triton: { url: ["a:1", "b:1"], model: "m" } } },
  { target: { http: "a:1/x" }, inputs: { payloads: "a.jsonl" } },
  {
    target: {
      mix: [
        { name: "a", target: "embedded" },
        { name: "b", target: "embedded", inputs: "zero" },
      ],
    },
  },
  { assert: ["p99(latency) < 25 ms", "errorRate == 0", { "p99.5": "latency", below: "1 s", abortAfter: "1 s" }] },
  { params: { a: "flag", b: { choice: ["x", "y"] }, c: { duration: "5 s" }, d: { text: { secret: true } } } },
  { stallTimeout: "${limit}", client: "undici", tags: { a: 1 } },
];

const WRONG: readonly Data[] = [
  { nme: "x" },
  { name: 3 },
  { target: "triton" },
  { target: "embeded" },
  { target: { triton: { url: "a:1" } } },
  { target: { triton: { url: "a:1", model: "m", modle: 1 } } },
  { target: { triton: { url: "a:1", model: "m" }, embedded: {} } },
  { target: { http: { url: "a:1", request: "x" } } },
  { target: { mix: [{ name: "a", target: "embedded" }] } },
  { load: { ramp: { from: 1 } } },
  { load: { ramp: { from: -1, to: 2 } } },
  { load: { hold: "x" } },
  { load: { rate: [1, 2] } },
  { load: { hold: { concurrency: 1, for: 5 } } },
  { load: { hold: { concurrency: 1, for: "5" } } },
  { load: [] },
  { inputs: { json: [] } },
  { inputs: "json" },
  { assert: ["p99 latency"] },
  { assert: ["p100 < 3"] },
  { assert: [{ p99: "latency" }] },
  { assert: [{ p99: "latency", belw: "1 s" }] },
  { params: { a: { intger: 1 } } },
  { client: "fetch" },
  { setup: "x" },
  { maxErrorRate: 0.1 },
  { maxErrorRate: "1" },
  { cancel: { share: 5 } },
];

describe("the schema of scenarios", () => {
  test("accepts every example", () => {
    const examples = readdirSync(SCENARIOS).filter((name) => /\.(ya?ml|json)$/.test(name));
    assert.ok(examples.length >= 2);
    for (const name of examples) {
      const data: unknown = parse(readFileSync(join(SCENARIOS, name), "utf8"));
      assert.ok(isValid(data), `${name}: ${JSON.stringify(isValid.errors)}`);
    }
  });

  test("accepts what is right", () => {
    for (const change of RIGHT)
      assert.ok(isValid({ ...LEAST, ...change }), `${JSON.stringify(change)}: ${JSON.stringify(isValid.errors)}`);
  });

  test("refuses what is wrong", () => {
    for (const change of WRONG) assert.ok(!isValid({ ...LEAST, ...change }), JSON.stringify(change));
    for (const name of Object.keys(LEAST)) assert.ok(!isValid({ ...LEAST, [name]: undefined }), `without ${name}`);
  });

  test("refuses each example without a part that it needs, and with a field more", () => {
    const data = parse(readFileSync(join(SCENARIOS, "ramp.yaml"), "utf8")) as Data;
    for (const name of ["target", "load"]) {
      const { [name]: _, ...rest } = data;
      assert.ok(!isValid(rest), name);
    }
    for (const name of Object.keys(data)) assert.ok(!isValid({ ...data, [`${name}s`]: data[name] }), name);
  });

  test("describes each field and builder for editors", () => {
    const { properties, $defs } = schema as unknown as {
      properties: Record<string, { description?: string }>;
      $defs: Record<string, { anyOf: { properties?: Record<string, { description?: string }> }[] }>;
    };
    for (const [name, { description }] of Object.entries(properties))
      if (name !== "$schema") assert.ok(description, name);
    const families = {
      target: targetFamily(),
      load: loadFamily(),
      inputs: inputFamily(),
      parameter: parameterFamily(),
    };
    for (const [part, { entries }] of Object.entries(families))
      for (const name of entries.keys()) {
        const found = $defs[part]?.anyOf.map((one) => one.properties?.[name]?.description).filter(Boolean);
        assert.equal(found?.length, 1, `${part} ${name}`);
      }
  });
});
