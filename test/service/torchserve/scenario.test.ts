import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toFlags } from "../../../src/cli/perf-analyzer/to-flags.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import { goodput } from "../../../src/scenario/assertions.ts";
import { defineScenario, type ScenarioDefinition } from "../../../src/scenario/define.ts";
import { files, json, random } from "../../../src/scenario/inputs.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { openai } from "../../../src/scenario/targets/llm.ts";
import { torchserve } from "../../../src/scenario/targets/torchserve.ts";
import { triton } from "../../../src/scenario/targets/triton.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { refusalsIn } from "../../plan/refused.ts";

/** Scenarios of TorchServe and of files: their plans, their mistakes, and the flags that mean the same. */

const least = {
  name: "cats",
  target: torchserve("host", { model: "cats" }),
  load: hold(1),
  inputs: files("images/*.jpg"),
} as const;

function planOf(change: object = {}): Plan {
  return toPlan(defineScenario({ ...least, ...change } as unknown as ScenarioDefinition), "/folder");
}

const problemsOf = (change: object): string[] => refusalsIn(() => planOf(change));

describe("a scenario of TorchServe", () => {
  test("has the documented defaults", () => {
    const { target, inputs } = planOf();
    assert.deepEqual(target, {
      kind: "torchserve",
      url: "host",
      protocol: "http",
      model: "cats",
      modelVersion: "",
      body: { kind: "multipart", part: "data" },
      batchSize: 1,
      isStreaming: false,
      headers: [],
      tls: DEFAULT_TLS,
    });
    assert.deepEqual(inputs, { kind: "files", paths: ["/folder/images/*.jpg"], isInOrder: true });
  });

  test("takes every option", () => {
    const target = torchserve(["a:1", "b:2"], {
      model: "cats",
      version: "2.0",
      body: "raw",
      contentType: "image/jpeg",
      headers: { Authorization: "Bearer x" },
      managementUrl: "a:9",
      tls: true,
    });
    const plan = planOf({ target, inputs: files(["one.jpg", "/two.jpg"]) });
    assert.deepEqual(plan.target, {
      ...planOf().target,
      url: "a:1",
      moreUrls: ["b:2"],
      modelVersion: "2.0",
      body: { kind: "raw", contentType: "image/jpeg" },
      headers: [["Authorization", "Bearer x"]],
      managementUrl: "a:9",
      tls: { ...DEFAULT_TLS, isEnabled: true },
    });
    assert.deepEqual("paths" in plan.inputs && plan.inputs.paths, ["/folder/one.jpg", "/two.jpg"]);
  });

  const MISTAKES: readonly (readonly [name: string, change: object, problem: RegExp])[] = [
    ["no inputs", { inputs: undefined }, /^inputs: torchserve\(…\) takes files$/],
    ["tensors", { inputs: random() }, /^inputs: torchserve\(…\) takes payloads$/],
    ["JSON tensors", { inputs: json("a.json") }, /^inputs: torchserve\(…\) takes payloads$/],
    ["prompts", { inputs: prompts() }, /^inputs: torchserve\(…\) takes payloads$/],
    ["no files", { inputs: { kind: "files", files: [], options: {} } }, /^inputs\.files: must name a file$/],
    ["tokens", { assert: [goodput({ timeToFirstToken: "1 s" } as never)] }, /assert\.0/],
    [
      "an unknown body",
      { target: torchserve("h", { model: "m", body: "form" as never }) },
      /^target\.body: must be "multipart" or "raw"$/,
    ],
    [
      "a part of a raw body",
      { target: torchserve("h", { model: "m", body: "raw", part: "x" }) },
      /^target\.part: needs body: "multipart"$/,
    ],
    [
      "a type of a form",
      { target: torchserve("h", { model: "m", contentType: "text/plain" }) },
      /^target\.contentType: needs body: "raw"$/,
    ],
    ["an unknown option", { target: torchserve("h", { model: "m", batch: 2 } as never) }, /^target\.batch: /],
    [
      "a part of two lines",
      { target: torchserve("h", { model: "m", part: "a\nb" }) },
      /^target\.part: must be one line$/,
    ],
  ];
  for (const [name, change, problem] of MISTAKES)
    test(`is refused with ${name}`, () => {
      const found = problemsOf(change);
      assert.equal(found.length, 1, found.join("\n"));
      assert.match(found[0] ?? "", problem);
    });

  test("is the same by flags, but for what they cannot say", () => {
    const flagsOf = (target = least.target): ReturnType<typeof toFlags> => toFlags(planOf({ target }));
    const { args, notes } = flagsOf();
    assert.match(args.join(" "), /-m cats .*--service-kind torchserve .*--input-data files\.json .*-u host/);
    assert.match(notes.join("\n"), /"TORCHSERVE_INPUT"/);
    assert.equal(notes.length, 1);
    const raw = flagsOf(torchserve("h", { model: "cats", version: "2", body: "raw", managementUrl: "h:1" }));
    assert.match(raw.args.join(" "), /-x 2/);
    assert.match(raw.notes.join("\n"), /part 'data' of a form[\s\S]*management API/);
  });
});

test("files are inputs of no other target", () => {
  assert.match(problemsOf({ target: triton("h", { model: "m" }) }).join(), /^inputs: triton\(…\) takes tensors$/);
  const llm = openai("h", { model: "m", tokenizer: "none" });
  assert.match(problemsOf({ target: llm }).join(), /^inputs: .*input\.prompts\(…\)/);
});
