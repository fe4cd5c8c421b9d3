import assert from "node:assert/strict";
import type { Sample } from "../../compile/docs/samples.ts";

/** Checks that a sample of output in a guide is what its command prints, but for numbers, and for notes on this machine. */
export function assertIsSampleOf(printed: string, { shown }: Pick<Sample, "shown">): void {
  assert.notEqual(shown, "", "npm run docs -- --output writes it");
  const heads = headsOf(printed);
  const missing = headsOf(shown).filter((head) => !heads.some((other) => areOfOneTable(head, other)));
  assert.deepEqual(missing, [], printed);
}

/** Returns the columns of the heads of tables, which are in every run of a command. */
function headsOf(output: string): string[][] {
  return output
    .split("\n")
    .filter((line) => / {2}/.test(line.trim()) && !/\d/.test(line.replaceAll(/p\d+/g, "")))
    .filter((line) => !/^ {2}(note|\*|wrong)/.test(line))
    .map((line) => line.trim().split(/ {2,}/));
}

/** Whether two heads are of one table. Where values are long, columns are left out. */
function areOfOneTable(head: readonly string[], other: readonly string[]): boolean {
  const common = head.filter((name) => other.includes(name));
  return head[0] === other[0] && common.length >= head.length / 2;
}
