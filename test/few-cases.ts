import assert from "node:assert/strict";

/** Cases that differ in what no runtime changes: all run on the executable, a few on Deno and Node. */

/** The variable that asks for a few; `npm test -- --all` leaves it out. */
export const FEW_CASES = "RAMPART_TEST_FEW_CASES";

/** Whether all cases run here, also those that no runtime changes. */
export const HAS_ALL_CASES = process.env[FEW_CASES] !== "1";

/** The cases that run here: all of them, or those with these names. */
export function casesHere<T extends { readonly name: string }>(
  cases: readonly T[],
  few: readonly string[],
): readonly T[] {
  const chosen = cases.filter(({ name }) => few.includes(name));
  assert.equal(chosen.length, few.length, "each name is that of a case");
  return HAS_ALL_CASES ? cases : chosen;
}
