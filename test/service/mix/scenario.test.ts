import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Plan } from "../../../src/plan/plan.ts";
import { withoutSecrets } from "../../../src/plan/secrets.ts";
import { memberPlansOf, membersOf } from "../../../src/registry/mix.ts";
import { errorRate, extracted, mean, p99 } from "../../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../../src/scenario/define.ts";
import { json, random, zero } from "../../../src/scenario/inputs.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { rate } from "../../../src/scenario/loads/rates.ts";
import { fixedSchedule } from "../../../src/scenario/loads/schedules.ts";
import { sessions } from "../../../src/scenario/loads/sessions.ts";
import { mix } from "../../../src/scenario/mix.ts";
import { payloads, prompts } from "../../../src/scenario/prompts.ts";
import { http } from "../../../src/scenario/targets/http.ts";
import { openai } from "../../../src/scenario/targets/llm.ts";
import { triton } from "../../../src/scenario/targets/triton.ts";
import { tritonInProcess } from "../../../src/scenario/targets/triton-in-process.ts";
import { type PlanOverrides, toPlan } from "../../../src/scenario/to-plan.ts";
import { refusalsIn } from "../../plan/refused.ts";

/** Scenarios of several targets, and tags: their plans, and what is wrong with them. */

const tensors = triton("host:8001", { protocol: "grpc", model: "m" });
const chat = openai("host:8000", { model: "llm", streaming: true, tokenizer: "none" });
const two = mix([
  { name: "a", target: tensors, inputs: json("in.json"), weight: 9 },
  { name: "b", target: chat, inputs: payloads("bodies.jsonl"), tags: { size: 7 } },
]);

/** Calls `defineScenario` as JavaScript does. */
function define(definition: object): Scenario {
  return defineScenario({ name: "x", load: hold(2, { requests: 10 }), target: two, ...definition } as never);
}

const planOf = (definition: object = {}): Plan => toPlan(define(definition), "/folder");

function problemsOf(definition: object, overrides: PlanOverrides = {}): string[] {
  return refusalsIn(() => toPlan(define(definition), "/folder", overrides));
}

test("the plan has the targets and inputs of all members, and is printable", () => {
  const plan = planOf();
  const { target, inputs } = plan;
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
  assert.deepEqual(
    membersOf(target).map(({ name, weight, inputs: own, tokens, tags }) => [
      name,
      weight,
      own,
      tokens?.responses,
      tags,
    ]),
    [
      ["a", 9, { kind: "json", files: ["/folder/in.json"], readsTags: true }, undefined, undefined],
      ["b", 1, { kind: "payloads", file: "/folder/bodies.jsonl", readsTags: true }, "chat", { fixed: { size: "7" } }],
    ],
  );
  assert.deepEqual(
    [target.kind, target.protocol, target.isStreaming, target.batchSize, inputs],
    ["mix", "grpc", true, 1, { kind: "of-members" }],
  );
  assert.deepEqual([plan.client.callMode, plan.measurement.tokens], ["async", undefined]);
});

test("a member's plan is that of its target measured alone", () => {
  const [, member] = memberPlansOf(planOf({ tags: { team: "x" }, assert: [errorRate().is(0)] }));
  const alone = toPlan(
    defineScenario({
      name: "b",
      load: hold(2, { requests: 10 }),
      target: chat,
      inputs: payloads("bodies.jsonl"),
      tags: { size: 7 },
    }),
    "/folder",
  );
  assert.deepEqual(member, alone);
});

test("functions that make requests make the share of their member", () => {
  const request = (n: number) => ({ path: `/${n}` });
  const target = mix([
    { name: "a", target: http("h", { request }), weight: 3 },
    { name: "b", target: http("h", { request }), weight: 1 },
  ]);
  const counts = membersOf(planOf({ target }).target).map(
    ({ inputs }) => inputs.kind === "http-requests" && inputs.made?.count,
  );
  assert.deepEqual(counts, [8, 3]);
});

test("headers of members that are secret are not shown", () => {
  const target = mix([
    { name: "a", target: triton("h", { model: "m", headers: { authorization: "Bearer abcdefgh" } }) },
    { name: "b", target: tensors },
  ]);
  const plan = planOf({ target });
  assert.match(JSON.stringify(plan), /abcdefgh/);
  assert.doesNotMatch(JSON.stringify(withoutSecrets(plan)), /abcdefgh/);
});

