import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { UserError } from "../../src/plan/problem.ts";
import { compareRuns } from "../../src/report/compare/compare-runs.ts";
import { toComparisonJson } from "../../src/report/compare/json.ts";
import { buildComparisonModel } from "../../src/report/compare/model.ts";
import { formatReportPage } from "../../src/report/html/report-page.ts";
import { toReportJson } from "../../src/report/json/report-json.ts";
import { formatMarkdownReport } from "../../src/report/markdown.ts";
import { readRuns } from "../../src/report/read/runs/read-runs.ts";
import { renderText } from "../../src/report/text/render-text.ts";
import { createRandom, type Random } from "../../src/runtime/random.ts";
import { makeFolder } from "../make-folder.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeLevel, makeResult } from "../report/make-result.ts";

/** Reports with mistakes: each is read, or is one clear error, and what is read can be compared. */

const FIXTURES = join(import.meta.dirname, "../report/read/runs/fixtures");
const ROUNDS = 40;

const folder = makeFolder();

const WRONG: readonly unknown[] = [null, -1, 0, 1e300, "", "text", [], {}, [null], true];
const pick = <T>(values: readonly T[], random: Random): T => values[Math.floor(random() * values.length)] as T;

/** Replaces or removes a value somewhere in a document. */
function breakDocument(value: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random() < 0.1) return pick(WRONG, random);
  const keys = Object.keys(value);
  if (keys.length === 0) return pick(WRONG, random);
  const key = pick(keys, random);
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
  const child = (copy as Record<string, unknown>)[key];
  if (random() < 0.15) delete (copy as Record<string, unknown>)[key];
  else (copy as Record<string, unknown>)[key] = breakDocument(child, random);
  return copy;
}

function breakText(text: string, random: Random): string {
  const at = Math.floor(random() * text.length);
  return random() < 0.5
    ? text.slice(0, at)
    : text.slice(0, at) + pick([",", "\n", "x", '"', "-", "\u0000"], random) + text.slice(at + 1);
}

/** Reads a file, and compares it with a good one within and over runs. */
function check(path: string, good: string): void {
  let runs: ReturnType<typeof readRuns>;
  try {
    runs = readRuns(path);
  } catch (error) {
    assert.ok(error instanceof UserError && error.problems.length === 1, String(error));
    assert.ok(error.message.startsWith(path), error.message);
    return;
  }
  const base = { name: "base", runs: [...readRuns(good), ...readRuns(good)] };
  for (const acceptsWithinRuns of [false, true]) {
    const several = { name: "new", runs: acceptsWithinRuns ? runs : [...runs, ...base.runs] };
    const comparison = compareRuns(base, several, { precision: 0.05, acceptsWithinRuns });
    const sides = { comparison, limits: [], isAll: true };
    const model = buildComparisonModel([sides], false);
    for (const text of [
      renderText(model, { isVerbose: true, moreFlag: "-v", terminalColumns: 110 }),
      formatMarkdownReport(model),
      formatReportPage(
        { ...model, sections: model.sections.map((section) => ({ ...section, charts: [] })) },
        "",
      ).replaceAll(/<script>.*?<\/script>/gs, ""),
    ])
      assert.ok(!text.includes("NaN") && !text.includes("undefined"), text);
    JSON.stringify(toComparisonJson([sides], false));
  }
}

describe("a report with a mistake", () => {
  const level = makeLevel();
  const own = JSON.stringify(toReportJson(makePlan(), makeResult(makePlan(), [level])));
  for (const [name, text] of [
    ["rampart.json", own],
    ["aiperf.json", readFileSync(join(FIXTURES, "aiperf.json"), "utf8")],
    ["genai-perf.json", readFileSync(join(FIXTURES, "genai-perf.json"), "utf8")],
    ["perf-analyzer.csv", readFileSync(join(FIXTURES, "perf-analyzer.csv"), "utf8")],
  ] as const)
    test(`${name} is read or refused`, () => {
      const random = createRandom(3);
      const [good, path] = [join(folder, `good-${name}`), join(folder, name)];
      writeFileSync(good, text);
      check(good, good);
      for (let round = 0; round < ROUNDS; round++) {
        const isJson = name.endsWith(".json") && round % 3 !== 0;
        const broken = isJson ? JSON.stringify(breakDocument(JSON.parse(text), random)) : breakText(text, random);
        writeFileSync(path, broken);
        check(path, good);
      }
    });
});
