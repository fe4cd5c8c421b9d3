// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestTokens } from "../../../src/measure/tokens/request-tokens.ts";
import { type Line, WaitingLines } from "../../../src/report/records/waiting-lines.ts";
import { createRandom } from "../../../src/runtime/random.ts";

/** Lines of single requests, and the tokens that they wait for. */

const metadata = (number: number): string => JSON.stringify({ number, text: "é".repeat(100) });
const tokensOf = (index: number): RequestTokens => ({ index, metrics: new Map(), contentNs: new Float64Array(0) });

/** @param mostHeldBytes of lines in memory */
function openLines(mostHeldBytes: number): { readonly lines: WaitingLines; readonly written: string[] } {
  const written: string[] = [];
  const lines = new WaitingLines(
    {
      addTokens: (line, { index }) => {
        line.metrics = { ...line.metrics, tokens: { value: index, unit: "count" } };
      },
      write: ({ metadata: text, metrics, error }: Line) => written.push(JSON.stringify([text, metrics, error])),
    },
    mostHeldBytes,
  );
  return { lines, written };
}

for (const [name, mostHeldBytes] of [
  ["in memory", 1e9],
  ["with a file", 20_000],
  ["with each of them behind", 0],
] as const)
  test(`lines are written in order, each with its tokens, ${name}`, () => {
    const { lines, written } = openLines(mostHeldBytes);
    const random = createRandom(3);
    const expected: string[] = [];
    const late: number[] = [];
    for (let number = 0; number < 10_000; number++) {
      const metrics = { latency: { value: [number, 0.5], unit: "ms" } };
      const hasFailed = random() < 0.1;
      lines.add({ metadata: metadata(number), metrics, ...(hasFailed ? { error: { code: 5 } } : { index: number }) });
      const tokens = hasFailed ? {} : { tokens: { value: number, unit: "count" } };
      expected.push(JSON.stringify([metadata(number), { ...metrics, ...tokens }, hasFailed ? { code: 5 } : undefined]));
      if (!hasFailed) late.push(number);
      // Tokens fall behind, and come nearly in order.
      const count = random() < 0.3 ? Math.floor(3 * random()) : 0;
      for (let one = 0; one < count; one++) {
        const [index] = late.splice(Math.floor(Math.min(5, late.length) * random()), 1);
        if (index !== undefined) lines.addTokens(tokensOf(index));
      }
    }
    assert.ok(written.length < 5000, `${written.length} have tokens`);
    for (const index of late) lines.addTokens(tokensOf(index));
    assert.deepEqual(written, expected);
  });

test("lines whose tokens never come are written at the end, and the next run begins anew", () => {
  const { lines, written } = openLines(5000);
  for (let run = 0; run < 2; run++) {
    for (let index = 0; index < 3000; index++) lines.add({ index, metadata: metadata(index), metrics: {} });
    lines.addTokens(tokensOf(2999));
    assert.equal(written.length, 3000 * run);
    lines.settle();
    assert.equal(written.length, 3000 * (run + 1));
    assert.deepEqual(JSON.parse(written.at(-1) ?? "")[1], { tokens: { value: 2999, unit: "count" } });
  }
});
