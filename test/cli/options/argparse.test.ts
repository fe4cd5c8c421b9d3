import assert from "node:assert/strict";
import { test } from "node:test";
import { type ArgparseOption, checkGiven, parseArgparse } from "../../../src/cli/options/argparse.ts";
import { formatArgparseUsage } from "../../../src/cli/options/argparse-usage.ts";
import { formatRow } from "../../../src/cli/options/help-rows.ts";
import { wrapWords } from "../../../src/plan/terminal-text.ts";

/** Any table of options is parsed and printed, not only genai-perf's. */

const TABLE: readonly ArgparseOption[] = [
  { names: ["-l", "--loud"], count: "switch" },
  { names: ["--shape"], count: "one", choices: ["cube", "ball"], excludes: "form" },
  { names: ["--form-file", "-f"], count: "one", excludes: "form" },
  { names: ["--sizes"], count: "some", value: "MM", isRequired: true },
  { names: ["--shade"], documentedNames: ["--tint"], count: "optional" },
  { names: ["--shiny"], count: "switch", isRampart: true },
];

function givenIn(...args: string[]): string[] {
  const { given, problems } = parseArgparse(TABLE, args, false);
  assert.deepEqual(problems, []);
  return given.map(({ option, values }) => [option.names[0], ...values].join(" "));
}

test("values follow the counts of the table, attached or separate", () => {
  assert.deepEqual(givenIn("--sizes", "1", "-2", "--loud", "-fx"), ["--sizes 1 -2", "-l", "--form-file x"]);
  assert.deepEqual(givenIn("--shade", "--tint=red", "-lf", "y"), ["--shade", "--shade red", "-l", "--form-file y"]);
});

test("own options take no part in abbreviations", () => {
  assert.deepEqual(givenIn("--form", "x"), ["--form-file x"]);
  const { problems } = parseArgparse(TABLE, ["--sh", "cube", "--shin"], false);
  assert.deepEqual(
    problems.map(({ message }) => message),
    ["ambiguous option: --sh could match --shape, --shade", "unrecognized arguments: --shin"],
  );
});

test("missing and mutually exclusive options are reported together", () => {
  const { given } = parseArgparse(TABLE, ["--shape", "cube", "-f", "x"], false);
  assert.deepEqual(
    checkGiven("tool", TABLE, given).map(({ message, hint }) => `${message} / ${hint}`),
    [
      "the following arguments are required: --sizes / See tool --help.",
      "argument --form-file/-f: not allowed with argument --shape / Give only one of them.",
    ],
  );
});

test("a parser of the top leaves what follows the first positional argument", () => {
  assert.deepEqual(parseArgparse(TABLE, ["-l", "sub", "--nope"], true).rest, ["sub", "--nope"]);
});

test("usage has a part for each option except Rampart's own, and mutually exclusive ones share one", () => {
  assert.equal(
    formatArgparseUsage("tool", TABLE, ["FILE"]),
    "usage: tool [-l] [--shape {cube,ball} | --form-file FORM_FILE] --sizes MM [MM ...] [--shade SHADE]\n            FILE\n",
  );
});

test("text is wrapped beside its term, or below it", () => {
  assert.deepEqual(wrapWords("a bb ccc dddddddd", 6), ["a bb", "ccc", "dddddddd"]);
  assert.deepEqual(formatRow("-x", "one two", { column: 8, width: 12 }), ["  -x    one", "        two"]);
  assert.deepEqual(formatRow("--long-name", "one", { column: 8, width: 12 }), ["  --long-name", "        one"]);
});
