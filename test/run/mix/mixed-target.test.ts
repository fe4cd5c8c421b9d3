import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findExtracted } from "../../../src/measure/extracted-tally.ts";
import { meanInFlight } from "../../../src/measure/in-flight.ts";
import { splitByTag } from "../../../src/measure/split-by-tag.ts";
import { judge } from "../../../src/measure/verdicts.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { RunError, UserError } from "../../../src/plan/problem.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import type { RunObserver } from "../../../src/result/observer.ts";
import type { FailedRequest, RequestRecord } from "../../../src/result/request-record.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold, steps } from "../../../src/scenario/loads/concurrency.ts";
import { rate } from "../../../src/scenario/loads/rates.ts";
import { mix } from "../../../src/scenario/mix.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { http } from "../../../src/scenario/targets/http.ts";
import { embeddedLlm } from "../../../src/scenario/targets/llm.ts";
import { triton } from "../../../src/scenario/targets/triton.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { KserveServer } from "../kserve-server.ts";

/** Runs in which several targets share one load. */

function run(scenario: Parameters<typeof toPlan>[0], observer: RunObserver = {}): Promise<RunResult> {
  const plan = toPlan(scenario, "/folder");
  return startPlan(plan, { openObserver: async () => observer, check: async () => checkPlan(plan) }).result;
}

/** What a member's requests came to at a level: sent, completed, failed, cancelled. */
function countsOf(result: RunResult, level: number, name = "target"): Record<string, number[]> {
  const measured = result.levels[level];
  assert.ok(measured !== undefined, "the level was measured");
  const parts = splitByTag(measured.window, name).map(({ tags, window }): [string, number[]] => {
    const { sentCount, requestCount, failedCount, cancelledCount } = window;
    return [String(tags[name]), [sentCount, requestCount, failedCount, cancelledCount]];
  });
  return Object.fromEntries(parts);
}

test(
  "targets of different protocols share a closed loop by weight, however much slower one is, and the sums agree",
  LIMIT,
  async () => {
    const records: RequestRecord[] = [];
    const failed: FailedRequest[] = [];
    const target = mix([
      { name: "tensors", target: embedded(), weight: 6 },
      { name: "slow", target: embedded({ protocol: "grpc", latency: "15 ms", errorRate: "20 %" }), weight: 2 },
      { name: "stream", target: embedded({ protocol: "grpc", streaming: true, errorRate: "100 %" }), weight: 1 },
      {
        name: "chat",
        target: embeddedLlm({ streaming: true, timeToFirstToken: "2 ms", tokenizer: TINY }),
        inputs: prompts({ isl: 8, osl: 4, count: 3 }),
        weight: 1,
        tags: ({ isl, target: name }) => ({ isl, name }),
      },
    ]);
    const load = steps([1, 5], { requests: 100 });
    const observer = {
      onRecord: (record: RequestRecord) => void records.push(record),
      onFailed: (request: FailedRequest) => void failed.push(request),
    };
    const result = await run(defineScenario({ name: "x", target, load, tags: { run: 7 } }), observer);
    assert.equal(result.error, undefined, result.error?.message);
    assert.deepEqual([result.sentCount, result.completedCount + result.failedCount], [200, 200]);
    for (const level of [0, 1]) {
      const counts = countsOf(result, level);
      const sent = Object.values(counts).map(([count]) => count);
      assert.deepEqual(sent, [60, 20, 10, 10], "exact shares");
      const slow = counts["slow"] as number[];
      assert.equal((slow[1] as number) + (slow[2] as number), 20);
      assert.deepEqual(
        [counts["tensors"], counts["stream"], counts["chat"]],
        [
          [60, 60, 0, 0],
          [10, 0, 10, 0],
          [10, 10, 0, 0],
        ],
      );
      const { window } = result.levels[level] ?? assert.fail();
      const parts = splitByTag(window, "target");
      assert.deepEqual([window.tokens?.count, window.isStreamed], [10, true]);
      assert.deepEqual(
        parts.map((part) => part.window.tokens?.count),
        [undefined, undefined, undefined, 10],
      );
      assert.deepEqual(
        parts.map((part) => part.window.server?.successCount),
        [60, slow[1], undefined, undefined],
      );
      const sum = parts.reduce((total, part) => total + meanInFlight(part.window), 0);
      assert.ok(Math.abs(sum - meanInFlight(window)) < 1e-6, `${sum}`);
      assert.deepEqual(Object.keys(countsOf(result, level, "run")), ["7"]);
    }
    assert.deepEqual(
      result.servers?.map(({ name, sentCount, failedCount }) => [name, sentCount, failedCount > 0]),
      [
        ["tensors", 120, false],
        ["slow", 40, true],
        ["stream", 20, true],
        ["chat", 20, false],
      ],
    );
    const ofChat = records.filter(({ tags }) => tags?.["target"] === "chat");
    assert.deepEqual([ofChat.length, ofChat[0]?.tags], [20, { target: "chat", run: "7", isl: "8", name: "chat" }]);
    assert.equal(records.length + failed.length, 200);
    assert.equal(failed.filter(({ tags }) => tags?.["target"] === "stream").length, 20);
    for (const { example } of result.failures) assert.match(example, /^(slow|stream): planned failure/);
  },
);

