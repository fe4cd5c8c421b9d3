import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Plan } from "../../../src/plan/plan.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { startMetricsStub } from "../../servers/metrics-stub.ts";
import { LIMIT } from "../../time-limit.ts";
import { answerChat, runChat } from "./chat-server.ts";

/** `--dry-run`: what a run would do, and nothing of it done. */

describe("--dry-run", () => {
  test("prints a sound plan and a summary; nothing is sent, asked or written", LIMIT, async () => {
    await using exporter = await startMetricsStub();
    const load = ["--concurrency", "3", "--request-count", "12", "--warmup-request-count", "2"];
    const secret = ["--header", "Authorization:Bearer s3cret", "-H", "X-Team:blue", "-H", "X-Team:red"];
    const metrics = ["--server-metrics-url", `http://${exporter.url}`];
    const { code, out, err, requestCount, files } = await runChat(() => [...load, ...secret, ...metrics, "--dry-run"]);
    assert.equal(code, 0, err);
    assert.deepEqual([requestCount, exporter.scrapes.length, [...files.keys()]], [0, 0, []]);
    const plan = JSON.parse(out) as Plan;
    checkPlan(plan);
    assert.deepEqual(plan.measurement.mode, { kind: "requests", count: 12 });
    assert.deepEqual(plan.load, { kind: "concurrency", levels: { kind: "list", values: [3] }, search: "linear" });
    assert.ok(plan.target.kind === "openai");
    assert.deepEqual(plan.target.headers, [
      ["Authorization", "<hidden>"],
      ["X-Team", "red"],
    ]);
    assert.doesNotMatch(out + err, /s3cret/);
    assert.match(err, /server: +127\.0\.0\.1:\d+, path v1\/chat\/completions, streamed\n/);
    assert.match(
      err,
      /load: +concurrency 3\n +measured: +12 requests\n +warm-up: +2 requests\n +inputs: +2 different requests\n/,
    );
    assert.match(err, /the first: +\{"model":"tiny","messages":\[/);
    assert.match(err, /files in: .*tiny-openai-chat-concurrency3\n/);
  });

  test("the plan of a real run is the one that was printed", LIMIT, async () => {
    const args = ["--request-rate", "50", "--request-count", "60"];
    const printed = JSON.parse((await runChat(() => [...args, "--dry-run"])).out) as Plan;
    assert.ok(printed.load.kind === "request-rate" && printed.measurement.mode.kind === "requests");
    const { requestCount } = await runChat(() => args, { answer: answerChat });
    assert.equal(requestCount, printed.measurement.mode.count);
  });

  test("rejects what a run would reject", LIMIT, async () => {
    for (const [args, message] of [
      [["--header", "nocolon"], /--header: a header needs a colon/],
      [["--tokenizer", "/nowhere/at/all"], /\/nowhere\/at\/all/],
      [["--api-key-env", "RAMPART_TEST_NO_SUCH_KEY"], /RAMPART_TEST_NO_SUCH_KEY/],
      [["--input-file", "nowhere.jsonl"], /nowhere\.jsonl/],
    ] as const) {
      const { code, out, err } = await runChat(() => [...args, "--dry-run"]);
      assert.ok(code > 0 && out === "", `${code} ${out}`);
      assert.match(err, message);
    }
  });

  test("of a sweep it prints the plan of each point", LIMIT, async () => {
    const args = ["--sweep-type", "concurrency", "--sweep-list", "2,5", "--dry-run"];
    const { code, out, err, requestCount, files } = await runChat(() => args, { subcommand: "analyze" });
    assert.equal(code, 0, err);
    assert.deepEqual([requestCount, files.size], [0, 0]);
    const points = JSON.parse(out) as { point: Record<string, number>; plan: Plan }[];
    const shown = points.map(({ point, plan }) => [
      point["concurrency"],
      plan.load.kind === "concurrency" && plan.load.levels.kind === "list" && plan.load.levels.values[0],
      plan.measurement.mode.kind === "requests" && plan.measurement.mode.count,
    ]);
    assert.deepEqual(shown, [
      [2, 2, 10],
      [5, 5, 10],
    ]);
    assert.match(err, /concurrency 5:\ndry run/);
    const search = await runChat(() => [...args, "--search-limits", "request_latency:500"], { subcommand: "analyze" });
    assert.equal(search.code, 1);
    assert.match(search.err, /--dry-run cannot predict what a search will measure/);
  });
});