test("assertions name tags, and fixed tags and functions are in the plan", () => {
  const assertions = [
    p99().where({ target: "a" }).below("1 s"),
    errorRate().where({ batch: 8, warm: true }).is(0),
    mean().below("1 s"),
  ];
  const plan = planOf({
    assert: assertions,
    tags: function byIndex() {
      return {};
    },
  });
  assert.deepEqual(
    plan.assertions.map(({ where }) => where),
    [{ target: "a" }, { batch: "8", warm: "true" }, undefined],
  );
  assert.match(plan.tags?.of?.function ?? "", /^tags \(byIndex\) #\d+$/);
});

describe("mistakes, each by its path", () => {
  const member = (change: object) => ({
    target: {
      ...two,
      values: [
        { name: "a", target: tensors },
        { name: "b", target: tensors, ...change },
      ],
    },
  });
  const cases: readonly (readonly [name: string, change: object, problems: readonly RegExp[]])[] = [
    [
      "one target",
      { target: { ...two, values: [{ name: "a", target: tensors }] } },
      [/^target: must have two targets/],
    ],
    ["no list", { target: { ...two, values: 7 } }, [/^target: must be a list of/]],
    ["a name twice", member({ name: "a" }), [/^target\.1\.name: is also the name of member 0/]],
    ["no name", member({ name: "" }), [/^target\.1\.name: must be a name/]],
    ["half a weight", member({ weight: 1.5 }), [/^target\.1\.weight: must be a whole number/]],
    ["no weight", member({ weight: 0 }), [/^target\.1\.weight: must be 1 or more/]],
    ["an unknown option", member({ share: 1 }), [/^target\.1\.share: is not an option here/]],
    ["no target", member({ target: 7 }), [/^target\.1\.target: must be triton/]],
    ["a mistake in a target", member({ target: triton("h", { model: "" }) }), [/^target\.1\.target\.model: must be/]],
    ["inputs of another form", member({ inputs: prompts() }), [/^target\.1\.inputs: triton\(…\) takes tensors/]],
    [
      "a language model without inputs",
      member({ target: chat }),
      [/^target\.1\.inputs: the target takes input\.prompts/],
    ],
    ["tags that are none", member({ tags: { a: ["b"] } }), [/^target\.1\.tags\.a: must be text, a number/]],
    ["the tag target", member({ tags: { target: "x" } }), [/^target\.1\.tags: must have no "target"/]],
    ["a mix in a mix", member({ target: two }), [/^target\.1\.target: must be/]],
    ["inputs of the whole", { inputs: zero() }, [/^inputs: each target of mix\(…\) has its own inputs/]],
    ["a client for one of the protocols", { client: "undici" }, [/^client: undici speaks HTTP only/]],
    ["GPU metrics of no server", { metrics: {} }, [/^metrics\.url: the target is mix\(…\)/]],
    [
      "tokens of no member",
      { ...member({}), assert: [p99("timeToFirstToken").below("1 s")] },
      [/^assert\.0: responses of triton/],
    ],
    [
      "tokens of a member without",
      { assert: [p99("timeToFirstToken").where({ target: "a" }).below("1 s")] },
      [/^assert\.0: responses of triton/],
    ],
    [
      "a value that is not extracted",
      { assert: [extracted("n").max().below(1)] },
      [/^assert\.0: the target extracts no value/],
    ],
    ["tags of the scenario", { tags: "long" }, [/^tags: must be/]],
    [
      "an assertion on no tags",
      { assert: [{ ...errorRate().is(0), where: { a: null } }] },
      [/^assert\.0\.where\.a: must be text/],
    ],
    ["a schedule of the data", { load: fixedSchedule() }, [/a fixed schedule/]],
    ["conversations", { load: sessions(2) }, [/session/]],
    [
      "shared memory",
      member({ target: triton("h", { model: "m", sharedMemory: "system" }) }),
      [/^target\.1\.target\.sharedMemory: cannot be mixed/],
    ],
    [
      "Triton in process",
      member({ target: tritonInProcess({ modelRepository: "/r", model: "m" }) }),
      [/^target\.1\.target: runs in a process of the run/],
    ],
    [
      "several, all at once",
      {
        target: {
          ...two,
          values: [
            { name: "", target: tensors, weight: -1 },
            { target: chat, inputs: random(), tags: { target: 1 } },
          ],
        },
        load: rate(1),
      },
      [/^target\.0\.name/, /^target\.0\.weight/, /^target\.1\.name: is missing/, /^target\.1\.tags/],
    ],
  ];
  for (const [name, change, expected] of cases)
    test(name, () => {
      const found = problemsOf(change);
      assert.equal(found.length, expected.length, found.join("\n"));
      for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? "", pattern);
    });

  test("another address on the command line", () => {
    assert.match(
      problemsOf({}, { urls: ["other:1"] })[0] ?? "",
      /the scenario's target is mix\(…\) and has no address/,
    );
  });
});
