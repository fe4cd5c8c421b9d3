import type { VerdictState } from "../../measure/verdict-state.ts";
import type { Plan } from "../../plan/plan.ts";
import { countOf, sum } from "../../plan/units.ts";
import { formatPoint } from "../../result/sweep.ts";
import { viewReport } from "../model/build-model.ts";
import { type CapacityRow, capacitiesOf, makeCapacitySection, whyNoCapacity } from "../model/capacity-section.ts";
import { LOADS, type SweepAxis, sweepCharts } from "../model/charts/sweep-charts.ts";
import { checksOf } from "../model/checks.ts";
import { measuredColumns } from "../model/level-columns.ts";
import type { Case, Check, ReportModel, Section, Suite } from "../model/report-model.ts";
import type { LevelRow, ReportView } from "../model/report-view.ts";
import { suitesOf } from "../model/suites.ts";
import { type ColumnSpec, column, makeTable, markedIf, RUN_COLUMN } from "../model/tables.ts";
import { formatSeconds } from "../model/values.ts";
import { joinNotes } from "../notes/join-notes.ts";
import type { ReasonJson, ReportJson, VerdictJson } from "../schema/report-schema.ts";
import { VERDICT_NAMES, worstFirst } from "../schema/report-schema.ts";
import { SWEEP_VERSION, type SweepJson } from "../schema/sweep.ts";

/** The combined report of a sweep: a row for each point and level, and the assertions over all points. */

/** The values of a point, by parameter name. */
export type PointValues = readonly (readonly [name: string, value: string])[];

/** A point of a sweep with its report. */
export interface SweptPoint {
  readonly values: PointValues;
  readonly plan: Plan;
  readonly json: ReportJson;
}

/** A point that could not be measured. */
export interface MissingPoint {
  readonly values: PointValues;
  readonly reason: string;
}

/** A sweep that has ended. */
export interface Sweep {
  readonly points: readonly SweptPoint[];
  readonly missing: readonly MissingPoint[];
  /** Number of points requested. */
  readonly asked: number;
  /** Set if the points are targets that were measured at the same time. Absent: one after another. */
  readonly noun?: "targets";
}

function nounOf({ noun }: Sweep): string {
  return noun ?? "points";
}

interface Row extends LevelRow {
  readonly point: SweptPoint;
  /** Whether it is the first row of its point. */
  readonly isFirst: boolean;
}

/** Returns the worst verdict of all points; a point that was not measured makes it `partial`, unless one failed. */
function judgeSweep(sweep: Sweep): Pick<VerdictJson, "name" | "headline"> {
  const { points, missing, asked } = sweep;
  const names = points.map(({ json }) => json.verdict.name);
  const left = asked - points.length;
  if (left > 0) names.push("partial");
  const name = VERDICT_NAMES.find((one) => names.includes(one)) ?? "partial";
  const good = names.filter((one) => one === "passed" || one === "measured").length;
  const failed = missing.length === 0 ? "" : `; ${missing.length} could not be measured`;
  const verb = name === "measured" || (left > 0 && !names.includes("passed")) ? "measured" : "passed";
  return { name, headline: `${good} of ${asked} ${nounOf(sweep)} ${verb}${failed}` };
}

