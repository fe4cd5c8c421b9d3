import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plan } from "../../../src/plan/plan.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { createReports } from "../../../src/report/report-formats.ts";
import type { ReportJson } from "../../../src/report/schema/report-schema.ts";
import { broadcast } from "../../../src/result/observer.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { defineScenario, type ScenarioDefinition } from "../../../src/scenario/define.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { checkSchema } from "../check-schema.ts";
import { makeSink } from "../make-result.ts";

/** Real runs of the embedded server with all of their reports. */

/** The reports of runs. */
export interface Written extends Disposable {
  readonly plan: Plan;
  readonly runs: readonly RunResult[];
  readonly json: ReportJson;
  /** The path of the page. */
  readonly page: string;
  /** Returns the text of another report. */
  read(key: "html" | "junit" | "markdown" | "records" | "csv"): string;
  /** The console, with `-v`. */
  readonly console: string;
  remove(): void;
}

const ALL = ["csv", "html", "json", "junit", "markdown", "records"] as const;
/** The reports of a test of records: a page takes most of the time. */
export const RECORDS = ["json", "records"] as const;

/** Runs a scenario and writes reports of `rampart run`, the JSON report among them. Default: all. */
export async function writeReports(scenario: object, keys: readonly (typeof ALL)[number][] = ALL): Promise<Written> {
  const folder = mkdtempSync(join(tmpdir(), "rampart-report-"));
  const files = Object.fromEntries(keys.map((key) => [key, join(folder, key === "html" ? "report.html" : key)]));
  const base = toPlan(defineScenario(scenario as ScenarioDefinition), "/");
  const plan: Plan = { ...base, outputs: { ...base.outputs, files, verbosity: 1, isLive: false } };
  const sink = makeSink();
  const reports = await createReports(plan, sink);
  const runs: RunResult[] = [];
  const count = plan.repeat?.atMost ?? 1;
  for (let run = 1; run <= count; run++) {
    const observer = broadcast(reports);
    if (plan.repeat !== undefined) observer.onRun?.(run, count);
    const { result } = startPlan(plan, { openObserver: async () => observer, check: async () => checkPlan(plan) });
    runs.push(await result);
  }
  for (const report of reports)
    await (plan.repeat === undefined ? report.finish(runs[0] as RunResult) : report.finishRuns?.({ runs }));
  const read = (key: (typeof ALL)[number]): string => readFileSync(files[key] as string, "utf8");
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  return {
    plan,
    runs,
    json: checkSchema(JSON.parse(read("json"))),
    page: files["html"] as string,
    read,
    console: sink.printed.out,
    remove,
    [Symbol.dispose]: remove,
  };
}
