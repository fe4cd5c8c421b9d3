import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import { RunError } from "../../src/plan/problem.ts";
import type { Report } from "../../src/report/report.ts";
import { guardReport, joinOutputErrors } from "../../src/report/report.ts";
import type { RunResult } from "../../src/result/run-result.ts";

const RESULT = {} as RunResult;

/** A report whose `finish` throws this. */
function failing(error: unknown, discarded: string[] = []): Report {
  return {
    finish: () => {
      throw error;
    },
    discard: () => discarded.push("discarded"),
  };
}

describe("a guarded report", () => {
  test("keeps an error of the system, and discards what was written", async () => {
    const discarded: string[] = [];
    const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    const report = guardReport(failing(full, discarded), () => {});
    await report.finish(RESULT);
    assert.equal(report.error?.code, "output");
    assert.match(report.error?.message ?? "", /cannot be written: no space left/);
    assert.deepEqual(discarded, ["discarded"]);
  });

  test("keeps an error of a file in the report's own words", async () => {
    const error = new RunError("output", "a.json cannot be written", "Give another path.");
    const report = guardReport(failing(error), () => {});
    await report.finish(RESULT);
    assert.equal(report.error, error);
  });

  for (const error of [new RunError("internal", "the thread failed", "Report this."), new TypeError("a defect")])
    test(`lets other errors propagate: ${error.message}`, async () => {
      await assert.rejects(guardReport(failing(error), () => {}).finish(RESULT), error);
    });
});

describe("errors of several files are one", () => {
  const [first, second] = ["a", "b"].map((name) => new RunError("output", `${name} failed`, `Move ${name}.`)) as [
    RunError,
    RunError,
  ];

  test("with all messages, and each hint once", () => {
    const joined = joinOutputErrors([first, second, new RunError("output", "c failed", first.hint)]);
    assert.equal(joined?.message, "a failed; b failed; c failed");
    assert.equal(word(joined?.hint ?? ""), "Move a. Move b.");
  });

  test("none without errors, and one alone is kept", () => {
    assert.equal(joinOutputErrors([]), undefined);
    assert.equal(joinOutputErrors([first]), first);
  });
});
