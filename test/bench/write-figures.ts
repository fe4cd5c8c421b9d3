import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replacePart } from "../../compile/docs/generated-part.ts";
import { describeMachine } from "../../src/runtime/machine.ts";
import type { Goal } from "./goals.ts";
import { type Bench, type Figures, renderSummary, type StoredFigures, type StoredGoal } from "./summary.ts";

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
  const stored: Figures = { date: today(), machine: `${cpu}, ${cores} cores`, goals: goals.map(toStored) };
  store({ ...readFigures(), [bench]: stored }, report === undefined ? undefined : { bench, text: report });
}

/** A run of a part with fewer writes no figures. */
const LEAST_ROUNDS = 3;

/** Writes the goals that a run of a part of a bench has measured into the table of all, if it has enough rounds. */
export function writePart(bench: Bench, goals: readonly Goal[], rounds: number): void {
  if (rounds < LEAST_ROUNDS) return;
  const all = readFigures();
  const date = today();
  const measured = goals.filter((goal) => !Number.isNaN(goal.measured)).map((goal) => ({ ...toStored(goal), date }));
  const texts = new Set(measured.map(({ text }) => text));
  const { cpu, cores } = describeMachine();
  const known: Figures = all[bench] ?? { date, machine: `${cpu}, ${cores} cores`, goals: [] };
  const kept = known.goals.filter(({ text }) => !texts.has(text));
  store({ ...all, [bench]: { ...known, goals: [...kept, ...measured] } });
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function toStored({ passed: _, measured, ...goal }: Goal): StoredGoal {
  return { ...goal, ...(Number.isNaN(measured) ? {} : { measured }) };
}

/** @param report the part of the guide that a bench has. Absent: it stays */
function store(all: StoredFigures, report?: { readonly bench: Bench; readonly text: string }): void {
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  const text = readFileSync(guide, "utf8");
  const withReport = report === undefined ? text : replacePart(text, report.bench, report.text);
  writeFileSync(guide, replacePart(withReport, "goals", renderSummary(all)));
}

/** The table of all goals, with what each bench measured last. */
export function summaryOfAll(): string {
  return renderSummary(readFigures());
}

function readFigures(): StoredFigures {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as StoredFigures) : {};
}
