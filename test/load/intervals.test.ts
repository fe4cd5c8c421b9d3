import assert from "node:assert/strict";
import { test } from "node:test";
import { intervalsMode, readIntervalsNs } from "../../src/load/intervals.ts";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { testSchema } from "../plan/test-schema.ts";

function withText<T>(text: string, use: (path: string) => T): T {
  const folder = makeFolder();
  const path = writeIn(folder, "gaps.txt", text);
  return use(path);
}

function problemsOf(use: () => unknown): { path: string; message: string }[] {
  try {
    use();
  } catch (error) {
    assert.ok(error instanceof UserError);
    for (const problem of error.problems) assert.notEqual(problem.hint, "");
    return error.problems.map(({ path, message }) => ({ path: word(path), message: word(message) }));
  }
  assert.fail("nothing was refused");
}

test("intervals are read from a file in microseconds, and their mode loops them", () => {
  withText("100\n\n 200 \r\n500", (path) => {
    assert.deepEqual(readIntervalsNs(path), [100e3, 200e3, 500e3]);
    const load = prepareLoad({ kind: "intervals", file: path });
    assert.deepEqual(load.search.levels, { kind: "list", values: [3750] });
    const drive = load.drive(3750, []);
    assert.ok(drive.kind === "scheduled");
    assert.deepEqual(Array.from({ length: 4 }, drive.arrivals), [100e3, 300e3, 800e3, 900e3]);
  });
});

test("every bad line of an intervals file is named, up to ten", () => {
  withText(`1\nx\n2\n-3\n4.5\n${"bad\n".repeat(20)}`, (path) => {
    const problems = problemsOf(() => readIntervalsNs(path));
    assert.equal(problems.length, 10);
    assert.deepEqual(
      problems.slice(0, 3).map((problem) => problem.path),
      [`${path}, line 2`, `${path}, line 4`, `${path}, line 5`],
    );
  });
});

test("an intervals file that is missing, empty or all zero is refused", () => {
  assert.match(problemsOf(() => readIntervalsNs("/nonexistent"))[0]?.message ?? "", /failed to open file/);
  for (const [text, message] of [
    ["", /is empty/],
    ["\n \n", /is empty/],
    ["0\n0\n", /all time intervals are 0/],
  ] as const)
    withText(text, (path) => assert.match(problemsOf(() => readIntervalsNs(path))[0]?.message ?? "", message));
});

const VALID = { kind: "intervals", file: "gaps.txt" };
testSchema(intervalsMode.schema(), VALID, [
  ["a file", true, {}],
  ["no file", false, { file: "" }],
]);
