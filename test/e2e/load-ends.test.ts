import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toReportJson } from "../../src/report/json/report-json.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { generate } from "../../src/scenario/generate/builder.ts";
import type { Load } from "../../src/scenario/loads/load.ts";
import { rate, rateRamp, rateSteps } from "../../src/scenario/loads/rates.ts";
import { http } from "../../src/scenario/targets/http.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";

/** Where rates end, beside a server that counts its requests. */

/** Runs a load. @param serveMs how long the server serves each request, one at a time */
async function run(load: Load<"scheduled">, serveMs: number) {
  let freeAtMs = 0;
  using server = await startAnsweringServer((response) => {
    freeAtMs = Math.max(freeAtMs, performance.now()) + serveMs;
    setTimeout(() => response.end("{}"), Math.max(0, freeAtMs - performance.now()));
  });
  const plan = toPlan(defineScenario({ name: "x", target: http(server.url), load }), "/");
  const running = startPlan(plan, { openObserver: () => Promise.resolve({}), check: () => Promise.resolve() });
  const result = await running.result;
  return { result, json: toReportJson(plan, result), received: server.received.length };
}

test("requests that a server never answers are counted by their tags", LIMIT, async () => {
  using server = await startAnsweringServer((response, index) => {
    if (server.received[index]?.text !== "lost") response.end("{}");
  });
  const bodies = ["fast", "lost", "fast", "fast", "lost"];
  const inputs = generate(({ index }) => ({ body: bodies[index] ?? "", tags: { kind: bodies[index] ?? "" } }), {
    count: bodies.length,
  });
  const scenario = defineScenario({ name: "x", target: http(server.url), inputs, load: rate(20, { for: "1 s" }) });
  const plan = toPlan(scenario, "/");
  const running = startPlan(plan, { openObserver: () => Promise.resolve({}), check: () => Promise.resolve() });
  const unfinished = (await running.result).failures.find(({ kind }) => kind === "unfinished");
  const lostCount = server.received.filter(({ text }) => text === "lost").length;
  assert.ok(lostCount > 1);
  assert.deepEqual(unfinished?.tagged, [{ tags: { kind: "lost" }, count: lostCount }]);
});

describe("rates end", () => {
  test("at 0, after as many requests as the area below the rate", LIMIT, async () => {
    const { result, received } = await run(rateRamp(100, 0, { over: "2 s" }), 0);
    const { window, unsentCount = 0 } = result.levels[0] ?? assert.fail();
    const sent = window.requestCount;
    // The hundredth is due at the end. A busy machine may be late. The client may look at the server before the load.
    assert.ok(sent + unsentCount >= 98 && sent + unsentCount <= 100, `${sent}, not sent: ${unsentCount}`);
    assert.ok(received >= sent && received <= 103, `${received}`);
  });

  test("two levels above the knee of a server that does 50 requests/s", LIMIT, async () => {
    const rates = [10, 40, 80, 160, 320, 640, 1280];
    const { result, json } = await run(rateSteps(rates, { for: "1 s", until: "knee" }), 20);
    const knee = json.knee?.level ?? 0;
    // A busy machine ends some requests of 80/s in the next level, whose throughput then seems to be higher.
    assert.ok([40, 80, 160].includes(knee), `${knee}`);
    assert.equal(json.knee?.isReached, true);
    const levels = result.levels.map(({ level }) => level);
    assert.deepEqual(levels, rates.slice(0, rates.indexOf(knee) + 3));
  });
});
