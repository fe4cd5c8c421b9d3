import assert from "node:assert/strict";
import { it } from "node:test";
import { type HeapNode, readAllocated } from "./read-profile.ts";

function node(url: string, functionName: string, selfSize: number, ...children: HeapNode[]): HeapNode {
  return { callFrame: { url, functionName, lineNumber: 9 }, selfSize, children };
}

it("counts what built-in functions allocate for the code that calls them", () => {
  const sent = node(
    "file:///x/src/transport/a.ts",
    "send",
    100,
    node("", "subarray", 50),
    node("node:net", "write", 30),
  );
  const { own, runtimeBytes } = readAllocated(
    node("", "(root)", 1, node("node:net", "read", 20, node("", "slice", 5), sent)),
  );
  assert.deepEqual([...own], [["transport/a.ts:10 send", 150]]);
  assert.equal(runtimeBytes, 56);
});
