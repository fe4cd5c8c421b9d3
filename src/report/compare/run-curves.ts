import { findMetric, type NamedMetric } from "../../measure/metrics/metric-names.ts";
import type { MeasuredLevel } from "../read/runs/measured-run.ts";
import type { Comparison, RunSet } from "./comparison.ts";
import { formatValue } from "./words.ts";

/** All runs of both sides over each other: latency against throughput, a line for each run. */

/** A level of a run in the drawing. */
export interface CurvePoint {
  readonly label: string;
  /** In the metrics' own units. */
  readonly x: number;
  readonly y: number;
}

/** A run in the drawing. */
export interface RunCurve {
  readonly side: "base" | "new";
  readonly source: string;
  readonly points: readonly CurvePoint[];
}

/** What is drawn. */
export interface RunCurves {
  readonly x: NamedMetric;
  readonly y: NamedMetric;
  readonly curves: readonly RunCurve[];
}

/** The latency that is drawn: the first of these that both sides have. */
const LATENCIES = ["latency.p99", "latency.p50", "latency.avg"] as const;

/** Returns the curves of all runs; undefined when a side has no throughput or no latency. */
export function runCurvesOf({ base, next }: Comparison): RunCurves | undefined {
  const x = findMetric("throughput");
  for (const name of LATENCIES) {
    const y = findMetric(name);
    if (x === undefined || y === undefined) continue;
    const [from, to] = [curvesOf("base", base, x, y), curvesOf("new", next, x, y)];
    if (from.length > 0 && to.length > 0) return { x, y, curves: [...from, ...to] };
  }
  return undefined;
}

function curvesOf(side: RunCurve["side"], { runs }: RunSet, x: NamedMetric, y: NamedMetric): RunCurve[] {
  const pointOf = ({ label, values }: MeasuredLevel): CurvePoint[] => {
    const [across, up] = [values.get(x.name)?.value, values.get(y.name)?.value];
    return across === undefined || up === undefined ? [] : [{ label, x: across, y: up }];
  };
  return runs
    .map(({ source, levels }) => ({ side, source, points: levels.flatMap(pointOf) }))
    .filter(({ points }) => points.length > 0);
}

const WIDTH = 560;
const HEIGHT = 260;
const LEFT = 64;
const RIGHT = 16;
const TOP = 12;
const BOTTOM = 40;

/** Draws the curves as SVG, which needs no script. @param escapeText escapes a text for the page */
export function drawRunCurves({ x, y, curves }: RunCurves, escapeText: (text: string) => string): string {
  const points = curves.flatMap((curve) => curve.points);
  const [mostX, mostY] = [maxOf(points.map((point) => point.x)), maxOf(points.map((point) => point.y))];
  const toX = (value: number): number => round(LEFT + ((WIDTH - LEFT - RIGHT) * value) / mostX);
  const toY = (value: number): number => round(HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / mostY);
  const lines = curves.map(({ side, source, points: own }) => {
    const path = own.map((point) => `${toX(point.x)},${toY(point.y)}`).join(" ");
    const marks = own.map((point) => {
      const text = `${source}, ${point.label}: ${formatValue(x, point.x)}, ${formatValue(y, point.y)}`;
      return `<circle cx="${toX(point.x)}" cy="${toY(point.y)}" r="3.5"><title>${escapeText(text)}</title></circle>`;
    });
    return `<g class="${side}"><polyline points="${path}"/>${marks.join("")}</g>`;
  });
  const bottom = HEIGHT - BOTTOM;
  const ticks = [
    `<text x="${LEFT}" y="${bottom + 16}" text-anchor="middle">0</text>`,
    `<text x="${WIDTH - RIGHT}" y="${bottom + 16}" text-anchor="end">${escapeText(formatValue(x, mostX))}</text>`,
    `<text x="${LEFT - 6}" y="${TOP + 10}" text-anchor="end">${escapeText(formatValue(y, mostY))}</text>`,
    `<text x="${(LEFT + WIDTH) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${escapeText(x.label)}</text>`,
    `<text x="${LEFT - 6}" y="${(TOP + bottom) / 2}" text-anchor="end">${escapeText(y.label.replace(" latency", ""))}</text>`,
  ];
  const axes = `<line x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}"/><line x1="${LEFT}" y1="${TOP}" x2="${LEFT}" y2="${bottom}"/>`;
  const label = escapeText(`${y.label} against ${x.label}, a line for each run`);
  return `<svg class="curves" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">${axes}${lines.join("")}${ticks.join("")}</svg>`;
}

function maxOf(values: readonly number[]): number {
  const most = values.reduce((all, value) => Math.max(all, value), 0);
  return most > 0 ? most : 1;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
