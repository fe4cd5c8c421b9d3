import * as v from "valibot";
import { functionsOf, withCalls } from "../plan/functions.ts";
import type { Plan } from "../plan/plan.ts";
import { type UserError, unreadable, userError } from "../plan/problem.ts";
import { checkPlan } from "../registry/check-plan.ts";
import { readFileText } from "../runtime/files.ts";
import { buildRunModel } from "./model/build-model.ts";
import type { ReportModel } from "./model/report-model.ts";
import { OLD_VERSIONS } from "./read/runs/upgrade-json.ts";
import { createReportSchema, REPORT_VERSION, type ReportJson } from "./schema/report-schema.ts";

/** Rampart's JSON of a run, read again. All other reports are made from it: see `model-files.ts`. */

/** Reports on several runs, by a list that only they have. */
const JOINT = [
  ["points", "several runs, such as a sweep"],
  ["comparisons", "a comparison"],
] as const;

/** Reads a report. @throws UserError when the file is not a report of this version */
export function readStoredReport(path: string): ReportModel {
  const document = parse(path);
  const fields = new Map(Object.entries(document ?? {}));
  const joint = JOINT.find(([key]) => Array.isArray(fields.get(key)));
  if (joint !== undefined) {
    const hint = "Run it again for its page, its summary or its table.";
    throw userError("mismatch", path, `is the JSON of ${joint[1]}, which cannot be shown again`, hint);
  }
  const version = (document as { readonly version?: unknown } | null)?.version;
  if (typeof version === "number" && version !== REPORT_VERSION) throw refuseVersion(path, version, document as object);
  const read = v.safeParse(createReportSchema(), document);
  if (!read.success)
    throw userError("mismatch", path, "is not the JSON of a run", "Give the JSON report of Rampart for a run.");
  const json = read.output as ReportJson;
  const plan = withStandIns(json.plan as unknown as Plan);
  checkPlan(plan);
  return buildRunModel(plan, json);
}

/** Returns a plan with stand-ins for the functions of its scenario, which are not in the file. A report calls none. */
function withStandIns(plan: Plan): Plan {
  return withCalls(plan, new Map([...functionsOf(plan).keys()].map((name) => [name, () => undefined])));
}

/** What every report is made from, and older versions do not have. */
const NEEDED = ["verdict", "notes", "overTime"] as const;

function refuseVersion(path: string, version: number, document: object): UserError {
  const missing = NEEDED.filter((key) => !(key in document));
  const isOld = OLD_VERSIONS.includes(version);
  const lacks = isOld
    ? `, which lacks what reports are made from: ${[...missing, "metrics of levels"].join(", ")}`
    : "";
  const hint = isOld
    ? "Use the Rampart that wrote it, or rampart compare, which reads it."
    : "Use the Rampart that wrote it.";
  return userError("mismatch", path, `is a report of version ${version}${lacks}`, hint);
}

function parse(path: string): unknown {
  let text: string;
  try {
    text = readFileText(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
