import { loadModeOf } from "../../registry/load-modes.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import { withCharts } from "../model/charts/run-charts.ts";
import type { Cell, ModelTable, Note, ReportModel, Section } from "../model/report-model.ts";
import { describeParameters } from "../rampart/parameters.ts";
import type { RunSummary } from "../summary.ts";
import { type ResultTable, textOf } from "../tables/result-table.ts";
import * as sections from "./sections.ts";

/** Makes the model of a report from its summary and tables. */
export function toReportModel(report: sections.ShownReport, summary: RunSummary, notes: readonly Note[]): ReportModel {
  const make = (id: string, title: string, tables: readonly ResultTable[]): Section => ({
    id,
    title,
    isSummary: id === "levels",
    tables: tables.filter(({ rows }) => rows.length > 0).map(toModelTable),
    charts: [],
  });
  const search = make("points", "Points of the search", [sections.formatSearch(report)]);
  const model: ReportModel = {
    name: report.plan.name,
    subject: describeRun(report),
    verdict: { name: summary.verdict, headline: summary.headline, facts: [] },
    checks: summary.assertions,
    setup: [],
    notes,
    sections: [
      make("levels", "", [sections.formatLevels(report)]),
      { ...search, lines: sections.searchLines(report) },
      make("mlperf", "MLPerf", sections.formatMlperf(report)),
      make("by-run", "Each run", sections.formatCombination(report)),
      make("tokens", "Tokens", sections.formatTokens(report)),
      make("groups", "Targets and tags", sections.formatGroups(report)),
      make("load", "Load", [sections.formatLoad(report)]),
      make("stability", "Stability", [sections.formatStability(report)]),
      make("server", "Server", [sections.formatServer(report)]),
      make("extracted", "Extracted values", sections.formatExtracted(report)),
      make("sessions", "Conversations", [sections.formatSessions(report)]),
      make("errors", "Errors", sections.formatFailures(report)),
      make("client", "This client", [sections.formatClient(report)]),
    ].filter(({ tables, lines = [] }) => tables.length + lines.length > 0),
  };
  return withCharts(model, report);
}

function toModelTable({ title, header, rows }: ResultTable): ModelTable {
  const kept = header.flatMap((_, at) => (rows.some((row) => textOf(row[at]) !== "") ? [at] : []));
  return {
    title,
    columns: kept.map((at) => ({ key: String(at), title: header[at] ?? "", quantity: "text", dropOrder: at })),
    rows: rows.map((row) => kept.map((at) => toCell(row[at]))),
  };
}

function toCell(cell: ResultTable["rows"][number][number] | undefined): Cell {
  const value = textOf(cell);
  if (typeof cell !== "object") return { value };
  const text = cell.small === undefined ? value : `${value} (${cell.small})`;
  return { value: text, ...(cell.look === "bad" ? { mark: "failed" as const } : {}) };
}

function describeRun({ plan, json, runs }: sections.ShownReport): string {
  const kind = targetKindOf(plan.target);
  const version = json.model.version === "" ? "" : ` version ${json.model.version}`;
  const subject = kind.subject?.(plan.target) ?? `model ${json.model.name}${version} on ${kind.describe(plan.target)}`;
  const parameters = describeParameters(plan);
  const parts = [subject, loadModeOf(plan.load).describe(plan.load), ...(parameters === undefined ? [] : [parameters])];
  return `${parts.join(", ")}${runs.length > 1 ? `, ${runs.length} runs` : ""}`;
}
