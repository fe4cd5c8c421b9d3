import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { toFlags } from "../../src/cli/perf-analyzer/to-flags.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import type { Answers } from "../../src/wizard/answers.ts";
import { formatScenario, toScenario } from "../../src/wizard/scenario-text.ts";
import { createFolder, runRampart } from "../cli/rampart-process.ts";
import { writeTypes } from "../scenario/write-types.ts";
import { typeCheck } from "../type-check.ts";

/** From answers to a scenario: the file that is written defines what `toScenario` says. */

const common = {
  goal: "curve",
  load: "users",
  users: "1:4",
  for: "2 s",
  "p99-limit": "none",
  save: "./x.ts",
  run: "no",
};
const triton = { ...common, target: "triton", protocol: "http", url: "localhost:8000", model: "m" };

const CASES: Readonly<Record<string, Answers>> = {
  embedded: { ...common, target: "embedded", protocol: "http", "p99-limit": "50 ms" },
  "embedded-grpc": {
    ...common,
    target: "embedded",
    protocol: "grpc",
    goal: "number",
    load: "rate",
    rate: "0.5",
    for: "250us",
  },
  triton,
  grpc: { ...triton, protocol: "grpc", url: "https://host:1/p", goal: "number", users: "16", for: "stable" },
  step: { ...triton, users: "1:50:7", for: ".5 min", "p99-limit": "007µs" },
  tiny: { ...triton, goal: "number", load: "rate", rate: "1e3", "p99-limit": "0.0000001s" },
  shapes: { ...triton, shapes: "IN:3,224 a-b:1 A:B:2" },
  openai: {
    ...common,
    target: "openai",
    url: "host:1",
    model: "org/m",
    tokenizer: "./tok",
    isl: "550",
    osl: "128",
    "p99-limit": "1 s",
  },
  inProcess: { ...common, target: "tritonInProcess", directory: "/triton", "model-repository": "/models", model: "m" },
  hub: {
    ...common,
    target: "openai",
    url: "https://host",
    model: "org/m",
    tokenizer: "org/m",
    isl: "20",
    osl: "10",
    goal: "number",
    load: "rate",
    rate: "5",
  },
  torchserve: { ...common, target: "torchserve", url: "localhost:8080", model: "resnet", files: "images/*.jpg" },
  http: { ...common, target: "http", url: "host:1", path: "/predict?v=2" },
  "http-url": { ...common, target: "http", url: "https://host/predict" },
  quotes: { ...triton, model: 'a"b\\c`$x', url: "host:1/'\"" },
};

describe("a scenario of the wizard", () => {
  test("reads as a person would write it", () => {
    assert.equal(
      formatScenario(CASES["embedded"] as Answers),
      [
        "#!/usr/bin/env -S rampart run",
        'import { defineScenario, embedded, errorRate, p99, ramp } from "rampart";',
        "",
        "/** How do throughput and latency of the embedded target change as load grows? */",
        "export default defineScenario({",
        '  name: "embedded",',
        "  target: embedded(),",
        "  // One row per level: where throughput stops growing, the server is at its limit.",
        '  load: ramp(1, 4, { for: "2 s" }),',
        '  assert: [p99("latency").below("50 ms"), errorRate().is(0)],',
        "});",
        "",
      ].join("\n"),
    );
  });

  test("sends prompts to a language model", () => {
    assert.equal(
      formatScenario(CASES["openai"] as Answers),
      [
        "#!/usr/bin/env -S rampart run",
        'import { defineScenario, errorRate, input, openai, p99, ramp } from "rampart";',
        "",
        "/** How do throughput and latency of org/m change as load grows? */",
        "export default defineScenario({",
        '  name: "org-m",',
        '  target: openai("host:1", { model: "org/m", streaming: true, tokenizer: "./tok" }),',
        "  // One row per level: where throughput stops growing, the server is at its limit.",
        '  load: ramp(1, 4, { for: "2 s" }),',
        "  inputs: input.prompts({ isl: 550, osl: 128 }),",
        '  assert: [p99("latency").below("1 s"), errorRate().is(0)],',
        "});",
        "",
      ].join("\n"),
    );
  });

  test("has no limit that nobody asked for", () => {
    const limit: Answers = { ...triton, goal: "limit", users: "16" };
    assert.match(formatScenario({ ...limit, "p99-limit": "30 ms" }), /where: \[p99\("latency"\)\.below\("30 ms"\)\]/);
    assert.match(formatScenario({ ...limit, "error-limit": "2%" }), /where: \[errorRate\(\)\.below\("2 %"\)\]/);
  });

  test("describes the requests to an HTTP server in the target's options", () => {
    const text = formatScenario(CASES["http"] as Answers);
    assert.match(text, /^ {2}target: http\("host:1", \{ path: "\/predict\?v=2" \}\),\n {2}\/\/ .*\n {2}load: /m);
    assert.match(text, /import \{ defineScenario, errorRate, http, ramp \}/);
    assert.doesNotMatch(text, /inputs/);
    assert.match(formatScenario(CASES["http-url"] as Answers), /target: http\("https:\/\/host\/predict"\),/);
  });

  for (const [name, answers] of Object.entries(CASES)) {
    test(`defines the plan of its answers (${name})`, async () => {
      using folder = createFolder({ "x.ts": formatScenario(answers) });
      const { code, out, err } = await runRampart(["run", "x.ts", "--dry-run"], { cwd: folder.path });
      assert.equal(code, 0, err);
      const { expectedTime: _, ...plan } = JSON.parse(out) as Plan & { readonly expectedTime?: object };
      assert.deepEqual(plan, toPlan(toScenario(answers), folder.path));
    });
  }

  test("has the types of the API", async () => {
    using folder = createFolder({});
    for (const [name, answers] of Object.entries(CASES))
      writeFileSync(join(folder.path, `${name}.ts`), formatScenario(answers));
    writeTypes(folder.path);
    assert.equal(typeCheck(folder.path), "");
  });

  test("is described by flags of the same address, protocol and model", () => {
    const { args } = toFlags(toPlan(toScenario(CASES["grpc"] as Answers), "/folder"));
    const flags = ["-m", "m", "--concurrency-range", "16", "-u", "https://host:1/p", "-i", "grpc"];
    assert.deepEqual(args, flags);
  });
});
