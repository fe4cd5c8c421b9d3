import type { Plot } from "../../plot.ts";
import type { Section } from "../report-model.ts";
import type { ReportView } from "../report-view.ts";
import { groupCharts } from "./group-charts.ts";
import { loadCharts } from "./load-charts.ts";
import { latencyCurves, tokenCurves } from "./percentile-charts.ts";
import { runsCharts } from "./runs-charts.ts";
import { searchCharts } from "./search-charts.ts";
import { serverCharts } from "./server-charts.ts";
import { heatMap, timeLine, windowCharts } from "./time-charts.ts";

const MOST_IN_SUMMARY = 3;

/** A subject with its charts. */
interface ChartSection {
  /** Of the section that has them; where there is none, one with this title is added. */
  readonly id: string;
  readonly title: string;
  readonly charts: readonly Plot[];
}

/**
 * Adds charts to sections. The first one gets what answers the question that was asked, at most three charts side by side or a wide one: the
 * tried loads of a search against its limits; the times and rates of tokens over the load; throughput and latency over the load; or for one
 * level and for phases the time line.
 */
export function withCharts(own: readonly Section[], view: ReportView): Section[] {
  const { summary, sections } = drawAll(view);
  const known = new Map(sections.map((section) => [section.id, section.charts]));
  const shown = own.map((section, index) => {
    const charts = [...(index === 0 ? summary : []), ...(known.get(section.id) ?? [])];
    return { ...section, charts: [...section.charts, ...charts] };
  });
  const ids = new Set(own.map(({ id }) => id));
  const added = sections
    .filter(({ id, charts }) => charts.length > 0 && !ids.has(id))
    .map((section) => ({ ...section, isSummary: false, tables: [] }));
  const end = shown.findLastIndex(({ isSummary }) => isSummary) + 1;
  return [...shown.slice(0, end), ...added, ...shown.slice(end)];
}

function drawAll(view: ReportView): {
  readonly summary: readonly Plot[];
  readonly sections: readonly ChartSection[];
} {
  const { throughput, latency, knee, tokens } = loadCharts(view);
  const search = searchCharts(view);
  const runs = runsCharts(view);
  const line = timeLine(view);
  const overLoad = tokens.length > 0 ? tokens : [...throughput, ...latency, ...knee];
  const responses = [search, overLoad, runs, line].find((plots) => plots.length > 0) ?? [];
  const summary = responses.slice(0, MOST_IN_SUMMARY);
  const rest = (...plots: readonly Plot[]): readonly Plot[] => plots.filter((plot) => !summary.includes(plot));
  const sections = [
    { id: "points", title: "Points of the search", charts: rest(...search) },
    { id: "by-run", title: "Each run", charts: rest(...runs) },
    { id: "tokens", title: "Tokens", charts: rest(...tokens, ...tokenCurves(view)) },
    {
      id: "latency",
      title: "Latency and throughput",
      charts: rest(...throughput, ...latency, ...knee, ...latencyCurves(view)),
    },
    ...groupCharts(view).map(({ tag, charts }) => ({ id: `by-${tag}`, title: `By ${tag}`, charts })),
    { id: "time", title: "Over time", charts: rest(...line, ...heatMap(view), ...windowCharts(view)) },
    { id: "server", title: "Server", charts: serverCharts(view) },
  ];
  return { summary, sections };
}