/** Builds the model of a sweep. */
export function buildSweepModel(sweep: Sweep): ReportModel {
  const { points, missing } = sweep;
  const noun = nounOf(sweep);
  const name = points[0]?.json.name ?? "sweep";
  const views = points.map(({ plan, json }) => viewReport(plan, json));
  const rows = views.flatMap(({ levels }, at): Row[] =>
    levels.map((level, index) => ({ ...level, point: points[at] as SweptPoint, isFirst: index === 0 })),
  );
  const [first] = views;
  const words = first?.words ?? { unit: "infer/s", hasTokens: false };
  const table = makeTable("", measuredColumns(words, nameColumns(points, rows, sweep.noun !== undefined)), rows);
  const runs = views.flatMap((view) => view.runs);
  const sentCount = runs.reduce((sum, { json }) => sum + json.requests.sent, 0);
  const times = points.map(({ json }) => json.durationSec);
  const durationSec = sweep.noun === undefined ? sum(times) : Math.max(0, ...times);
  const lines = missing.map(({ values, reason }) => `${formatPoint(values)} could not be measured: ${reason}`);
  const swept = points.map(({ values }, at) => ({ values, view: views[at] as ReportView }));
  const { summary, rest } = sweep.noun === undefined ? sweepCharts(axesOf(points), swept) : { summary: [], rest: [] };
  const notes = points.flatMap(({ values, json }) => json.notes.map((note) => ({ at: formatPoint(values), note })));
  const section: Section = { id: "points", title: "", isSummary: true, tables: [table], charts: summary, lines };
  const capacity = capacityOf(points, views);
  const more: Section = { id: "by-parameter", title: "By parameter", isSummary: false, tables: [], charts: rest };
  return {
    name,
    subject: "",
    verdict: {
      ...judgeSweep(sweep),
      facts: [`${sweep.asked} ${noun}`, formatSeconds(durationSec), countOf(sentCount, "request")],
    },
    setup: axesOf(points).map(({ name, values }) => `${name}: ${values.join(", ")}`),
    checks: joinChecks(points, noun),
    notes: joinNotes(notes, points.length, noun),
    sections: [section, ...(capacity === undefined ? [] : [capacity]), ...(rest.length === 0 ? [] : [more])],
    suites: [
      ...points.flatMap(suitesOfPoint),
      ...missing.map(({ values, reason }) =>
        suiteOfMissing(`${name}: ${formatPoint(values)}`, reason, points[0]?.json),
      ),
    ],
    origin: "",
  };
}

/** Returns the suites of a point, named after its values. */
export function suitesOfPoint({ values, plan, json }: SweptPoint): Suite[] {
  const view = viewReport(plan, json);
  const name = `${json.name}: ${formatPoint(values)}`;
  return suitesOf(view, { name, checks: checksOf(view), notes: json.notes });
}

/** Returns the suite of a point or scenario that was not measured. @param before report with the start time. Default: now */
export function suiteOfMissing(name: string, message: string, before?: Pick<ReportJson, "startedAt">): Suite {
  const { startedAt } = before ?? { startedAt: new Date().toISOString() };
  const missing: Case = { name: "it is measured", timeSec: 0, state: "unresolved", kind: "not-measured", message };
  return { name, startedAt, durationSec: 0, cases: [missing] };
}

function axesOf(points: readonly { readonly values: PointValues }[]): SweepAxis[] {
  const names = [...new Set(points.flatMap(({ values }) => values.map(([name]) => name)))];
  return names.map((name) => {
    const all = points.flatMap(({ values: pairs }) => pairs.filter(([one]) => one === name).map(([, value]) => value));
    const values = [...new Set(all)];
    return { name, values, isNumber: values.every((value) => value.trim() !== "" && Number.isFinite(Number(value))) };
  });
}

/** Returns the columns that name the point of a row. */
function axisColumns(points: readonly SweptPoint[]): ColumnSpec<{ readonly point: SweptPoint }>[] {
  return axesOf(points).map(({ name, isNumber }) =>
    column(name, name, isNumber ? "number" : "text", 0, ({ point }) => {
      const value = point.values.find(([parameter]) => parameter === name)?.[1];
      return isNumber ? Number(value) : value;
    }),
  );
}

/** Builds the section with the capacity at each point whose plan asks for it. */
function capacityOf(points: readonly SweptPoint[], views: readonly ReportView[]): Section | undefined {
  const seen = points.flatMap((point, at) => {
    const view = views[at];
    return view === undefined ? [] : [{ point, at: formatPoint(point.values), view }];
  });
  const rows = seen.flatMap(({ view, ...point }) => capacitiesOf(view).map((row) => ({ ...row, ...point })));
  const unknown = [...Map.groupBy(seen, ({ view }) => whyNoCapacity(view))].flatMap(([why, group]) =>
    why === undefined ? [] : [`${group.map(({ at }) => at).join("; ")}: ${why}`],
  );
  const isSearch = views.some(({ runs }) => runs.some(({ json: { findMax } }) => findMax !== undefined));
  const level = column<CapacityRow>("level", isSearch ? "within limits" : "load", "text", 0, ({ name }) => name);
  return makeCapacitySection(rows, [...axisColumns(points), RUN_COLUMN, level], views[0]?.words.unit ?? "", unknown);
}

