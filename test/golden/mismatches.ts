import { readFileSync, writeFileSync } from "node:fs";
import type { Result } from "./runner.ts";

/** A transcript that Rampart does not match, on purpose. */
export interface Mismatch {
  /** Why it differs. */
  readonly reason: string;
  /** How it differs: all of the lines that the comparison gives. */
  readonly differences: readonly string[];
}

/** Mismatches by the name of their transcript. */
export type Mismatches = Readonly<Record<string, Mismatch>>;

const file = new URL("./mismatches.json", import.meta.url);

/** Reads the table of known mismatches. */
export function readMismatches(): Mismatches {
  return JSON.parse(readFileSync(file, "utf8")) as Mismatches;
}

/** Writes the table, in the order of the names. */
export function writeMismatches(mismatches: Mismatches): void {
  const sorted = Object.fromEntries(Object.entries(mismatches).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** The table with these results in place of what it held for them. Reasons are kept; that of a new mismatch is empty, to be written. */
export function acceptResults(known: Mismatches, results: readonly Result[]): Mismatches {
  const accepted: Record<string, Mismatch> = { ...known };
  for (const { name, differences } of results) {
    if (differences.length === 0) delete accepted[name];
    else accepted[name] = { reason: known[name]?.reason ?? "", differences };
  }
  return accepted;
}

/** What is wrong with a result, as lines to print: it differs otherwise than the table says, or no longer. Empty when all is as known. */
export function judgeResult({ name, differences }: Result, known: Mismatches): string[] {
  const expected = known[name]?.differences ?? [];
  if (expected.length === differences.length && expected.every((line, index) => line === differences[index])) return [];
  if (differences.length === 0) return [`${name} matches, but is listed as a mismatch`];
  const title = expected.length === 0 ? "differs" : "differs otherwise than listed";
  return [`${name} ${title}`, ...differences.map((line) => `  ${line}`)];
}
