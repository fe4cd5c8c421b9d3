import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestCase } from "./junit.ts";
import { MAX_FAILURE_LINES, work } from "./run-tests.ts";

/** Numbers that must not depend on what runs the command, as the end-to-end tests noted them. */
export function compareNumbers(): TestCase[] {
  const files = readdirSync(work).filter((file) => file.endsWith(".numbers"));
  if (files.length < 2) return [];
  const byTest = new Map<string, Map<string, string>>();
  for (const file of files) {
    for (const line of readFileSync(join(work, file), "utf8").trim().split("\n")) {
      const { test, numbers } = JSON.parse(line) as { test: string; numbers: object };
      const seen = byTest.get(test) ?? new Map<string, string>();
      byTest.set(test, seen.set(file.replace(".numbers", ""), JSON.stringify(numbers)));
    }
  }
  // Some tests run on the executable only.
  const compared = [...byTest].filter(([, seen]) => seen.size > 1);
  return compared.map(([test, seen]) => {
    const isEqual = new Set(seen.values()).size === 1;
    const text = [...seen].map(([name, numbers]) => `${name}: ${numbers}`).join("\n");
    return { name: test, failure: isEqual ? undefined : text, isSkipped: false };
  });
}

/** Prints failures, the sum of each group, and the last line. Returns whether all passed. */
export function printResults(results: ReadonlyMap<string, readonly TestCase[]>): boolean {
  let passed = 0;
  let failed = 0;
  const sums: string[] = [];
  for (const [name, cases] of results) {
    // A skipped test is one that did not pass.
    const bad = cases.filter(({ failure, isSkipped }) => failure !== undefined || isSkipped);
    for (const { name: test, failure } of bad) {
      const text = (failure ?? "skipped").split("\n").slice(0, MAX_FAILURE_LINES).join("\n  ");
      console.log(`\nFAILED ${name}: ${test}\n  ${text}`);
    }
    passed += cases.length - bad.length;
    failed += bad.length;
    sums.push(`${name}: ${cases.length - bad.length} passed${bad.length === 0 ? "" : `, ${bad.length} failed`}`);
  }
  console.log(`\n${sums.join("\n")}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0;
}
