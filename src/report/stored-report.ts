import * as v from "valibot";
import { functionsOf, withCalls } from "../plan/functions.ts";
import { parseJson } from "../plan/objects.ts";
import type { Plan } from "../plan/plan.ts";
import { unreadable, userError } from "../plan/problem.ts";
import { checkPlan } from "../registry/check-plan.ts";
import { readFileText } from "../runtime/files.ts";
import { type Alternation, buildAlternationModel, compareBlocks } from "./compare/alternating.ts";
import { buildRunModel } from "./model/build-model.ts";
import type { ReportModel } from "./model/report-model.ts";
import { otherBuild, otherVersion, REPORT_SIZE_HINT } from "./read/runs/measured-run.ts";
import { COMPARISON_VERSION, type ComparisonJson, comparisonSchema } from "./schema/comparison.ts";
import { REPORT_VERSION, type ReportJson, reportSchema } from "./schema/report-schema.ts";
import { SCENARIOS_VERSION, type ScenarioReportJson, type ScenariosJson, scenariosSchema } from "./schema/scenarios.ts";
import { SWEEP_VERSION, type SweepJson, sweepSchema } from "./schema/sweep.ts";
import { buildScenariosModel } from "./sweep/scenarios-model.ts";
import { buildSweepModel, type PointValues, type Sweep } from "./sweep/sweep-model.ts";

/** Reads Rampart's JSON. All other reports can be made from it: see `model-files.ts`. */

/** Other contents of a file than a run, by a list that only they have. */
const JOINT = [
  { list: "scenarios", version: SCENARIOS_VERSION, schema: scenariosSchema },
  { list: "points", version: SWEEP_VERSION, schema: sweepSchema },
  { list: "comparisons", version: COMPARISON_VERSION, schema: comparisonSchema },
] as const;

/** Reads a report. @param isAll shows all metrics of a comparison @throws UserError when the file is not a report of this version */
export function readStoredReport(path: string, isAll = false): ReportModel {
  const document = parse(path);
  const fields = new Map<string, unknown>(Object.entries(document ?? {}));
  const { version: expected, schema } = JOINT.find(({ list }) => Array.isArray(fields.get(list))) ?? {
    ...{ version: REPORT_VERSION, schema: reportSchema },
  };
  const version = fields.get("version");
  if (typeof version === "number" && version !== expected) throw otherVersion(path, version, expected);
  const read = v.safeParse<v.GenericSchema<unknown, StoredJson>>(schema, document);
  if (!read.success && version === expected) throw otherBuild(path, read.issues[0]);
  if (!read.success)
    throw userError("mismatch", path, "is not the JSON of a run", "Give the JSON report of Rampart for a run.");
  const model = modelOf(read.output, isAll);
  if (model !== undefined) return model;
  const hint = "Run rampart compare on the files of these runs again.";
  throw userError("mismatch", path, "is the JSON of rampart compare, which has no runs to show again", hint);
}

/** A document that is written as JSON. */
type StoredJson = ScenarioReportJson | ScenariosJson;

/** Builds the model; undefined for a comparison of files, which has no runs. @param isAll all metrics of a comparison */
export function modelOf(json: StoredJson, isAll = false): ReportModel | undefined {
  if ("scenarios" in json) {
    const models = json.scenarios.map(({ report }) => report && modelOf(report, isAll));
    return buildScenariosModel(json, models);
  }
  if ("points" in json) return buildSweepModel(toSweep(json));
  if (!("comparisons" in json)) return buildRunModel(planOf(json), json);
  const alternation = toAlternation(json);
  const side = alternation && compareBlocks(alternation, isAll);
  return alternation && side && buildAlternationModel(alternation, side);
}

/** Returns the plan of a run, with placeholders for the functions of its scenario, which a report does not call. */
function planOf({ plan: written }: ReportJson): Plan {
  const plan = written as unknown as Plan;
  const whole = withCalls(plan, new Map([...functionsOf(plan).keys()].map((name) => [name, () => undefined])));
  checkPlan(whole);
  return whole;
}

function toSweep({ kind, points, missing, pointCount }: SweepJson): Sweep {
  const toValues = (values: object): PointValues =>
    Object.entries(values).map(([name, value]) => [name, String(value)] as const);
  return {
    points: points.map(({ values, report }) => ({ values: toValues(values), plan: planOf(report), json: report })),
    missing: missing.map(({ values, reason }) => ({ values: toValues(values), reason })),
    asked: pointCount,
    ...(kind === "targets" ? { noun: kind } : {}),
  };
}

function toAlternation({ alternation, comparisons: [first] }: ComparisonJson): Alternation | undefined {
  if (alternation === undefined || first === undefined) return undefined;
  const { precisionRatio: precision, isStrict, blocks } = alternation;
  return {
    ...{ names: [first.base.name, first.new.name], precision, isStrict },
    blocks: blocks.map(({ target, report }) => ({ target, plan: planOf(report), json: report })),
  };
}

function parse(path: string): unknown {
  let text: string;
  try {
    text = readFileText(path);
  } catch (error) {
    throw unreadable(path, error, undefined, REPORT_SIZE_HINT);
  }
  return parseJson(text);
}
