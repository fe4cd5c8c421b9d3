import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { COMMAND } from "../../../src/cli/types/command.ts";
import * as api from "../../../src/index.ts";
import { captureIo } from "../../cli/captured-io.ts";
import { runInFolder } from "../../cli/run-in-folder.ts";
import { makeFolder } from "../../make-folder.ts";
import { typeCheck } from "../../type-check.ts";
import { ASSERTIONS } from "./assertions.ts";
import { CHAINS } from "./chains.ts";
import { LOADS } from "./loads.ts";
import { OF_OTHERS } from "./of-others.ts";
import { TARGETS } from "./targets.ts";
import { scenarioCode, type WrongScenario } from "./wrong-scenario.ts";

/** Scenarios with mistakes: what the compiler says of them, and what `rampart run` says where nothing has been compiled. */

const ALL: readonly WrongScenario[] = [...LOADS, ...ASSERTIONS, ...TARGETS, ...CHAINS, ...OF_OTHERS];
const MOST_LINES = 4;
/** Of all mistakes, the part that the compiler finds. */
const LEAST_FOUND = 0.9;

const fileOf = (index: number): string => `wrong-${index}.ts`;

const folder = makeFolder();
/** Lines of the compiler by file. */
const lines = new Map<string, string[]>();
before(async () => {
  assert.equal(await COMMAND.run([folder], "rampart types", captureIo().io), 0);
  for (const [index, wrong] of ALL.entries())
    writeFileSync(join(folder, fileOf(index)), scenarioCode(wrong, Object.keys(api)));
  let file = "";
  for (const line of typeCheck(folder, "--pretty", "false")
    .split("\n")
    .filter((text) => text !== "")) {
    file = /^(?:.*\/)?(wrong-\d+\.ts)\(/.exec(line)?.[1] ?? file;
    lines.set(file, [...(lines.get(file) ?? []), line]);
  }
});

/** Turns a text into a pattern, in which `<*>` is any text. */
function patternOf(text: string): RegExp {
  const parts = text.split("<*>").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}

describe("the compiler says what is wrong in at most four lines", () => {
  for (const [index, { name, compiles }] of ALL.entries())
    test(name, () => {
      const said = lines.get(fileOf(index)) ?? [];
      if (compiles !== undefined) assert.deepEqual(said, []);
      else assert.ok(said.length >= 1 && said.length <= MOST_LINES, said.join("\n"));
    });

  test("and finds nearly all mistakes", () => {
    const found = ALL.filter(({ compiles }) => compiles === undefined);
    assert.ok(found.length >= LEAST_FOUND * ALL.length, `${found.length} of ${ALL.length}`);
    assert.ok(ALL.length >= 44 + 24);
  });
});

describe("rampart run says what is wrong, where, and what to write", () => {
  for (const [index, { name, says }] of ALL.entries())
    test(name, async () => {
      const file = fileOf(index);
      const { code, text } = await runInFolder(folder, ["run", ...(says === undefined ? [] : ["--dry-run"]), file]);
      if (says === undefined) {
        assert.notEqual(code, 0, text);
        return;
      }
      assert.equal(code, 64, text);
      const said = text.split("\n").filter((line) => line.startsWith("rampart: "));
      const own = said.map((line) => line.replace(`rampart: ${file}`, "").replace(/^: ?/, ""));
      const wanted = [says].flat();
      assert.equal(own.length, wanted.length, text);
      for (const [at, line] of own.entries()) assert.match(line, patternOf(wanted[at] ?? ""));
    });
});
