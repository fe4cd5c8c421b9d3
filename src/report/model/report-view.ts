import type { Plan } from "../../plan/plan.ts";
import { describeLevel, levelTitles } from "../../registry/level-names.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import type { GroupJson } from "../schema/level.ts";
import type { LevelJson, ReportJson, RunJson } from "../schema/report-schema.ts";
import type { LevelWords, MeasuredRow } from "./level-columns.ts";
import { type ColumnSpec, column, RUN_COLUMN } from "./tables.ts";

/** A report as the builders of the model read it: runs and levels with their names. */
export interface ReportView {
  readonly plan: Plan;
  readonly json: ReportJson;
  readonly runs: readonly NamedRun[];
  /** Levels of all runs. */
  readonly levels: readonly LevelRow[];
  readonly words: LevelWords;
}

/** A run with its name: `run 2`; empty if there is only one. */
export interface NamedRun {
  readonly name: string;
  readonly json: RunJson;
}

/** A level with its names. */
export interface LevelRow extends MeasuredRow {
  /** Name of the run; empty if there is only one. */
  readonly run: string;
  /** `concurrency 4` */
  readonly name: string;
  readonly json: LevelJson;
}

/** Returns a name, prefixed with the name of its run if there are several: `run 2, concurrency 4`. */
export function nameInRun(run: string, name: string): string {
  return run === "" ? name : `${run}, ${name}`;
}

/** Returns a text about a run, prefixed with the name of the run if there are several: `run 2: 8 conversations`. */
export function ofRun(run: string, text: string): string {
  return run === "" ? text : `${run}: ${text}`;
}

/** Returns the number of requests that ended while levels were measured. */
export function countMeasured(levels: readonly Pick<LevelJson, "completed" | "failed">[]): number {
  return levels.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
}

/** Returns the name of a level, with its phase. */
export function nameLevel(
  plan: Plan,
  { level, phase }: { readonly level: number; readonly phase?: { readonly index: number } },
): string {
  return describeLevel(plan, level, phase?.index);
}

/** A row of a table that names its level. */
export interface NamedRow {
  /** Name of the run; empty if there is only one. */
  readonly run: string;
  readonly name: string;
  readonly json: { readonly level?: number };
}

/** The requests with one value of a tag at one level. */
export interface GroupRow extends NamedRow {
  readonly value: string;
  readonly json: GroupJson & { readonly level: number };
}

/** Returns, by tag, the rows of its values at each level. The values of a tag together are the level. */
export function groupsByTag({ levels }: ReportView): ReadonlyMap<string, readonly GroupRow[]> {
  const byTag = new Map<string, GroupRow[]>();
  for (const { run, name, json } of levels)
    for (const group of json.groups ?? [])
      for (const [tag, value] of Object.entries(group.tags)) {
        const row = { run, name, value: value ?? `(no ${tag})`, json: { ...group, level: json.level } };
        byTag.set(tag, [...(byTag.get(tag) ?? []), row]);
      }
  return byTag;
}

/** Returns the columns that name a row's level: the load as a number if rows differ only by it, else its name; and its run. */
export function levelNames({ plan, levels }: ReportView): [run: ColumnSpec<NamedRow>, level: ColumnSpec<NamedRow>] {
  const mode = loadModeOf(plan.load);
  // The only level of a schedule from data is not a rate, and the level of a ramp is only its end.
  const isNamed = mode.dataOrder === "at-times" || mode.ramp?.(plan.load) !== undefined;
  const isNumber =
    !isNamed &&
    levels.every(({ name, json: { level, phase } }) => phase === undefined && name === describeLevel(plan, level));
  const unit = levelTitles(plan).column;
  const hasPhases = levels.some(({ json: { phase } }) => phase !== undefined);
  const number = column<NamedRow>("level", unit, "number", 0, ({ json: { level } }) => level);
  const name = column<NamedRow>("level", hasPhases ? "phase" : "load", "text", 0, (row) => row.name);
  return [RUN_COLUMN, isNumber ? { ...number, unit } : name];
}
