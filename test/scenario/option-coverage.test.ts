import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as api from "../../src/index.ts";
import { MODES } from "./counterparts.ts";

/**
 * What an option of a compatible mode says can be said in a scenario: the counterparts of counterparts.ts are in the reference.
 * option-plans.test.ts compares the plans of command lines and of their counterparts.
 */

const REFERENCE = join(import.meta.dirname, "..", "..", "scenarios", "reference");
const SECTIONS = readdirSync(REFERENCE).flatMap((name) =>
  readFileSync(join(REFERENCE, name), "utf8").split(/^##+ /m).slice(1),
);

/** Returns what is wrong with a counterpart; undefined when the reference has it, or when it is a reason. */
function explain(counterpart: string): string | undefined {
  const [, flag] = /^run (--[a-z-]+)$/.exec(counterpart) ?? [];
  if (flag !== undefined)
    return sectionsOf("rampart run").some((text) => text.includes(`${flag} `) || text.includes(`${flag}\``))
      ? undefined
      : `rampart run has no ${flag}`;
  const [, builder = "", field] = /^((?:input\.)?\w+)(?:\.(\w+))?$/.exec(counterpart) ?? [];
  if (builder === "") return /^[A-Z].* .*\.$/.test(counterpart) ? undefined : "is neither a counterpart nor a sentence";
  if (field === undefined) return isFunction(builder) ? undefined : `there is no ${builder}(…)`;
  const sections = sectionsOf(`\`${builder}\``);
  return sections.some((text) => text.includes(`\n| \`${field}\` |`)) ? undefined : `${builder} has no ${field}`;
}

/** Whether the API has a function: `hold`, or `input.json`. */
function isFunction(name: string): boolean {
  const inner = name.replace("input.", "");
  return inner in (inner === name ? api : api.input);
}

/** Returns the sections of the reference whose heading has this text. */
function sectionsOf(heading: string): string[] {
  return SECTIONS.filter((text) => text.slice(0, text.indexOf("\n")).includes(heading));
}

describe("what an option says can be said in a scenario", () => {
  for (const { name, options: all, table } of MODES) {
    const options = all.map(([first = ""]) => first);
    test(`each option of ${name} has a counterpart or a reason`, () => {
      assert.deepEqual(
        [...new Set(options)].filter((option) => !(option in table)),
        [],
        "add these to the table",
      );
      assert.deepEqual(
        Object.keys(table).filter((option) => !options.includes(option)),
        [],
        "there are no such options",
      );
    });

    test(`the counterparts of ${name}'s options exist`, () => {
      const wrong = Object.entries(table).flatMap(([option, counterpart]) => {
        const reason = explain(counterpart);
        return reason === undefined ? [] : [`${option}: ${counterpart}: ${reason}`];
      });
      assert.deepEqual(wrong, []);
    });
  }

  test("a counterpart that does not exist is found", () => {
    assert.deepEqual(["hold.nothing", "nothing", "run --nothing", "no reason"].map(explain).includes(undefined), false);
  });
});
