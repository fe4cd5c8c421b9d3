import { requestsToKeep } from "../../measure/limits/looks.ts";
import { metricKey, metricText } from "../../measure/metrics/metric-text.ts";
import { isUpperLimit } from "../../measure/verdict-state.ts";
import { describeLimit } from "../../measure/verdicts.ts";
import { countOf, formatCount, formatPct, msToSec, secToMs } from "../../plan/units.ts";
import { describeMs } from "../../registry/estimate-time.ts";
import { describeLevel, levelTitles } from "../../registry/level-names.ts";
import { findOver, inBaseUnit, readMetric } from "../schema/read-metrics.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { describeKnee } from "./capacity-section.ts";
import { type CombinedRow, combinedColumns } from "./level-columns.ts";
import { combinedTable, levelTable } from "./level-sections.ts";
import type { Cell, Section } from "./report-model.ts";
import { type LevelRow, levelNames, type NamedRun, ofRun, type ReportView } from "./report-view.ts";
import { answerOf, answerOverRuns } from "./search-answer.ts";
import { type ColumnSpec, column, detail, estimateCell, makeTable, summary } from "./tables.ts";
import { formatMetricValue, formatValue, quantityOfMetric } from "./values.ts";

/** The requested result: the result of a search, combined runs, or the levels. */

/** Builds the first section: the result of a search with the tried loads, combined runs, or the levels. */
export function resultSection(view: ReportView): Section {
  const { runs } = view;
  const isSearch = runs.some(({ json: { findMax } }) => findMax !== undefined);
  if (isSearch) return searchSection(view);
  const knees = runs.flatMap(({ name, json }) => {
    const line = describeKnee(view, json);
    return line === undefined ? [] : [ofRun(name, line)];
  });
  const together = combinedTable(view);
  if (together !== undefined && together.rows.length > 0)
    return { ...summary("runs"), tables: [together], lines: [...knees, ...describeVariation(view)] };
  const lines =
    "runs" in view.json && view.levels.length > 0 ? ["no run ended as planned: there is nothing to combine"] : [];
  return {
    ...summary("levels"),
    tables: view.levels.length === 0 ? [] : [levelTable(view)],
    lines: [...lines, ...knees],
  };
}

/** Builds the section with each of several runs; undefined for a single run. */
export function byRunSection(view: ReportView): Section | undefined {
  if (!("runs" in view.json) || view.levels.length === 0) return undefined;
  return detail("by-run", "Each run", [levelTable(view)]);
}

/** Describes the result of a search, over runs if there are several; undefined for other loads. */
function describeFound({ plan, json, runs }: ReportView): string | undefined {
  if (!("runs" in json)) return runs[0]?.json.findMax && answerOf(plan, runs[0].json.findMax);
  return json.combination.findMax && answerOverRuns(plan, json.combination.findMax, json.runs.length);
}

function searchSection(view: ReportView): Section {
  const { runs, levels, json } = view;
  const found = describeFound(view) ?? "";
  const tried = levels.toSorted(
    (a, b) => a.run.localeCompare(b.run, "en", { numeric: true }) || a.json.level - b.json.level,
  );
  const lines = runs.flatMap((run) => explainSearch(view, run));
  if (!("runs" in json)) {
    const tables = tried.length === 0 ? [] : [levelTable(view, tried)];
    return { ...summary("search"), lines: [found, ...lines], tables };
  }
  const { atHighest, highest } = json.combination.findMax ?? {};
  const title = levelTitles(view.plan).column;
  const load = column<CombinedRow>("level", `highest ${title}`, "number", 0, () =>
    highest === undefined ? undefined : estimateCell({ value: highest.mean, low: highest.low, high: highest.high }),
  );
  const rows = atHighest === undefined ? [] : [{ combined: atHighest }];
  const together = {
    ...makeTable("", combinedColumns(view.words, [{ ...load, unit: title }]), rows),
    showsIntervals: true,
    isOfRuns: true,
  };
  const each = runs.flatMap(({ name, json: { findMax } }) =>
    findMax === undefined ? [] : [`${name}: ${answerOf(view.plan, findMax)}`],
  );
  return { ...summary("search"), lines: [found, ...each], tables: rows.length === 0 ? [] : [together] };
}

const UNDECIDED = "could not be decided";

/** Explains the result of a search: the measured values of the limits, why the next load is not the highest, and what is undecided. */
function explainSearch({ plan, words }: ReportView, { json: { findMax, levels, error } }: NamedRun): string[] {
  if (findMax === undefined) return [];
  const { highest, next, isResolved } = findMax;
  const lines: string[] = [];
  const explain = (level: LevelJson | undefined, isWanted: (state: string) => boolean): string => {
    const { reason = "", verdicts = [] } = level?.limits ?? {};
    const values = verdicts.flatMap(({ state, measured }, index) => {
      const limit = plan.limits?.[index];
      if (!isWanted(state) || measured === undefined || limit === undefined) return [];
      const { metric } = limit;
      const value = formatMetricValue(metric, inBaseUnit(measured).value, words.unit, limit.limit);
      return [`${metricText(metric)} ${value} (limit ${describeLimit(limit, words.unit)})`];
    });
    return [reason, ...values].filter((text) => text !== "").join(", ");
  };
  const found = levels.find(({ level }) => level === highest);
  if (found !== undefined)
    lines.push(
      `  ${formatValue(readMetric(found.metrics, "throughput")?.value ?? 0, "rate")} ${words.unit}, ${explain(found, () => true)}`,
    );
  const isBetween = (level: number): boolean => level > (highest ?? 0) && level < (next ?? Number.POSITIVE_INFINITY);
  const open = levels.filter(({ level, limits }) => limits?.state === "unresolved" && isBetween(level));
  const breaks = `breaks ${plan.limits?.length === 1 ? "the limit" : "a limit"}`;
  for (const [level, word] of [
    [open.length === 1 ? open[0] : undefined, UNDECIDED],
    [levels.find(({ level }) => level === next), breaks],
  ] as const) {
    if (level === undefined) continue;
    const why = explain(level, (state) => state !== "kept");
    lines.push(`${describeLevel(plan, level.level)} ${word}${why === "" ? "" : `: ${why}`}`);
  }
  if (open.length > 1) {
    const loads = open.map(({ level }) => level);
    const [lowest, top] = [Math.min(...loads), Math.max(...loads)];
    lines.push(`${open.length} loads from ${describeLevel(plan, lowest)} to ${describeLevel(plan, top)} ${UNDECIDED}`);
  }
  if (highest !== null && next === null && isResolved)
    lines.push("it is the upper end of the search: raise that end to look for a higher one");
  if (!isResolved) {
    const isLate = open.length > 0 && open.every(({ limits }) => limits?.reason !== undefined);
    const advice = isLate ? "the client did not send the load in time" : `measure each point longer${longestOf(plan)}`;
    const cause = error?.code === "host-limit" ? error.message : advice;
    lines.push(`unresolved: ${cause}`, ...explainNeeded(plan, open));
  }
  return lines;
}

