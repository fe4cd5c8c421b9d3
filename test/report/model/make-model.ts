import type { Plan } from "../../../src/plan/plan.ts";
import { toRepeatedJson, toReportJson } from "../../../src/report/json/report-json.ts";
import { buildRunModel } from "../../../src/report/model/build-model.ts";
import type { Cell, ModelTable, ReportModel } from "../../../src/report/model/report-model.ts";
import type { ReportJson } from "../../../src/report/schema/report-schema.ts";
import type { RepeatedResult } from "../../../src/result/repeated-result.ts";
import type { LevelResult, RunResult } from "../../../src/result/run-result.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { checkSchema } from "../check-schema.ts";
import { makeResult } from "../make-result.ts";

/** Models of made-up runs, each from JSON that was written and read back. */

/** Builds the model of a run. */
export function modelOf(
  change: PlanChange,
  levels: readonly LevelResult[],
  rest: Partial<RunResult> = {},
): ReportModel {
  const plan = makePlan({ ...change, outputs: { style: "rampart", ...change.outputs } });
  return buildRunModel(plan, storeJson(toReportJson(plan, makeResult(plan, levels, rest))));
}

/** Builds the model of repeated runs. */
export function modelOfRuns(plan: Plan, repeated: RepeatedResult): ReportModel {
  return buildRunModel(plan, storeJson(toRepeatedJson(plan, repeated)));
}

function storeJson(json: object): ReportJson {
  return checkSchema(JSON.parse(JSON.stringify(json)));
}

/** Returns the first table of a section. @throws Error if there is none */
export function tableOf(model: ReportModel, id: string, index = 0): ModelTable {
  const table = model.sections.find((section) => section.id === id)?.tables[index];
  if (table === undefined) throw new Error(`${id} is not in ${model.sections.map((section) => section.id).join()}`);
  return table;
}

/** Returns the cells of a table by their column, without those that are empty. */
export function cellsOf({ columns, rows }: ModelTable): Readonly<Record<string, Cell>>[] {
  return rows.map((row) =>
    Object.fromEntries(
      columns.flatMap(({ key }, index) => (row[index]?.value === undefined ? [] : [[key, row[index] as Cell]])),
    ),
  );
}

/** Returns the values of a table by their column. */
export function valuesOf(table: ModelTable): Readonly<Record<string, number | string | undefined>>[] {
  return cellsOf(table).map((cells) =>
    Object.fromEntries(Object.entries(cells).map(([key, { value }]) => [key, value])),
  );
}

/** Returns the lines of a section. */
export function linesOf(model: ReportModel, id: string): readonly string[] {
  return model.sections.find((section) => section.id === id)?.lines ?? [];
}
