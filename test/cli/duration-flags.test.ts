import assert from "node:assert/strict";
import { test } from "node:test";
import { readDuration, readDurationMs } from "../../src/cli/duration-flags.ts";
import { type Flag, parseFlags } from "../../src/cli/flags.ts";
import type { Problem } from "../../src/plan/problem.ts";

/** Flags with a duration. */

const FLAGS: readonly Flag[] = [{ name: "for", value: "DURATION", default: "60s", help: "How long." }];

for (const [args, duration, ms] of [
  [["--for", "1500ms"], "1500ms", 1500],
  [["--for", "2min"], "2min", 120_000],
  [[], undefined, undefined],
] as const)
  test(`${args.join(" ") || "no flag"} is ${ms} ms`, () => {
    const problems: Problem[] = [];
    const flags = parseFlags(FLAGS, args, 0);
    assert.equal(readDuration(flags, "for", problems), duration);
    assert.equal(readDurationMs(flags, "for", problems), ms);
    assert.deepEqual(problems, []);
  });

test("a flag with a default is read from it", () =>
  assert.equal(readDuration(parseFlags(FLAGS, [], 0), "for", [], "60s"), "60s"));

for (const text of ["10", "0s", "-1s", "soon"])
  test(`--for ${text} is a problem that names the flag, the value and a fix`, () => {
    const problems: Problem[] = [];
    assert.equal(readDuration(parseFlags(FLAGS, [`--for=${text}`], 0), "for", problems), undefined);
    assert.deepEqual(
      problems.map(({ path, code }) => [path, code]),
      [["--for", "invalid-value"]],
    );
    assert.match(`${problems[0]?.hint}`, /^(Give a duration with its unit|Write ")/);
  });
