import assert from "node:assert/strict";
import { test } from "node:test";
import type { InputsPlan, OutputsPlan } from "../../src/plan/plan.ts";
import { describeRepeats } from "../../src/report/load-notes.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeDataset } from "../run/send/fake-client.ts";
import { makePrepared } from "./make-result.ts";

/** What a reader must know of a load. */

test("repeated prompts are noted, but no other repetition", () => {
  const payloads: InputsPlan = { kind: "payloads", file: "inputs.json" };
  const json: InputsPlan = { kind: "json", files: ["inputs.json"] };
  const random: InputsPlan = { kind: "random", stringLength: 1, stringData: "" };
  const cases: readonly (readonly [InputsPlan, OutputsPlan["style"], number, number, string | undefined])[] = [
    [payloads, "rampart", 5, 500, "500 requests were made from 5 prompts"],
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