test("windows until stable, a rate and cancelled requests have the same sums by target", LIMIT, async () => {
  const target = mix([
    { name: "a", target: embedded({ latency: "2 ms" }), weight: 3 },
    { name: "b", target: embedded({ protocol: "grpc", latency: "8 ms" }) },
  ]);
  const scenario = defineScenario({
    name: "x",
    target,
    load: rate(200, { requests: 120 }),
    cancel: { share: "30 %", after: "3 ms" },
  });
  const result = await run(scenario);
  assert.equal(result.error, undefined, result.error?.message);
  const counts = Object.values(countsOf(result, 0));
  assert.deepEqual(
    counts.map(([sent]) => sent),
    [90, 30],
  );
  const { window } = result.levels[0] ?? assert.fail();
  const sums = counts.reduce((total, one) => total.map((value, at) => value + (one[at] as number)));
  assert.deepEqual(sums, [window.sentCount, window.requestCount, window.failedCount, window.cancelledCount]);
  assert.ok(window.cancelledCount > 0);
});

test("a warm-up does not shift the shares, and inputs are sent in their order", LIMIT, async () => {
  using server = await startAnsweringServer((response) => void response.end("{}"));
  const requests = (path: string) => (n: number) => ({ path: `/${path}/${n}` });
  const target = mix([
    { name: "a", target: http(server.url, { request: requests("a"), distinct: 4 }), weight: 2 },
    { name: "b", target: http(server.url, { request: requests("b"), distinct: 2 }) },
  ]);
  await run(defineScenario({ name: "x", target, load: hold(1, { requests: 9 }), warmupRequests: 2 }));
  const paths = server.received.map(({ path }) => path);
  const measured = ["/a/0", "/b/0", "/a/1", "/a/2", "/b/1", "/a/3", "/a/0", "/b/0", "/a/1"];
  assert.deepEqual(paths.slice(-9), measured);
  assert.deepEqual(paths.slice(0, 2), ["/a/0", "/b/0"]);
});