/** Returns the columns that name a row: the parameters, the verdict of its point, and the run and level if they add information. */
function nameColumns(points: readonly SweptPoint[], rows: readonly Row[], areTargets: boolean): ColumnSpec<Row>[] {
  const perPoint = Map.groupBy(rows, ({ point }) => point);
  const hasLevels = [...perPoint.values()].some((levels) => levels.length > 1);
  // A varied load is already in a column.
  const hasLoad = axesOf(points).some(({ name }) => LOADS.includes(name));
  return [
    ...axisColumns(points),
    RUN_COLUMN,
    ...(hasLevels || areTargets || !hasLoad
      ? [column<Row>("level", "load", "text", hasLevels || areTargets ? 0 : 18, ({ name }) => name)]
      : []),
    column("verdict", "verdict", "text", 0, ({ point, isFirst }) => {
      const { name } = point.json.verdict;
      if (!isFirst || name === "measured") return undefined;
      return markedIf(name !== "passed", name === "unresolved" ? name : "failed", name);
    }),
  ];
}

const STATES: readonly VerdictState[] = ["fail", "unresolved", "pass"];

/** Returns each assertion once, with the worst result and its point. @param noun name of the points */
export function joinChecks(points: readonly SweptPoint[], noun = "points"): Check[] {
  const byText = new Map<string, { readonly check: Check; readonly at: string }[]>();
  for (const { values, plan, json } of points)
    for (const check of checksOf(viewReport(plan, json)))
      byText.set(check.text, [...(byText.get(check.text) ?? []), { check, at: formatPoint(values) }]);
  return [...byText].map(([text, all]) => {
    const state = STATES.find((one) => all.some(({ check }) => check.state === one)) ?? "pass";
    const same = all.filter(({ check }) => check.state === state);
    const [first] = same;
    if (all.length === 1 && first !== undefined)
      return { state, text, measured: `${first.at}: ${first.check.measured}` };
    const count = state === "pass" ? `at all ${all.length} ${noun}` : `at ${same.length} of ${all.length} ${noun}`;
    const example = state === "pass" || first === undefined ? "" : `, such as ${first.at}: ${first.check.measured}`;
    return { state, text, measured: `${count}${example}` };
  });
}

/** Returns the reasons why points did not pass, most severe first, each with its point. */
function reasonsOf({ points, missing }: Sweep): ReasonJson[] {
  const all = [
    ...points.flatMap(({ values, json }) =>
      json.verdict.reasons.map((reason) => ({ ...reason, text: `${formatPoint(values)}: ${reason.text}` })),
    ),
    ...missing.map(({ values, reason }): ReasonJson => {
      return { state: "partial", code: "not-measured", text: `${formatPoint(values)}: ${reason}` };
    }),
  ];
  return worstFirst(all);
}

/** Converts a sweep to JSON: each point has its values and the JSON of its report. */
export function toSweepJson(sweep: Sweep): SweepJson {
  const { points, missing, asked, noun } = sweep;
  const numbers = new Set(axesOf([...points, ...missing]).flatMap(({ name, isNumber }) => (isNumber ? [name] : [])));
  const toValues = (values: PointValues) =>
    Object.fromEntries(values.map(([name, value]) => [name, numbers.has(name) ? Number(value) : value]));
  return {
    version: SWEEP_VERSION,
    kind: noun ?? "sweep",
    name: points[0]?.json.name ?? "sweep",
    verdict: { ...judgeSweep(sweep), reasons: reasonsOf(sweep) },
    pointCount: asked,
    points: points.map(({ values, json }) => ({ values: toValues(values), report: json })),
    missing: missing.map(({ values, reason }) => ({ values: toValues(values), reason })),
  };
}
