import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { UserError } from "../../../src/plan/problem.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { errorRate } from "../../../src/scenario/assertions.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { random } from "../../../src/scenario/inputs.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { type GrpcOptions, grpc } from "../../../src/scenario/targets/grpc.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { makeFolder } from "../../make-folder.ts";
import { demoProto, startGoDynamic } from "../../servers/dynamic.ts";

/** `grpc(…)`: the messages of a scenario reach the server, and its expressions read the responses. */

const server = await startGoDynamic();
after(() => server.stop());

function planOf(options: GrpcOptions, more: object = {}) {
  return planFor(grpc(`127.0.0.1:${server.port}`, options), more);
}

function planFor(target: ReturnType<typeof grpc>, more: object = {}, folder = dirname(demoProto)) {
  const scenario = defineScenario({
    name: "g",
    target,
    load: hold(2, { requests: 12 }),
    assert: [errorRate().is(0)],
    ...more,
  });
  return toPlan(scenario, folder);
}

const run = (options: GrpcOptions) => runPlan(planOf(options));

async function runPlan(plan: ReturnType<typeof planFor>) {
  await server.reset();
  const { result } = startPlan(plan, { openObserver: async () => ({}), check: async () => {} });
  const { completedCount, failedCount, failures } = await result;
  return { completedCount, failedCount, example: failures[0]?.example, counter: await server.counter() };
}

const TEXT = "demo.v1.Text";

describe("a scenario's gRPC method", () => {
  const cases: readonly (readonly [name: string, options: GrpcOptions, received: number, sent: number])[] = [
    [
      "one message",
      { method: `${TEXT}/Echo`, message: { text: "a", numbers: [1n, 2] }, success: { where: "number == `3`" } },
      12,
      12,
    ],
    [
      "an encoded message",
      { method: `${TEXT}/Echo`, message: Uint8Array.of(10, 1, 97), success: { where: "text == 'a'" } },
      12,
      12,
    ],
    [
      "several messages, paced",
      {
        method: `${TEXT}/Talk`,
        messages: [{ text: "a" }, { text: "b" }],
        pacing: "after-response",
        success: { where: "length(@) == `2`" },
      },
      24,
      24,
    ],
    [
      "different calls, and a file",
      { method: `${TEXT}/Collect`, calls: [[{}, {}], { text: "x" }], proto: "demo.proto" },
      18,
      12,
    ],
  ];
  for (const [name, options, received, sent] of cases)
    test(`sends ${name}`, async () => {
      const { completedCount, failedCount, example, counter } = await run(options);
      assert.deepEqual([completedCount, failedCount], [12, 0], example);
      assert.deepEqual(counter, { calls: 12, received, sent, cancelled: 0 });
    });

  test("fails where its expression is not true", async () => {
    const { failedCount, example } = await run({
      method: `${TEXT}/Echo`,
      message: {},
      success: { where: "number > `5`" },
    });
    assert.equal(failedCount, 12);
    assert.match(example ?? "", /number > `5` is not true/);
  });

  const wrong: readonly (readonly [name: string, options: object, more: object, expected: RegExp])[] = [
    ["no messages", { method: "a.B/C" }, {}, /target: must have one of message, messages, calls, file, generator/],
    ["two kinds of messages", { method: "a.B/C", message: {}, file: "x" }, {}, /must have one of/],
    ["no method", { method: "Echo", message: {} }, {}, /target\.method: must be "package\.Service\/Method"/],
    [
      "an expression that is none",
      { method: "a.B/C", message: {}, success: { where: "a[" } },
      {},
      /success\.where: is not a JMESPath expression/,
    ],
    [
      "inputs beside its messages",
      { method: "a.B/C", message: {} },
      { inputs: random() },
      /inputs: grpc\(…\) takes messages/,
    ],
  ];
  for (const [name, options, more, expected] of wrong)
    test(`is refused with ${name}`, () => {
      assert.throws(
        () => planOf(options as GrpcOptions, more),
        (error: unknown) => error instanceof UserError && expected.test(error.message),
      );
    });
});

describe("grpc(…) takes perf_analyzer's inputs", () => {
  const address = `127.0.0.1:${server.port}`;

  test("of a JSON file in the scenario's folder", async () => {
    const folder = makeFolder();
    const data = [{ messages: [{ text: "a" }, { text: "b" }] }, { message: {} }];
    await writeFile(join(folder, "in.json"), JSON.stringify({ data }));
    const target = grpc(address, { method: `${TEXT}/Collect`, file: "in.json" });
    const { completedCount, counter, example } = await runPlan(planFor(target, {}, folder));
    assert.equal(completedCount, 12, example);
    assert.deepEqual(counter, { calls: 12, received: 18, sent: 12, cancelled: 0 });
  });

  test("of a message generator", async () => {
    const generator = `printf '${"\\003\\000\\000\\000\\n\\001"}x'`;
    const target = grpc(address, { method: `${TEXT}/Echo`, generator, success: { where: "text == 'x'" } });
    const { completedCount, failedCount, example } = await runPlan(planFor(target));
    assert.deepEqual([completedCount, failedCount], [12, 0], example);
  });

  for (const [name, options, more, expected] of [
    ["neither of them", {}, {}, /target: must have one of message, messages, calls, file, generator/],
    ["both", { file: "x", generator: "y" }, {}, /must have one of message, messages, calls, file, generator/],
    ["inputs beside them", { file: "x" }, { inputs: random() }, /inputs: grpc\(…\) takes messages/],
  ] as const)
    test(`and is refused with ${name}`, () => {
      const target = grpc(address, { method: "a.B/C", ...options } as GrpcOptions);
      assert.throws(
        () => planFor(target, more),
        (error: unknown) => error instanceof UserError && expected.test(error.message),
      );
    });
});
