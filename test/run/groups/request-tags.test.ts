import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DataStep, Dataset } from "../../../src/inputs/dataset.ts";
import type { TaggedInput, TagInput } from "../../../src/inputs/tagged-input.ts";
import { type PlannedFunction, toFunctionPlan } from "../../../src/plan/functions.ts";
import type { Tags } from "../../../src/plan/groups/tags.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { groupRequests } from "../../../src/run/groups/request-tags.ts";
import type { Session } from "../../../src/run/open/session.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { makeDataset, makeService } from "../send/fake-client.ts";

const TOKENS = { responses: "chat", isStreamed: true, tokenizer: TINY, revision: "main" } as const;

function sessionOf(dataset: Dataset): Session {
  return { service: makeService(), dataset, warnings: [], shared: undefined, counters: async () => undefined };
}

function payloadsOf(texts: readonly string[], tags: readonly (Tags | undefined)[] = []): Dataset {
  const encoder = new TextEncoder();
  const steps = texts.map((content, index): DataStep => {
    const payload = encoder.encode(JSON.stringify({ messages: [{ role: "user", content }] }));
    const own = tags[index];
    return { payload, inputs: new Map(), expected: new Map(), ...(own === undefined ? {} : { tags: own }) };
  });
  return { streams: [steps], isFromJson: true, hasTags: tags.length > 0, warnings: [] };
}

function held(tagInput: TagInput) {
  return { of: toFunctionPlan("tags", tagInput as unknown as PlannedFunction) };
}

async function tagsOf(dataset: Dataset, change: PlanChange): Promise<Tags[]> {
  const groups = await groupRequests(makePlan(change), sessionOf(dataset));
  return [...groups.ofStep.keys()].map((step) => groups.tagsOf(step));
}

test("a function is called once per input, and gets what the input is made of", async () => {
  const seen: (readonly [number, unknown, number, string])[] = [];
  const tagInput = (input: TaggedInput) => {
    seen.push([input.index, input.body, input.bodyBytes, input.target]);
    return { even: input.index % 2 === 0, size: input.bodyBytes };
  };
  const found = await tagsOf(payloadsOf(["a", "b"]), { tags: held(tagInput) });
  const body = (content: string) => ({ messages: [{ role: "user", content }] });
  assert.deepEqual(seen, [
    [0, body("a"), 44, ""],
    [1, body("b"), 44, ""],
  ]);
  assert.deepEqual(found, [
    { even: "true", size: "44" },
    { even: "false", size: "44" },
  ]);
});

test("tensors are there by name", async () => {
  const tagInput = ({ tensors, body }: TaggedInput) => ({
    first: tensors["IN"]?.bytes[0] ?? "none",
    body: body === undefined,
  });
  assert.deepEqual(await tagsOf(makeDataset(2), { tags: held(tagInput) }), [
    { first: "0", body: "true" },
    { first: "1", body: "true" },
  ]);
});

test("the tokens of a text are counted when they are asked for", async () => {
  const change = { tags: held(({ isl }) => ({ isl })), measurement: { tokens: TOKENS } };
  const [short, long] = await tagsOf(payloadsOf(["the", "the the the the the"]), change);
  const [few, many] = [Number(short?.["isl"]), Number(long?.["isl"])];
  assert.ok(few >= 1 && many >= few + 4, `${few}, ${many}`);
});

test("fixed tags yield to those of the data, and these to a function's", async () => {
  const dataset = payloadsOf(["a", "b"], [{ kind: "data", data: "yes" }, undefined]);
  const tags = {
    fixed: { kind: "fixed", fixed: "yes" },
    ...held(({ tags: own }) => (own["kind"] ? { kind: `${own["kind"]} and more` } : {})),
  };
  assert.deepEqual(await tagsOf(dataset, { tags }), [
    { kind: "data and more", fixed: "yes", data: "yes" },
    { kind: "fixed", fixed: "yes" },
  ]);
});

describe("what is wrong with tags is an error before the load", () => {
  const cases: readonly (readonly [string, PlanChange, RegExp])[] = [
    [
      "a function that throws",
      {
        tags: held(() => {
          throw new Error("no such field");
        }),
      },
      /input 0: throws: no such field/,
    ],
    ["a result that is no object", { tags: held(() => "long" as never) }, /input 0: must return texts.*got "long"/],
    ["a promise", { tags: held((async () => ({})) as never) }, /must return texts/],
    ["a list", { tags: held(() => ({ a: ["b"] }) as never) }, /must return texts/],
    ["the name of targets", { tags: held(() => ({ target: "a" })) }, /which is not "target" or "phase"/],
    ["tokens without a tokenizer", { tags: held(({ isl }) => ({ isl })) }, /isl needs the target's tokenizer/],
    [
      "tokens with the tokenizer none",
      { tags: held(({ isl }) => ({ isl })), measurement: { tokens: { ...TOKENS, tokenizer: "none" } } },
      /isl needs the target's tokenizer/,
    ],
    [
      "an assertion on tags that no request has",
      {
        tags: held(({ index }) => ({ n: index })),
        assertions: [{ metric: { key: "throughput" }, comparison: "above", limit: 1, where: { n: "7" } }],
      },
      /assert\.0: .*\(got n is 7\)/,
    ],
  ];
  for (const [name, change, message] of cases)
    test(name, async () => {
      await assert.rejects(groupRequests(makePlan(change), sessionOf(payloadsOf(["a", "b"]))), (error) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, message);
        return true;
      });
    });
});
