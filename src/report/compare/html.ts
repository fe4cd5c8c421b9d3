import type { Change } from "../../measure/compare/change.ts";
import { noneOf } from "../../measure/compare/verdict.ts";
import type { Comparison, MetricComparison } from "./comparison.ts";
import {
  COMPARISON_COLUMNS,
  type ComparedSides,
  comparisonCells,
  describeDifferences,
  describeRest,
  describeWarnings,
} from "./console.ts";
import { drawRunCurves, runCurvesOf } from "./run-curves.ts";
import {
  CONFIDENCE_NOTE,
  describeLimitVerdict,
  describeNeeds,
  describeSide,
  describeTooFewRuns,
  formatChange,
  formatInterval,
  nameLimitState,
  shownMetrics,
  summarizeVerdicts,
} from "./words.ts";

/** Formats comparisons as one HTML page that needs no other file and no network, in light and dark. */
export function formatHtml(sides: readonly ComparedSides[]): string {
  const title = sides.map(({ comparison }) => comparison.next.name).join(", ");
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(`Comparison: ${title}`)}</title>`,
    `<style>${STYLE}</style>`,
    "</head>",
    "<body>",
    "<h1>Comparison</h1>",
    ...sides.map(formatSides),
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --faint: #59636e; --line: #d0d7de; --page: #fff; --worse: #b42318; --better: #116329; --bar: #0a58ca; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --faint: #9198a1; --line: #3d444d; --page: #0d1117; --worse: #ff8a80; --better: #7ee787; --bar: #79b8ff; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 1.5rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; margin-bottom: .3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:nth-child(1), td:nth-child(1), th:nth-child(2), td:nth-child(2) { text-align: left; }
th { color: var(--faint); font-weight: 600; }
.worse, .broken { color: var(--worse); font-weight: 600; } .better, .kept { color: var(--better); font-weight: 600; }
li span { font-weight: 600; } .note { color: var(--faint); } svg { display: block; } svg line { stroke: var(--faint); } svg rect { fill: var(--bar); opacity: .45; } svg circle { fill: var(--bar); }
.curves { width: 100%; max-width: 40rem; height: auto; } .curves text { fill: var(--faint); font-size: 12px; }
.curves polyline { fill: none; stroke: var(--bar); stroke-width: 1.4; } .curves .base polyline { stroke: var(--faint); stroke-dasharray: 5 4; } .curves .base circle { fill: var(--faint); }
.key { display: inline-block; width: 1.4rem; border-top: 2px solid var(--bar); margin: 0 .35rem .25rem 0; } .key.base { border-top: 2px dashed var(--faint); } .key.new { margin-left: .7rem; }
`;

function formatSides({ comparison, limits, isAll }: ComparedSides): string {
  const { base, next, levels } = comparison;
  const named = new Set(limits.map(({ limit }) => limit.metric.name));
  const shown = levels.map((level) => shownMetrics(level, named, isAll));
  const [title, ...differences] = describeDifferences(comparison);
  const verdicts = limits.map(
    (one) =>
      `<li><span class="${one.state}">${escapeHtml(nameLimitState(one.state))}</span> ${escapeHtml(describeLimitVerdict(one))}</li>`,
  );
  return [
    "<section>",
    `<h2>${escapeHtml(describeSide(next))} against ${escapeHtml(describeSide(base))}</h2>`,
    `<p><strong>${escapeHtml(summarizeVerdicts(shown.flat()))}</strong></p>`,
    ...(verdicts.length === 0 ? [] : [`<ul>${verdicts.join("")}</ul>`]),
    ...(title === undefined
      ? []
      : [
          `<p>${escapeHtml(title)}</p><ul>${differences.map((one) => `<li>${escapeHtml(one.trim())}</li>`).join("")}</ul>`,
        ]),
    ...describeWarnings(comparison).map(formatNote),
    ...formatCurves(comparison),
    ...levels.map((level, index) => formatLevel(level.label, shown[index] ?? [])),
    ...describeRest(comparison).map(formatNote),
    ...(describeTooFewRuns(comparison) === undefined ? [formatNote(CONFIDENCE_NOTE)] : []),
    "</section>",
  ].join("\n");
}

/** Formats all runs over each other; nothing for files without latency and throughput. */
function formatCurves(comparison: Comparison): string[] {
  const curves = runCurvesOf(comparison);
  if (curves === undefined) return [];
  const legend = `<p class="note"><span class="key base"></span>base <span class="key new"></span>new; a line for each run, a point for each level</p>`;
  return [`<h3>All runs over each other</h3>`, drawRunCurves(curves, escapeHtml), legend];
}

function formatNote(text: string): string {
  return `<p class="note">${escapeHtml(text)}</p>`;
}

/** The verdict is next to the metric, so that a phone shows it too. Undefined is the drawing. */
const COLUMNS = ["metric", "verdict", "change", "95 % interval", undefined, "base", "new"] as const;

/** Formats a level; empty without a metric that both sides have. */
function formatLevel(label: string, metrics: readonly MetricComparison[]): string {
  if (metrics.length === 0) return "";
  const reach = reachOf(metrics);
  const titles = COLUMNS.map((name) => name ?? "");
  const rows = metrics.map((metric) => {
    const cells = comparisonCells(metric);
    const data = COLUMNS.map((name) => {
      if (name === undefined) return `<td>${drawInterval(metric.change, reach)}</td>`;
      const kind = name === "verdict" ? ` class="${metric.verdict}"` : "";
      return `<td${kind}>${escapeHtml(cells[COMPARISON_COLUMNS.indexOf(name)] ?? "")}</td>`;
    });
    return `<tr>${data.join("")}</tr>`;
  });
  return [
    `<h3>${escapeHtml(label)}</h3>`,
    `<div class="scroll"><table><thead><tr>${titles.map((title) => `<th>${title}</th>`).join("")}</tr></thead>`,
    `<tbody>${rows.join("\n")}</tbody></table></div>`,
    ...describeNeeds(metrics).map(formatNote),
  ].join("\n");
}

const WIDTH = 160;
const HEIGHT = 16;
/** The axis shows at least 5 % and at most 100 % to each side. */
const LEAST_REACH = 0.05;
const MOST_REACH = 1;

/** Returns how far the axis of a table reaches to each side of no change. */
function reachOf(metrics: readonly MetricComparison[]): number {
  const ends = metrics.flatMap(({ change }) =>
    [change.value, change.low, change.high].flatMap((end) => (end === null ? [] : [Math.abs(end - noneOf(change))])),
  );
  return Math.min(MOST_REACH, Math.max(LEAST_REACH, ...ends));
}

/** Draws a change and its interval around the line of no change. What is further away ends at the edge. */
function drawInterval(change: Change, reach: number): string {
  const { value, low, high } = change;
  if (value === null) return "";
  const toX = (end: number): number => {
    const part = Math.max(-1, Math.min(1, (end - noneOf(change)) / reach));
    return Math.round((WIDTH / 2) * (1 + part) * 10) / 10;
  };
  const [from, to] = [low === null ? undefined : toX(low), high === null ? WIDTH : toX(high)];
  const width = from === undefined ? 0 : Math.max(1, to - from);
  const bar = from === undefined ? "" : `<rect x="${from}" y="4" width="${width}" height="8"/>`;
  const label = escapeHtml(`${formatChange(change)} ${formatInterval(change)}`.trim());
  return `<svg width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${label}"><line x1="${WIDTH / 2}" y1="0" x2="${WIDTH / 2}" y2="${HEIGHT}"/>${bar}<circle cx="${toX(value)}" cy="8" r="3"/></svg>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? "");
}
