import { metricKey } from "../../measure/metrics/metric-text.ts";
import type { Plan } from "../../plan/plan.ts";
import { countOf, formatCount } from "../../plan/units.ts";
import { inputKindOf } from "../../registry/input-kinds.ts";
import { describeLoad } from "../../registry/level-names.ts";
import { isDrawn } from "../../registry/load-modes.ts";
import { shownUnitOf } from "../../registry/mix.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { Plot } from "../plot.ts";
import { readMetric } from "../schema/read-metrics.ts";
import { type ReportJson, runsOf } from "../schema/report-schema.ts";
import { capacitySection } from "./capacity-section.ts";
import { groupCharts } from "./charts/group-charts.ts";
import { loadCharts } from "./charts/load-charts.ts";
import { latencyCurves, tokenCurves } from "./charts/percentile-charts.ts";
import { runsCharts } from "./charts/runs-charts.ts";
import { searchCharts } from "./charts/search-charts.ts";
import { serverCharts } from "./charts/server-charts.ts";
import { heatMap, timeLine, windowCharts } from "./charts/time-charts.ts";
import { checksOf } from "./checks.ts";
import {
  clientSection,
  evidenceSection,
  gpuSection,
  groupSections,
  loadSection,
  serverSection,
  timelineSection,
} from "./level-sections.ts";
import { mlperfSection } from "./mlperf-section.ts";
import type { ModelVerdict, ReportModel, Section } from "./report-model.ts";
import { countMeasured, nameLevel, type ReportView } from "./report-view.ts";
import { byRunSection, pointsSection, resultSection } from "./result-sections.ts";
import {
  failureSection,
  hostSections,
  phaseSection,
  receivedSection,
  sessionSection,
  totalsSection,
} from "./run-sections.ts";
import { singleLevel } from "./single-level.ts";
import { suitesOf } from "./suites.ts";
import { hasContent } from "./tables.ts";
import { derivedSection, extractedSection, otherSection, tokenSection } from "./value-sections.ts";
import { formatSeconds } from "./values.ts";

/** Creates the view of a report. */
export function viewReport(plan: Plan, json: ReportJson): ReportView {
  const all = runsOf(json);
  const runs = all.map((run, index) => ({ name: all.length === 1 ? "" : `run ${index + 1}`, json: run }));
  const levels = runs.flatMap(({ name: run, json: { levels: ofRun } }) =>
    ofRun.map((level) => ({ run, name: nameLevel(plan, level), json: level })),
  );
  const hasTokens = levels.some(({ json: { tokens } }) => tokens !== undefined && tokens.withContent > 0);
  const hasGaps = levels.some(({ json: { gaps } }) => gaps !== undefined);
  const hasTokenTimes = levels.some(
    ({ json: { metrics } }) => readMetric(metrics, "timeToFirstToken", "p50") !== undefined,
  );
  const limited = new Set((plan.limits ?? []).map(({ metric }) => metricKey(metric)));
  const words = { unit: shownUnitOf(plan), hasTokens, hasTokenTimes, limited, hasGaps };
  return { plan, json, runs, levels, words };
}

/** Builds the model of a report on one run of a plan, or on several. */
export function buildRunModel(plan: Plan, json: ReportJson): ReportModel {
  const view = viewReport(plan, json);
  const checks = checksOf(view);
  const verdict = verdictOf(view);
  // Lines that the verdict contains are not repeated.
  const isNew = (line: string): boolean => line === "" || !verdict.headline.startsWith(line);
  const { name, notes } = json;
  const sections = buildSections(view)
    .map((section) => ({ ...section, lines: (section.lines ?? []).filter(isNew) }))
    .filter(hasContent);
  return {
    name,
    subject: describeSubject(view),
    verdict,
    setup: describeSetup(view),
    checks,
    notes,
    sections: withCharts(sections, view),
    single: singleLevel(view),
    suites: suitesOf(view, { name, checks, notes }),
    origin: describeOrigin(json),
    plan: json.plan,
  };
}

function describeOrigin({ startedAt, machine }: ReportJson): string {
  const { cpu, cores, memoryBytes, os, architecture, runtime } = machine;
  const host = `${cpu}, ${countOf(cores, "core")}, ${formatCount(memoryBytes / 2 ** 30)} GiB, ${os} ${architecture}`;
  return `${startedAt}, ${runtime} on ${host}`;
}

