import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { embedded, embeddedLlm, hold, http, input, openai, torchserve, trace } from "../../src/index.ts";
import { withoutCalls } from "../../src/plan/functions.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { holdInputs, loadInputs } from "../../src/registry/input-kinds.ts";
import { pack, unpack } from "../../src/run/fleet/bus/pack.ts";
import type { Scenario } from "../../src/scenario/define.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import type { ModelInfo } from "../../src/service/service.ts";
import { makeFolder } from "../make-folder.ts";
import { TINY } from "../tokenize/tiny.ts";

const folder = makeFolder();

const MODEL = {
  ...{ name: "m", version: "1", maxBatchSize: 0, outputs: [] },
  inputs: [{ name: "IN", datatype: "INT32", shape: [2], isOptional: false, isShapeTensor: false }],
} as ModelInfo;

/** The plan of a scenario that untyped code may have written. */
function planOf(fields: object): Plan {
  return toPlan({ definition: { name: "made", load: hold(1, { requests: 3 }), ...fields } } as Scenario, folder);
}

async function stepsOf(fields: object) {
  const { streams } = await loadInputs(planOf(fields), MODEL);
  return streams.flat();
}

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const llm = embeddedLlm({ streaming: true, tokenizer: TINY });

describe("generate", () => {
  test("makes tensors from a generator, bounded by the number of requests", async () => {
    const inputs = input.generate(function* ({ tensors }) {
      for (let n = 0; ; n++) yield { tensors: { [tensors[0]?.name ?? ""]: [n, n] }, tags: { n } };
    });
    const steps = await stepsOf({ target: embedded(), inputs });
    assert.deepEqual(
      steps.map(({ inputs: made, tags }) => [[...(made.get("IN")?.bytes ?? [])], tags]),
      [0, 1, 2].map((n) => [[n, 0, 0, 0, n, 0, 0, 0], { n: String(n) }]),
    );
  });

  test("takes typed arrays, raw bytes and shapes", async () => {
    const elements = [
      new Int32Array([1, 2]),
      new Uint8Array([1, 0, 0, 0, 2, 0, 0, 0]),
      { content: [1, 2], shape: [2] },
    ];
    const inputs = input.generate(({ index }) => ({ tensors: { IN: elements[index] as Int32Array } }));
    for (const { inputs: made } of await stepsOf({ target: embedded(), inputs }))
      assert.deepEqual([...(made.get("IN")?.bytes ?? [])], [1, 0, 0, 0, 2, 0, 0, 0]);
  });

  test("makes bodies, asynchronously too, with the same random numbers in every run", async () => {
    const make = (seed: number) =>
      input.generate(async ({ index, random }) => ({ body: { index, random: random() } }), { count: 2, seed });
    const bodies = async (seed: number) =>
      (await stepsOf({ target: http("localhost:1"), inputs: make(seed) })).map(({ payload }) => textOf(payload));
    const first = await bodies(1);
    assert.equal(first.length, 2);
    assert.deepEqual(await bodies(1), first);
    assert.notDeepEqual(await bodies(2), first);
  });

  test("is called once for all senders, which get what it made as plain data", async () => {
    const elements = [[1, 2], { content: [3, 4], shape: [2] }, new Int32Array([5, 6])];
    const made = [
      {
        target: embedded(),
        inputs: input.generate(({ index }) => ({ tensors: { IN: elements[index] as Int32Array } })),
      },
      {
        target: http("localhost:1"),
        inputs: input.generate(({ index }) => ({ body: { index }, tags: { parity: index % 2 } })),
      },
    ];
    for (const fields of made) {
      const plan = planOf(fields);
      const data = await loadInputs(plan, MODEL);
      const held = holdInputs(plan, data);
      assert.ok(held !== undefined);
      // As it comes to a sender: its plan has the name of the function only.
      const { isFromJson, hasTags, streams } = await loadInputs(
        withoutCalls(plan),
        MODEL,
        unpack(pack(held)) as typeof held,
      );
      assert.deepEqual([isFromJson, hasTags, streams], [data.isFromJson, data.hasTags, data.streams]);
    }
  });

  test("writes a prompt as the endpoint of a language model takes it", async () => {
    const inputs = input.generate(() => ({ prompt: "Hi", osl: 4 }), { count: 1 });
    const [step] = await stepsOf({ target: llm, inputs });
    const body = JSON.parse(textOf(step?.payload)) as { messages: { content: string }[]; stream: boolean };
    assert.equal(body.messages[0]?.content, "Hi");
    assert.equal(body.stream, true);
    assert.match(textOf(step?.payload), /"max(_completion)?_tokens":4/);
  });

  test("makes files", async () => {
    const inputs = input.generate(() => ({ file: Uint8Array.of(1, 2) }), { count: 1 });
    const [step] = await stepsOf({ target: torchserve("localhost:1", { model: "m" }), inputs });
    assert.deepEqual([...(step?.payload ?? [])], [1, 2]);
  });

  const wrong: readonly { name: string; target?: unknown; make: unknown; message: RegExp }[] = [
    {
      name: "an error",
      make: () => {
        throw new Error("boom");
      },
      message: /input 0: throws: boom \(generate\.test\.ts:\d+\)/,
    },
    { name: "nothing", make: function* () {}, message: /makes no input/ },
    { name: "no tensors", make: () => ({ body: {} }), message: /input 0: has no tensors/ },
    { name: "other tensors", make: () => ({ tensors: { OTHER: [1] } }), message: /'OTHER' is not found/ },
    {
      name: "tags that are none",
      make: () => ({ tensors: { IN: [1, 2] }, tags: 5 }),
      message: /input 0: has tags that are not /,
    },
    { name: "no body", target: http("localhost:1"), make: () => ({}), message: /has no body and no file/ },
    {
      name: "a number of tokens with the names of others",
      target: llm,
      make: () => ({ prompt: "a", maxTokens: 4, max_tokens: 4 }),
      message:
        /input 0: has fields that do not belong to prompt \(got maxTokens, max_tokens\)\. The fields are prompt, osl, tags; osl is the most/,
    },
    {
      name: "no number of tokens",
      target: llm,
      make: () => ({ prompt: "a", osl: "4" }),
      message: /input 0\.osl: must be a whole number, 1 or more \(got "4"\)/,
    },
    {
      name: "a body and a prompt",
      target: llm,
      make: () => ({ prompt: "a", body: {} }),
      message: /has a field that does not belong to body \(got prompt\)\. The fields are body, tags\./,
    },
    {
      name: "a misspelt field beside tensors",
      make: () => ({ tensors: { IN: [1, 2] }, tag: { a: 1 } }),
      message: /has a field that does not belong to tensors \(got tag\)\. The fields are tensors, tags\./,
    },
    {
      name: "a misspelt field of a tensor",
      make: () => ({ tensors: { IN: { content: [1, 2], shap: [2] } } }),
      message:
        /input 0, IN: has a field that does not belong to content \(got shap\)\. The fields are content, shape\./,
    },
    {
      name: "a name beside a file",
      target: torchserve("localhost:1", { model: "m" }),
      make: () => ({ file: Uint8Array.of(1), name: "x" }),
      message: /has a field that does not belong to file \(got name\)/,
    },
    { name: "no prompt", target: llm, make: () => ({}), message: /has no body and no prompt/ },
  ];
  for (const { name, target = embedded(), make, message } of wrong)
    test(`refuses ${name}`, () =>
      assert.rejects(stepsOf({ target, inputs: input.generate(make as () => { body: object }) }), message));
});

