import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { PhasePlan } from "../../../src/plan/load-options.ts";
import type { LoadPlan } from "../../../src/plan/load-plan.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { extracted } from "../../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../../src/scenario/define.ts";
import { generate } from "../../../src/scenario/generate/builder.ts";
import { hold as scenarioHold } from "../../../src/scenario/loads/concurrency.ts";
import { mix } from "../../../src/scenario/mix.ts";
import { http } from "../../../src/scenario/targets/http.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { type AnsweringServer, type ReceivedRequest, startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { KserveServer } from "../kserve-server.ts";

/** Assertions that end a run early. */

const hold = (concurrency: number): LoadPlan => ({
  ...{ kind: "concurrency", levels: { kind: "list", values: [concurrency] }, search: "linear" },
});
const time = (load: LoadPlan, durationMs: number, rest: Partial<PhasePlan> = {}): PhasePlan => ({
  load,
  mode: { kind: "duration", durationMs },
  ...rest,
});

let server: KserveServer;
before(async () => {
  // Every seventh request fails.
  server = await new KserveServer({
    onInfer: async ({ index }) => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return index % 7 === 3 ? "no" : undefined;
    },
  }).start();
});
after(() => server.stop());

describe("an assertion that ends the run", () => {
  const failing = {
    assertions: [
      { metric: { key: "errorRate" }, comparison: "is", limit: 0, abortAfterMs: 60 },
      { metric: { key: "throughput" }, comparison: "at-least", limit: 0, abortAfterMs: 50 },
    ],
  } as const;

  test("does so in the phase in which it no longer holds, and the report has what was measured", LIMIT, async () => {
    // Failures of the warm-up are not judged: it lasts longer than the time.
    const phases = [time(hold(7), 150, { isWarmup: true }), time(hold(7), 60_000), time(hold(1), 60)];
    const plan = makePlan({ target: { url: server.url }, load: { kind: "phases", phases }, ...failing });
    const { error, aborted, levels, phased, isInterrupted } = await startPlan(plan, {
      openObserver: () => Promise.resolve({}),
      check: () => Promise.resolve(),
    }).result;
    assert.deepEqual([error?.code, isInterrupted, aborted?.assertionIndex], ["assertion-failed", false, 0]);
    assert.match(error?.message ?? "", /"error rate = 0 %" did not hold over the last 60 ms, with [\d.]+ %/);
    assert.ok((aborted?.measured ?? 0) > 0);
    assert.deepEqual(
      levels.map(({ outcome, phase }) => [outcome, phase?.index]),
      [["partial", 1]],
    );
    assert.ok((levels[0]?.window.durationNs ?? 0) >= 60e6 && (levels[0]?.window.failedCount ?? 0) > 0);
    assert.equal(phased?.phases.length, 2);
  });

  test("does so only in the phase that it names", LIMIT, async () => {
    const of = (phase: string) => ({
      load: {
        kind: "phases",
        phases: [time(hold(7), 400, { name: "busy" }), time(hold(7), 400, { name: "calm" })],
      } as const,
      assertions: [{ ...failing.assertions[0], phase }],
    });
    const run = async (phase: string) =>
      startPlan(makePlan({ target: { url: server.url }, ...of(phase) }), {
        openObserver: () => Promise.resolve({}),
        check: () => Promise.resolve(),
      }).result;
    const ended = async (phase: string) => {
      const { error, levels } = await run(phase);
      return [error?.code, levels.map(({ outcome, phase: at }) => `${at?.label} ${outcome}`)];
    };
    assert.deepEqual(await ended("calm"), ["assertion-failed", ["busy measured", "calm partial"]]);
    assert.deepEqual(await ended("busy"), ["assertion-failed", ["busy partial"]]);
  });

  test("ends a run without phases too, and one that holds ends nothing", LIMIT, async () => {
    const at = { target: { url: server.url }, load: hold(7) };
    const mode = { kind: "duration", durationMs: 60_000 } as const;
    const abort = await startPlan(makePlan({ ...at, ...failing, measurement: { mode } }), {
      openObserver: () => Promise.resolve({}),
      check: () => Promise.resolve(),
    }).result;
    assert.deepEqual([abort.error?.code, abort.levels[0]?.outcome], ["assertion-failed", "partial"]);
    const holds = await startPlan(
      makePlan({ ...at, assertions: [failing.assertions[1]], measurement: { mode: { ...mode, durationMs: 200 } } }),
      { openObserver: () => Promise.resolve({}), check: () => Promise.resolve() },
    ).result;
    assert.deepEqual([holds.error, holds.aborted, holds.levels[0]?.outcome], [undefined, undefined, "measured"]);
  });
});

