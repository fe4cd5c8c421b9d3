import assert from "node:assert/strict";
import { test } from "node:test";
import { inScenario } from "../../../src/cli/setting-names.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { RampartConsole } from "../../../src/report/text/console.ts";
import { makeInstability, makeWindow } from "../../measure/make-window.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeLevel, makeResult, makeSink } from "../make-result.ts";

/** Rampart's console: how the run goes on standard error, the report on standard output. */

test("progress and warnings are on standard error, the report is on standard output", async () => {
  const sink = makeSink();
  const plan = makePlan();
  const report = new RampartConsole(plan, { ...sink, nameOf: inScenario });
  const result = makeResult(plan, [makeLevel()]);
  report.onPrepared?.(result.prepared);
  report.onLevelStart?.("concurrency", 1, false);
  report.onWarning?.({ kind: "metrics-unreachable", url: "h:1/m", reason: "Connection refused" });
  assert.equal(sink.printed.out, "");
  await report.finish(result);
  assert.deepEqual(sink.printed.err.split("\n"), [
    "  measuring concurrency 1 …",
    "rampart: no metrics from h:1/m: Connection refused.",
    "",
  ]);
  assert.match(sink.printed.out, /^MEASURED {2}a test: model, 127\.0\.0\.1:8000, http +1\.0 s {3}30 requests\n\n/);
  assert.match(sink.printed.out, /… 1 more note: -v\n$/);
});

test("-v has the throughput of each window in the unit of the table", () => {
  const outputs = { style: "rampart", verbosity: 1 } as const;
  const lineOf = (plan: Plan): string => {
    const sink = makeSink();
    new RampartConsole(plan, sink).onWindow?.(1, makeWindow(), 5e6);
    return sink.printed.err;
  };
  assert.equal(lineOf(makePlan({ outputs })), "    window 1: 3 infer/s, 5 ms\n");
  // The tokens of a window are counted after it.
  const tokens = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } as const;
  assert.equal(lineOf(makePlan({ outputs, measurement: { tokens } })), "    window 1: 3 req/s, 5 ms\n");
});

test("-v has all notes, those during the run too", async () => {
  const sink = makeSink();
  const plan = makePlan({ outputs: { verbosity: 1 } });
  const report = new RampartConsole(plan, sink);
  report.onWarning?.({ kind: "many-versions", model: "m" });
  await report.finish(makeResult(plan, [makeLevel()]));
  assert.match(
    sink.printed.out.replaceAll(/\s+/g, " "),
    /note Several versions of model m served requests; the server's times are those of the highest\./,
  );
});

test("settings have the names of the front door", async () => {
  const sink = makeSink();
  const plan = makePlan();
  const level = makeLevel({ outcome: "unstable", instability: makeInstability() });
  await new RampartConsole(plan, { ...sink, nameOf: inScenario }).finish(makeResult(plan, [level]));
  assert.match(sink.printed.out.replaceAll(/\s+/g, " "), /Raise stability\.window\./);
});

test("each run of a repeated plan is announced", () => {
  const sink = makeSink();
  const plan = makePlan({ repeat: { atLeast: 2, atMost: 3, until: { metric: { key: "throughput" }, ratio: 0.1 } } });
  const report = new RampartConsole(plan, sink);
  for (const run of [1, 2]) {
    report.onRun?.(run, 3);
    report.onPrepared?.(makeResult(plan, []).prepared);
  }
  assert.match(sink.printed.err, /^run 1 of at most 3\nrun 2 of at most 3\n$/);
});
