import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replacePart } from "../../compile/docs/generated-part.ts";
import { describeMachine } from "../../src/runtime/machine.ts";
import type { Goal } from "./goals.ts";
import { type Bench, type Figures, renderSummary, type StoredFigures } from "./summary.ts";

const guide = join(import.meta.dirname, "README.md");
/** What each bench measured last. */
const file = join(import.meta.dirname, "figures.json");

/** What a whole run of a bench has measured. */
export interface BenchFigures {
  /** For its part of the guide. Absent: it has none. */
  readonly report?: string;
  readonly goals: readonly Goal[];
}

/** Writes the figures of a whole run into the guide of the benchmarks, and its goals into the table of all. */
export function writeFigures(bench: Bench, { report, goals }: BenchFigures): void {
  const { cpu, cores } = describeMachine();
  const stored: Figures = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpu}, ${cores} cores`,
    goals: goals.map(({ passed: _, measured, ...goal }) => ({
      ...goal,
      ...(Number.isNaN(measured) ? {} : { measured }),
    })),
  };
  const all = { ...readFigures(), [bench]: stored };
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  const text = readFileSync(guide, "utf8");
  const withReport = report === undefined ? text : replacePart(text, bench, report);
  writeFileSync(guide, replacePart(withReport, "goals", renderSummary(all)));
}

/** The table of all goals, with what each bench measured last. */
export function summaryOfAll(): string {
  return renderSummary(readFigures());
}

function readFigures(): StoredFigures {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as StoredFigures) : {};
}