describe("dir", () => {
  test("is a file for each tensor, the files of payloads, or each file, as the target takes them", async () => {
    writeFileSync(join(folder, "IN"), Uint8Array.of(7, 0, 0, 0, 8, 0, 0, 0));
    assert.deepEqual(
      [...((await stepsOf({ target: embedded(), inputs: input.dir(".") }))[0]?.inputs.get("IN")?.bytes ?? [])].filter(
        Boolean,
      ),
      [7, 8],
    );
    rmSync(join(folder, "IN"));
    writeFileSync(join(folder, "b.jsonl"), '{"n": 2}\n{"n": 3}\n');
    writeFileSync(join(folder, "a.json"), '{"data": [{"payload": [{"n": 1}]}]}');
    for (const target of [http("localhost:1"), openai("localhost:1", { model: "m", tokenizer: "none" })])
      assert.deepEqual(
        (await stepsOf({ target, inputs: input.dir(".") })).map(({ payload }) => textOf(payload)),
        ['{"n":1}', '{"n":2}', '{"n":3}'],
      );
    const files = await stepsOf({ target: torchserve("localhost:1", { model: "m" }), inputs: input.dir(".") });
    assert.equal(files.length, 2);
  });

  test("that has no payloads is an error", () =>
    assert.rejects(stepsOf({ target: http("localhost:1"), inputs: input.dir("nowhere") }), /nowhere.*cannot be read/));
});

describe("trace", () => {
  const write = (...lines: readonly object[]): void =>
    writeFileSync(join(folder, "t.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));

  test("is the schedule and the inputs, in the order of the times", async () => {
    write(
      { timestamp: 40, input_length: 5, output_length: 3 },
      { timestamp: 0, input_length: 8, output_length: 2, hash_ids: [1] },
    );
    const plan = planOf({ target: llm, load: trace("t.jsonl", { speed: 2 }) });
    assert.equal(plan.load.kind, "fixed-schedule");
    const steps = await stepsOf({ target: llm, load: trace("t.jsonl") });
    assert.deepEqual(
      steps.map(({ timestampMs }) => timestampMs),
      [0, 40],
    );
    assert.match(textOf(steps[0]?.payload), /"max(_completion)?_tokens":2/);
  });

  test("needs a time in every line, a language model, and no other inputs", async () => {
    write({ input_length: 5, output_length: 3 });
    await assert.rejects(stepsOf({ target: llm, load: trace("t.jsonl") }), /has no timestamp/);
    assert.throws(() => planOf({ target: embedded(), load: trace("t.jsonl") }), /takes tensors/);
    assert.throws(
      () => planOf({ target: llm, load: trace("t.jsonl"), inputs: input.generate(() => ({ prompt: "x" })) }),
      /inputs: the trace of the load has its requests/,
    );
  });
});