describe("an assertion on extracted values of requests with tags", () => {
  let echo: AnsweringServer;
  before(async () => {
    echo = await startAnsweringServer((response, index) => {
      const { text, path } = echo.received[index] as ReceivedRequest;
      response.setHeader("content-type", "application/json");
      setTimeout(() => response.end(JSON.stringify({ score: Number(text === "" ? path.slice(1) : text) })), 5);
    });
  });
  after(() => echo.close());

  const run = async (scenario: object) => {
    const definition = { name: "a test", load: hold4, ...scenario } as never;
    const plan = toPlan(defineScenario(definition) as Scenario, "/");
    return startPlan(plan, { openObserver: () => Promise.resolve({}), check: () => Promise.resolve() }).result;
  };
  const hold4 = scenarioHold(4, { for: "60 s" });
  const extract = { score: "score" };
  const inputs = generate(
    function* () {
      for (;;) {
        yield { body: "1", tags: { size: "small" } };
        yield { body: "100", tags: { size: "large" } };
        yield { body: "no number", tags: { size: "none" } };
      }
    },
    { count: 30 },
  );

  test("ends the run by the values of these requests alone", LIMIT, async () => {
    const score = extracted("score");
    const small = score.max().where({ size: "small" }).below(50).abortAfter("500 ms");
    // Where no response has a number there is nothing to judge.
    const none = score.mean().where({ size: "none" }).below(0).abortAfter("500 ms");
    // On a busy machine few of them come in a short time, too few to be sure.
    const large = score.percentile(50).where({ size: "large" }).below(50).abortAfter("2 s");
    const target = http(echo.url, { method: "POST", extract });
    const { error, aborted, levels } = await run({ target, inputs, assert: [small, none, large] });
    assert.deepEqual([error?.code, aborted], ["assertion-failed", { assertionIndex: 2, measured: 100 }]);
    assert.match(
      error?.message ?? "",
      /"p50 score where size is large < 50" did not hold over the last 2 s, with 100$/,
    );
    assert.deepEqual(
      levels.map(({ outcome }) => outcome),
      ["partial"],
    );
  });

  test("holds when these requests keep it, whatever the others have", LIMIT, async () => {
    const holding = extracted("score").mean().where({ size: "small" }).below(2).abortAfter("50 ms");
    const target = http(echo.url, { method: "POST", extract });
    const { error, aborted } = await run({
      target,
      inputs,
      load: scenarioHold(4, { for: "300 ms" }),
      assert: [holding],
    });
    assert.deepEqual([error, aborted], [undefined, undefined]);
  });

  test("ends the run by the values of one target of a mix, which alone extracts some", LIMIT, async () => {
    const score = extracted("score").mean();
    const assertions = ["one", "two", "plain"].map((target) => score.where({ target }).below(50).abortAfter("1 s"));
    const target = mix([
      { name: "one", target: http(`${echo.url}/1`, { extract }), weight: 1 },
      { name: "two", target: http(`${echo.url}/77`, { extract }), weight: 1 },
      { name: "plain", target: http(`${echo.url}/99`), weight: 1 },
    ]);
    const { error, aborted } = await run({ target, assert: assertions });
    assert.deepEqual([error?.code, aborted], ["assertion-failed", { assertionIndex: 1, measured: 77 }]);
  });
});