/** The sections in reading order. Each receives the sections before it. A new section is one entry. */
const SECTIONS: readonly ((
  view: ReportView,
  before: readonly Section[],
) => Section | readonly Section[] | undefined)[] = [
  resultSection,
  capacitySection,
  hostSections,
  groupSections,
  sessionSection,
  derivedSection,
  extractedSection,
  failureSection,
  mlperfSection,
  pointsSection,
  byRunSection,
  phaseSection,
  tokenSection,
  evidenceSection,
  loadSection,
  serverSection,
  gpuSection,
  otherSection,
  clientSection,
  timelineSection,
  totalsSection,
  receivedSection,
];

function buildSections(view: ReportView): Section[] {
  const sections: Section[] = [];
  for (const build of SECTIONS) sections.push(...[build(view, sections) ?? []].flat());
  return sections;
}

const MOST_IN_SUMMARY = 3;

/** Charts for the section with this id. A missing section is added with this title. */
type ChartSection = Pick<Section, "id" | "title" | "charts">;

/**
 * Adds charts to sections. The first section gets the charts that answer the question, at most three charts side by side or a wide
 * one: for a search the tried loads against its limits; otherwise the times and rates of tokens over the load; throughput and
 * latency over the load; or for one level and for phases the timeline.
 */
function withCharts(written: readonly Section[], view: ReportView): Section[] {
  const { summary, sections } = drawAll(view);
  const known = new Map(sections.map((section) => [section.id, section.charts]));
  const shown = written.map((section, index) => {
    const charts = [...(index === 0 ? summary : []), ...(known.get(section.id) ?? [])];
    return { ...section, charts: [...section.charts, ...charts] };
  });
  const ids = new Set(written.map(({ id }) => id));
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
  const first = [search, overLoad, runs, line].find((plots) => plots.length > 0) ?? [];
  const summary = first.slice(0, MOST_IN_SUMMARY);
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

/** Describes the measured target: `simple, embedded target, http`. */
function describeSubject({ plan: { target, inputs }, json: { model } }: ReportView): string {
  const kind = targetKindOf(target);
  const subject = inputKindOf(inputs).subject?.(inputs);
  if (subject !== undefined) return `${subject}, ${kind.describe(target).replace(" over ", ", ")}`;
  const version = model.version === "" ? "" : ` v${model.version}`;
  return kind.subject?.(target) ?? `${model.name}${version}, ${kind.describe(target).replace(" over ", ", ")}`;
}

/** Describes the settings of the measurement: the load, the parameters, the seeds. */
function describeSetup({ plan, json }: ReportView): string[] {
  const { parameters = {}, seed = 0 } = plan;
  const all = Object.entries(parameters);
  const values = all.flatMap(([name, { value, from }]) => (from === "default" ? [] : [`${name} ${value} (${from})`]));
  const defaults = all.flatMap(([name, { value, from }]) => (from === "default" ? [`${name} ${value}`] : []));
  const seeds = runsOf(json).map((run) => run.seed ?? 0);
  return [
    describeLoad(plan),
    ...(values.length === 0 ? [] : [`parameters: ${values.join(", ")}`]),
    ...(defaults.length === 0 ? [] : [`parameters by default: ${defaults.join(", ")}`]),
    ...("runs" in json && isDrawn(plan)
      ? [`seeds of the runs: ${seeds.join(", ")}; seed ${seed} draws all of them again`]
      : []),
  ];
}

/** Returns the verdict on a report's runs. If nothing is wrong, the name is sufficient. */
function verdictOf(view: ReportView): ModelVerdict {
  const { name, headline } = view.json.verdict;
  return { name, headline: name === "passed" || name === "measured" ? "" : headline, facts: factsOf(view) };
}

/** Returns the number of measured requests and the measured time of all levels; of whole runs if there is no level. */
function factsOf({ json, runs, levels }: ReportView): string[] {
  const measured = countMeasured(levels.map((level) => level.json));
  const sent = measured > 0 ? measured : runs.reduce((sum, { json: run }) => sum + run.requests.sent, 0);
  const measuredSec = levels.reduce((sum, { json: { durationSec } }) => sum + durationSec, 0);
  return [
    ...(runs.length > 1 ? [`${runs.length} runs`] : []),
    formatSeconds(measured > 0 ? measuredSec : json.durationSec),
    countOf(sent, "request"),
  ];
}