test("values that targets extract belong to their groups, and together to the level", LIMIT, async () => {
  const bodies = ['{"n": 5, "m": "x"}', '{"n": 7, "m": "x"}', '{"n": 9}', "plain"];
  using server = await startAnsweringServer((response) => {
    const path = server.received.at(-1)?.path ?? assert.fail();
    response.end(bodies[Number(path.slice(1))]);
  });
  const target = mix([
    { name: "both", target: http(`${server.url}/0`, { extract: { n: "n", m: "m" } }), weight: 2 },
    { name: "text", target: http(`${server.url}/1`, { extract: { m: "m" } }), weight: 1 },
    { name: "no text", target: http(`${server.url}/2`, { extract: { m: "m" } }), weight: 1 },
    { name: "none", target: http(`${server.url}/3`), weight: 1 },
  ]);
  const share = { key: "extractedShare", name: "m", text: "x" };
  const result = await run(defineScenario({ name: "x", target, load: hold(2, { requests: 20 }) }));
  const { window } = result.levels[0] ?? assert.fail();
  const shown = (name: string, { extracted }: Pick<typeof window, "extracted">): unknown => {
    const found = findExtracted(extracted, name);
    return found && [found.numbers.count, found.numbers.mean, found.texts, found.missingCount];
  };
  const parts = splitByTag(window, "target").map((part) => part.window);
  assert.deepEqual(
    parts.map((part) => [shown("n", part), shown("m", part)]),
    [
      [
        [8, 5, [], 0],
        [0, 0, [["x", 8]], 0],
      ],
      [undefined, [0, 0, [["x", 4]], 0]],
      [undefined, [0, 0, [], 4]],
      [undefined, undefined],
    ],
  );
  assert.deepEqual(
    [shown("n", window), shown("m", window)],
    [
      [8, 5, [], 0],
      [0, 0, [["x", 12]], 4],
    ],
  );
  const assertion = { metric: share, comparison: "above", limit: 0.5 } as AssertionPlan;
  const { state, measured } = judge(assertion, result.levels, 1);
  assert.deepEqual([state, measured], ["pass", 0.75]);
});

describe("a target that fails is named", () => {
  test("before the load, together with all others", LIMIT, async () => {
    const target = mix([
      { name: "gone", target: triton("127.0.0.1:1", { model: "m" }) },
      { name: "here", target: embedded() },
      { name: "away", target: triton("127.0.0.1:1", { model: "n", protocol: "grpc" }) },
    ]);
    await assert.rejects(run(defineScenario({ name: "x", target, load: hold(1, { requests: 3 }) })), (error) => {
      assert.ok(error instanceof RunError);
      assert.equal(error.code, "unreachable");
      assert.match(error.message, /^gone: .*; away: /);
      return true;
    });
  });

  test("with data that does not fit, all of it", LIMIT, async () => {
    const target = mix([
      { name: "a", target: embedded() },
      {
        name: "b",
        target: http("127.0.0.1:1", {
          request: () => {
            throw new Error("no request");
          },
        }),
      },
    ]);
    await assert.rejects(run(defineScenario({ name: "x", target, load: hold(1, { requests: 3 }) })), (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /^b: .*no request/);
      return true;
    });
  });

  test("during the load, which continues at the others", LIMIT, async () => {
    const target = mix([
      { name: "gone", target: http("127.0.0.1:1") },
      { name: "here", target: embedded() },
    ]);
    const result = await run(defineScenario({ name: "x", target, load: hold(2, { requests: 20 }) }));
    assert.equal(result.error, undefined);
    assert.deepEqual(countsOf(result, 0), { gone: [10, 0, 10, 0], here: [10, 10, 0, 0] });
    assert.match(result.failures[0]?.example ?? "", /^gone: /);
  });
});

test("several servers of a member take turns and have their own counts", LIMIT, async () => {
  await using first = await new KserveServer({}).start();
  await using second = await new KserveServer({}).start();
  const target = mix([
    { name: "pair", target: triton([first.url, second.url], { model: "simple" }), weight: 2 },
    { name: "one", target: embedded() },
  ]);
  const result = await run(defineScenario({ name: "x", target, load: hold(1, { requests: 12 }) }));
  assert.equal(result.error, undefined, result.error?.message);
  assert.deepEqual(
    result.servers?.map(({ name, sentCount }) => [name.replace(/\d+$/, ""), sentCount]),
    [
      ["pair at 127.0.0.1:", 4],
      ["pair at 127.0.0.1:", 4],
      ["one", 4],
    ],
  );
});
