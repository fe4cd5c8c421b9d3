import assert from "node:assert/strict";
import { test } from "node:test";
import { longestFiles, parseJunit } from "./junit.ts";

/** What the runner of all tests reads from the files of the three test runners. */

const BUN = `<testsuite name="a"><testcase name="one" classname="d" time="1.5" file="test/a.test.ts" line="1" />
<testcase name="two" classname="" time="0.5" file="test/a.test.ts"><failure message="no"/></testcase>
<testcase name="three" classname="" time="3" file="test/b.test.ts" /></testsuite>`;
const NODE = `<testcase name="one" time="2" classname="test" file="/x/test/a.test.ts"/>
<testcase name="two" time="1" classname="test" file="/x/test/c.test.ts"><skipped/></testcase>`;
const DENO = `<testcase name="d" classname="./test/a.test.ts" time="2.000" line="1" col="3">
</testcase><testcase name="d &gt; one" classname="./test/a.test.ts" time="1.500"></testcase>
<testcase name="d &gt; two" classname="ext:deno_node/testing.ts" time="0.5"></testcase>
<testcase name="x &gt; y" classname="./test/b.test.ts" time="1.000"></testcase>`;

test("failed and skipped tests are found in the files of all runners", () => {
  assert.deepEqual(
    [BUN, NODE, DENO].map((text) =>
      parseJunit(text).map(({ failure, isSkipped }) => (isSkipped ? "skipped" : (failure ?? ""))),
    ),
    [
      ["", "no", ""],
      ["", "skipped"],
      ["", "", "", ""],
    ],
  );
});

test("the files that took longest come first, and a step does not count as another test", () => {
  assert.deepEqual(longestFiles(parseJunit(BUN), 8), [
    ["test/b.test.ts", 3],
    ["test/a.test.ts", 2],
  ]);
  assert.deepEqual(longestFiles(parseJunit(NODE), 1), [["/x/test/a.test.ts", 2]]);
  assert.deepEqual(longestFiles(parseJunit(DENO), 8), [
    ["./test/a.test.ts", 2],
    ["./test/b.test.ts", 1],
  ]);
});