/** Describes the longest measurement of a point in a search, for users, with the front door's name of the setting. */
function longestOf({ measurement: { mode } }: ReportView["plan"]): string {
  return mode.kind === "until-resolved" ? ` than ${describeMs(mode.maxMs)}` : "";
}

/** A percentile that needs few requests. */
const CHEAP_PERCENTILE = 90;

/** Describes how many requests a percentile needs, and how long they take, if the longest measurement of a point has fewer. */
function explainNeeded(
  { limits = [], measurement: { mode } }: ReportView["plan"],
  open: readonly LevelJson[],
): string[] {
  if (mode.kind !== "until-resolved") return [];
  const most = mode.maxMs / mode.windowMs;
  const perSec = Math.max(0, ...open.map(({ completed, durationSec }) => completed / durationSec));
  const needed = (percentile: number): string => {
    const count = requestsToKeep(percentile, most);
    return `p${percentile} needs ${formatCount(count)} requests: ${describeMs(secToMs(Math.ceil(count / perSec)))}`;
  };
  const percentiles = limits.flatMap(({ metric: { statistic }, comparison }) =>
    typeof statistic === "number" && isUpperLimit(comparison) ? [statistic] : [],
  );
  const highest = Math.max(0, ...percentiles);
  if (perSec === 0 || perSec * msToSec(mode.maxMs) >= requestsToKeep(highest, most)) return [];
  const cheaper = highest > CHEAP_PERCENTILE ? `; ${needed(CHEAP_PERCENTILE)}` : "";
  return [`at ${formatValue(perSec, "rate")} req/s ${needed(highest)}${cheaper}`];
}

/** Builds the section of the points of a search with the measured value of each limit; undefined for other loads. */
export function pointsSection(view: ReportView): Section | undefined {
  const points = view.levels.filter(({ json: { limits } }) => limits !== undefined);
  if (points.length === 0) return undefined;
  const metrics = (view.plan.limits ?? []).map(({ metric }) => metric);
  const keys = metrics.map((metric) => `limit.${metricKey(metric)}`);
  const limits = metrics.map((metric, index) => {
    // A metric may have several limits.
    const key = keys.indexOf(keys[index] ?? "") === index ? (keys[index] ?? "") : `${keys[index]} (${index + 1})`;
    return column<LevelRow>(key, metricText(metric), quantityOfMetric(metric), index + 1, ({ json }) =>
      limitCell(json, index),
    );
  });
  const specs: ColumnSpec<LevelRow>[] = [
    ...levelNames(view),
    ...limits,
    column("state", "", "text", 0, ({ json }) => json.limits?.state),
    column("completed", "completed", "count", 9, ({ json }) => json.completed),
    column("why", "why", "text", 0, ({ json }) => json.limits?.reason),
  ];
  const rows = points.toSorted((a, b) => a.json.level - b.json.level);
  return detail("points", "Points of the search", [{ ...makeTable("", specs, rows), showsIntervals: true }]);
}

function limitCell({ limits }: LevelJson, index: number): Cell | undefined {
  const { measured, state } = limits?.verdicts[index] ?? {};
  if (measured === undefined) return undefined;
  const { value, low, high } = inBaseUnit(measured);
  const cell = low === high ? { value } : estimateCell({ value, low, high });
  return state === "kept" ? cell : { ...cell, mark: "failed" };
}

/** Above this ratio, a single run is not reliable. */
const MUCH_BETWEEN = 2;

/** Describes the variation between runs, compared with that within each run; and the requested precision. */
function describeVariation({ plan, json }: ReportView): string[] {
  if (!("runs" in json)) return [];
  const { combination, repeat, runs } = json;
  const ratios = combination.levels.flatMap(({ metrics }) =>
    (["mean", "p50", "p90", "p99"] as const).flatMap(
      (statistic) => findOver(metrics, "latency", statistic)?.betweenToWithinRatio ?? [],
    ),
  );
  const much = ratios.some((ratio) => ratio > MUCH_BETWEEN)
    ? ["runs differ by more than one run can show: trust the runs together, not a single one"]
    : [];
  const until = plan.repeat?.until;
  if (until === undefined || repeat.until === undefined) return much;
  const reached = repeat.until.reachedRatio;
  const found = typeof reached === "number" ? `within ${formatPct(reached)}` : "not known";
  const text = `${metricText(until.metric)} is ${found} of its mean after ${countOf(runs.length, "run")}; ${formatPct(until.ratio)} was asked for`;
  return [...much, text];
}
