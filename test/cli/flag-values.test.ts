import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readDuration, readNumber } from "../../src/cli/flag-values.ts";
import { type Flag, parseFlags } from "../../src/cli/flags.ts";
import { formatHelpPage } from "../../src/cli/help/page.ts";
import type { Problem } from "../../src/plan/problem.ts";

/** Flags with durations and numbers. */

const FLAGS: readonly Flag[] = [{ name: "for", value: "DURATION", default: "60s", help: "How long." }];

for (const [args, duration, ms] of [
  [["--for", "1500ms"], "1500ms", 1500],
  [["--for", "2min"], "2min", 120_000],
  [["--for", "1m30s"], "1m30s", 90_000],
  [[], undefined, undefined],
] as const)
  test(`${args.join(" ") || "no flag"} is ${ms} ms`, () => {
    const problems: Problem[] = [];
    const flags = parseFlags(FLAGS, args, 0);
    assert.equal(readDuration(flags, "for", problems), duration);
    assert.deepEqual(problems, []);
  });

for (const text of ["10", "0s", "-1s", "soon"])
  test(`--for ${text} is a problem that names the flag, the value and a fix`, () => {
    const problems: Problem[] = [];
    assert.equal(readDuration(parseFlags(FLAGS, [`--for=${text}`], 0), "for", problems), undefined);
    assert.deepEqual(
      problems.map(({ path, code }) => [path, code]),
      [["--for", "invalid-value"]],
    );
    assert.match(`${problems[0]?.hint}`, /^(Give a duration with its unit|Add the unit: "|Write ")/);
  });

for (const [text, isWhole, max, read] of [
  ["0", true, undefined, 0],
  ["17", true, 17, 17],
  ["0.5", false, 1, 0.5],
  ["0.5", true, undefined, "is not a whole number of 0 or more"],
  ["18", true, 17, "is not a whole number from 0 to 17"],
  ["-1", false, 1, "is not a number from 0 to 1"],
  [" ", false, undefined, "is not a number of 0 or more"],
  ["1e999", false, undefined, "is too large"],
  ["9007199254740993", true, undefined, "is too large"],
] as const)
  test(`--for ${JSON.stringify(text)} as a number up to ${max} is ${read}`, () => {
    const problems: Problem[] = [];
    const value = readNumber(parseFlags(FLAGS, [`--for=${text}`], 0), "for", { isWhole, min: 0, max }, problems);
    assert.equal(value ?? problems[0]?.message, read);
  });

describe("flags", () => {
  /** Defaults of the flags of Rampart's own commands. */

  const FLAGS: readonly Flag[] = [
    { name: "host", value: "HOST", default: "127.0.0.1", help: "Address." },
    { name: "for", value: "DURATION", defaultText: "10s, without --requests", help: "How long." },
  ];

  test("a flag's default is its value until it is given", () => {
    assert.equal(parseFlags(FLAGS, [], 0).value("host"), "127.0.0.1");
    assert.equal(parseFlags(FLAGS, ["--host", "a", "--host", "b"], 0).value("host"), "b");
    assert.equal(parseFlags(FLAGS, [], 0).text("host"), undefined);
  });

  test("a value, and what stands after --, may begin with a dash", () => {
    const { problems, positionals } = parseFlags(FLAGS, ["--host", "-for", "--", "-for=5s"], 1);
    assert.deepEqual(problems, []);
    assert.deepEqual(positionals, ["-for=5s"]);
    assert.equal(parseFlags(FLAGS, ["--host", "-for"], 0).text("host"), "-for");
  });

  test("a long name with one dash is unknown, and takes its value", () => {
    for (const args of [["-for=5s"], ["-for", "5s"]]) {
      const { problems, positionals } = parseFlags(FLAGS, args, 1);
      assert.deepEqual(
        problems.map(({ path, hint }) => `${String(path)}: ${String(hint)}`),
        ["-for: Did you mean --for?"],
      );
      assert.deepEqual(positionals, []);
    }
  });

  test("only flags with a default have a value when they are not given", () => {
    assert.throws(() => parseFlags(FLAGS, [], 0).value("for"), /--for has no default/);
    assert.equal(parseFlags(FLAGS, ["--for", "5s"], 0).value("for"), "5s");
  });

  test("help shows the default, or what applies without the flag", () => {
    const help = formatHelpPage({ usage: ["x"], about: ["Does it."], flags: FLAGS }, false);
    assert.match(help, /Address\. Default: 127\.0\.0\.1\./);
    assert.match(help, /How long\. Default: 10s, without --requests\./);
  });
});
