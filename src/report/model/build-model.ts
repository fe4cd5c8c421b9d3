import type { Plan } from "../../plan/plan.ts";
import { formatCount } from "../../plan/units.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { isDrawn } from "../../registry/plan-of-run.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import { type ReportJson, runsOf } from "../schema/report-schema.ts";
import { capacitySection } from "./capacity-section.ts";
import { withCharts } from "./charts/run-charts.ts";
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
import { type ReportView, viewReport } from "./report-view.ts";
import {
  byRunSections,
  failureSection,
  hostSections,
  phaseSection,
  pointsSection,
  receivedSection,
  responseSection,
  sessionSection,
  totalsSection,
} from "./run-sections.ts";
import { singleLevel } from "./single-level.ts";
import { suitesOf } from "./suites.ts";
import { hasContent } from "./tables.ts";
import { derivedSection, extractedSection, otherSection, tokenSection } from "./value-sections.ts";
import { formatSeconds } from "./values.ts";

/** Builds the model of a report on one run of a plan, or on several. */
export function buildRunModel(plan: Plan, json: ReportJson): ReportModel {
  const view = viewReport(plan, json);
  const checks = checksOf(view);
  const verdict = verdictOf(view);
  // What the verdict says is not said again.
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
  const host = `${cpu}, ${cores} cores, ${formatCount(memoryBytes / 2 ** 30)} GiB, ${os} ${architecture}`;
  return `${startedAt}, ${runtime} on ${host}`;
}

/** The sections in reading order, each made with those before it. A new section is one entry. */
const SECTIONS: readonly ((
  view: ReportView,
  before: readonly Section[],
) => Section | readonly Section[] | undefined)[] = [
  responseSection,
  capacitySection,
  hostSections,
  groupSections,
  sessionSection,
  derivedSection,
  extractedSection,
  failureSection,
  mlperfSection,
  pointsSection,
  byRunSections,
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

/** Describes what was measured: `simple, embedded target, http`. */
function describeSubject({ plan: { target }, json: { model } }: ReportView): string {
  const kind = targetKindOf(target);
  const version = model.version === "" ? "" : ` v${model.version}`;
  return kind.subject?.(target) ?? `${model.name}${version}, ${kind.describe(target).replace(" over ", ", ")}`;
}

/** Describes how it was measured: the load, the parameters, the seeds. */
function describeSetup({ plan, json }: ReportView): string[] {
  const { parameters = {}, seed = 0 } = plan;
  const all = Object.entries(parameters);
  const values = all.flatMap(([name, { value, from }]) => (from === "default" ? [] : [`${name} ${value} (${from})`]));
  const defaults = all.flatMap(([name, { value, from }]) => (from === "default" ? [`${name} ${value}`] : []));
  const seeds = runsOf(json).map((run) => run.seed ?? 0);
  return [
    loadModeOf(plan.load).describe(plan.load),
    ...(values.length === 0 ? [] : [`parameters: ${values.join(", ")}`]),
    ...(defaults.length === 0 ? [] : [`parameters by default: ${defaults.join(", ")}`]),
    ...("runs" in json && isDrawn(plan)
      ? [`seeds of the runs: ${seeds.join(", ")}; seed ${seed} draws all of them again`]
      : []),
  ];
}

/** Returns how a report's runs ended. Where nothing is wrong, the name says all. */
function verdictOf(view: ReportView): ModelVerdict {
  const { name, headline } = view.json.verdict;
  return { name, headline: name === "passed" || name === "measured" ? "" : headline, facts: factsOf(view) };
}

function factsOf({ json, runs, levels }: ReportView): string[] {
  const measured = levels.reduce((sum, { json: { requests, failed } }) => sum + requests + failed, 0);
  const sent = measured > 0 ? measured : runs.reduce((sum, { json: run }) => sum + run.requests.sent, 0);
  return [
    ...(runs.length > 1 ? [`${runs.length} runs`] : []),
    formatSeconds(json.durationSec),
    `${formatCount(sent)} ${sent === 1 ? "request" : "requests"}`,
  ];
}
