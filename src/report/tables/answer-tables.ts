import { formatMetric, metricText } from "../../measure/metrics/metric-text.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount } from "../../plan/units.ts";
import type { RunResult } from "../../result/run-result.ts";
import { inPlanUnit } from "../json/values.ts";
import { formatRange } from "../rampart/confidence-notes.ts";
import { mlperfRows } from "../rampart/mlperf.ts";
import type { NamedLevel, ResultTable, TableCell } from "./result-table.ts";

/** Tables of answers: a search for the highest load, an MLPerf scenario, conversations, and wrong answers of servers. */

/** Names of the states of limits, and of points of a search. */
export const LIMIT_STATES = {
  kept: { text: "keeps the limits", look: "good" },
  broken: { text: "breaks a limit", look: "bad" },
  unresolved: { text: "unresolved", look: "bad" },
} as const;

/** Makes the table of the points of a search, by load; without rows when the load is no search. @param unit of throughput */
export function searchTable({ limits = [] }: Plan, levels: readonly NamedLevel[], unit: string): ResultTable {
  const points = levels.filter(({ json }) => json.limits !== undefined).toSorted((a, b) => a.json.level - b.json.level);
  const rows = points.map(({ name, json }): TableCell[] => [
    name,
    LIMIT_STATES[json.limits?.state ?? "unresolved"],
    ...limits.map(({ metric }, index): TableCell => {
      const verdict = json.limits?.verdicts[index];
      if (verdict?.measured === undefined) return "-";
      const format = (value: number): string => formatMetric(metric, value, unit);
      const { value, low, high } = inPlanUnit(verdict.measured);
      const ends =
        low === high && low !== null
          ? ""
          : formatRange(low === null ? "no bound" : format(low), high === null ? "no bound" : format(high));
      const text = format(value);
      const cell = verdict.state === "kept" ? { text } : { text, look: "bad" as const };
      return ends === "" ? cell : { ...cell, small: ends };
    }),
    formatCount(json.requests),
    { text: json.limits?.reason ?? "", look: "text" },
  ]);
  const header = ["load", "", ...limits.map(({ metric }) => metricText(metric)), "requests", "why"];
  return { title: "Points of the search", header, rows };
}

/** Makes the table of an MLPerf scenario for each level that has one. */
export function mlperfTables(
  levels: readonly { readonly name: string; readonly result: RunResult["levels"][number] }[],
) {
  return levels.flatMap(({ name, result: { mlperf } }): ResultTable[] => {
    if (mlperf === undefined) return [];
    const [verdict, ...rest] = mlperfRows(mlperf);
    const first: TableCell[] = [
      verdict?.[0] ?? "",
      { text: verdict?.[1] ?? "", look: mlperf.isValid ? "good" : "bad" },
    ];
    const rows = [first, ...rest.map(([what = "", value = ""]): TableCell[] => [what, { text: value, look: "text" }])];
    const run = levels.length > 1 ? `, ${name}` : "";
    return [{ title: `MLPerf ${mlperf.scenario}${run}`, header: ["", ""], rows }];
  });
}

/** Makes the table of conversations; without rows when the load has none. @param names of the runs */
export function sessionTable(runs: readonly { readonly name: string; readonly result: RunResult }[]): ResultTable {
  const rows = runs.flatMap(({ name, result: { sessions } }): TableCell[][] =>
    sessions === undefined
      ? []
      : [
          [
            name,
            formatCount(sessions.sessionCount),
            sessions.cutCount === 0 ? "0" : { text: formatCount(sessions.cutCount), look: "bad" },
            formatCount(sessions.unsentCount),
            { text: sessions.unreadReason ?? "", look: "text" },
          ],
        ],
  );
  const header = ["run", "conversations", "cut short", "turns not sent", "first answer that could not be continued"];
  return { title: "Conversations", header, rows };
}

/** Makes the table of the first answers that the scenario's check refused; without rows when there are none. */
export function wrongAnswerTable(runs: readonly { readonly name: string; readonly result: RunResult }[]): ResultTable {
  const rows = runs.flatMap(({ name, result: { failures } }) =>
    failures
      .flatMap(({ answers = [] }) => answers)
      .map(({ reason, answer }): TableCell[] => [
        name,
        { text: reason, look: "text" },
        { text: answer === "" ? "(an empty answer)" : answer, look: "wide" },
      ]),
  );
  return { title: "The first answers that check refused", header: ["run", "reason", "answer"], rows };
}
