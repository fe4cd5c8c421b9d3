import { maskSecrets } from "../../plan/secrets.ts";
import { formatCount } from "../../plan/units.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { VerdictName } from "../model/report-model.ts";
import { escapeHtml, formatCards, formatLeftOut, formatScripts, POLICY } from "../plots/page.ts";
import { joinPlots, type PlotSet } from "../plots/plot.ts";
import { describeParameters } from "../rampart/parameters.ts";
import { VERDICT_WORDS } from "../rampart/verdicts-table.ts";
import type { RunSummary } from "../summary.ts";
import { VERSION } from "../version.ts";
import { formatFacts } from "./facts.ts";
import { groupPlots, TAG_GROUP } from "./group-charts.ts";
import { LOAD_GROUP, loadPlots } from "./load-charts.ts";
import { RUNS_GROUP, runsPlots } from "./runs-charts.ts";
import { SEARCH_GROUP, searchPlots } from "./search-charts.ts";
import {
  formatClient,
  formatCombination,
  formatExtracted,
  formatFailures,
  formatGroups,
  formatLevels,
  formatLoad,
  formatMlperf,
  formatSearch,
  formatServer,
  formatSessions,
  formatStability,
  formatTokens,
} from "./sections.ts";

import { SERVER_GROUP, serverPlots } from "./server-charts.ts";
import type { ShownReport } from "./shown-run.ts";
import { REPORT_STYLE } from "./style.ts";
import { formatPanel, formatSection, formatTable } from "./tables.ts";
import { TIME_GROUP, timePlots } from "./time-charts.ts";
import { TOKEN_GROUP, tokenPlots } from "./token-charts.ts";

/** The report as one HTML file that works without network, server or other files. */

const LOOKS = { pass: "good", fail: "bad", unresolved: "text" } as const;
const HEADINGS: Readonly<Record<VerdictName, string>> = {
  failed: "FAILED",
  partial: "PARTIAL",
  unresolved: "UNRESOLVED",
  passed: "PASSED",
  measured: "MEASURED",
};

/** Returns the charts of a report. */
export function chartsOf(report: ShownReport): PlotSet {
  return joinPlots([
    searchPlots(report),
    runsPlots(report),
    loadPlots(report),
    groupPlots(report),
    timePlots(report),
    serverPlots(report),
    tokenPlots(report),
  ]);
}

/** Formats the page, without secrets. @param library ECharts' code */
export function formatReportPage(report: ShownReport, summary: RunSummary, library: string): string {
  const { plan, json } = report;
  const { plots, leftOut } = chartsOf(report);
  const title = `${plan.name}: ${HEADINGS[summary.verdict].toLowerCase()}`;
  const cards = (group: string): string => formatCards(plots, group);
  const sections = [
    formatSection("summary", "Summary", formatSummary(report, summary)),
    formatSection("search", SEARCH_GROUP, `${formatSearch(report)}${cards(SEARCH_GROUP)}`),
    formatSection("mlperf", "MLPerf", formatMlperf(report)),
    formatSection("runs", RUNS_GROUP, `${formatCombination(report)}${cards(RUNS_GROUP)}`),
    formatSection("levels", "Results by level", formatLevels(report)),
    formatSection("load", "Load", formatLoad(report)),
    formatSection("latency", LOAD_GROUP, cards(LOAD_GROUP)),
    formatSection("groups", TAG_GROUP, `${cards(TAG_GROUP)}${formatGroups(report)}`),
    formatSection("time", TIME_GROUP, cards(TIME_GROUP)),
    formatSection("stability", "Stability", formatStability(report)),
    formatSection("server", SERVER_GROUP, `${cards(SERVER_GROUP)}${formatServer(report)}`),
    formatSection("tokens", TOKEN_GROUP, `${cards(TOKEN_GROUP)}${formatTokens(report)}`),
    formatSection("extracted", "Extracted values", formatExtracted(report)),
    formatSection("sessions", "Conversations", formatSessions(report)),
    formatSection("errors", "Errors", formatFailures(report)),
    formatSection("client", "This client", formatClient(report)),
    formatSection("machine", "Machine and plan", formatMachine(report)),
    formatLeftOut(leftOut),
  ].filter((section) => section !== "");
  const mask = (text: string): string => maskSecrets(escapeHtml(text));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${mask(title)}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<header>
<div><h1>${mask(plan.name)}</h1><p>${mask(describeRun(report))}</p></div>
<button id="theme" type="button" aria-label="Light or dark">◐</button>
</header>
<div class="panel verdict ${summary.verdict}"><b>${HEADINGS[summary.verdict]}</b><span>${mask(summary.headline)}</span></div>
${formatLinks(sections)}
<noscript><p class="note">The charts need JavaScript, which is off. The tables have the same numbers.</p></noscript>
<main>
${maskSecrets(sections.join("\n"))}
</main>
<footer>Rampart ${escapeHtml(VERSION)}, ${escapeHtml(json.startedAt)}</footer>
${formatScripts(plots, library)}
</body>
</html>
`;
}

function describeRun({ plan, json, runs }: ShownReport): string {
  const kind = targetKindOf(plan.target);
  const version = json.model.version === "" ? "" : ` version ${json.model.version}`;
  const subject = kind.subject?.(plan.target) ?? `model ${json.model.name}${version} on ${kind.describe(plan.target)}`;
  const parameters = describeParameters(plan);
  const parts = [subject, loadModeOf(plan.load).describe(plan.load), ...(parameters === undefined ? [] : [parameters])];
  return `${parts.join(", ")}${runs.length > 1 ? `, ${runs.length} runs` : ""}`;
}

function formatLinks(sections: readonly string[]): string {
  const links = sections.flatMap((section) => {
    const [, id, title] = /^<section id="([^"]+)"><h2>([^<]+)</.exec(section) ?? [];
    return id === undefined ? [] : [`<a href="#${id}">${title}</a>`];
  });
  return `<nav>${links.join("")}</nav>`;
}

function formatSummary(report: ShownReport, { assertions, warnings }: RunSummary): string {
  const rows = assertions.map(({ state, text, measured }) => [
    { text: VERDICT_WORDS[state], look: LOOKS[state] },
    { text, look: "text" } as const,
    { text: measured, look: "text" } as const,
  ]);
  const verdicts = rows.length === 0 ? "" : formatPanel(formatTable(["", "assertion", "measured"], rows), "Assertions");
  const items = warnings.map(
    ({ level, text }) => `<li>${level === undefined ? "" : `<b>${escapeHtml(level)}:</b> `}${escapeHtml(text)}</li>`,
  );
  const warned =
    items.length === 0 ? "" : formatPanel(`<ul class="warnings">${items.join("")}</ul>`, `Warnings (${items.length})`);
  return `${formatFacts(report)}\n${verdicts}${warned}`;
}

function formatMachine({ json, plan }: ShownReport): string {
  const { machine } = json;
  const rows =
    machine === undefined
      ? []
      : [
          ["processor", machine.cpu],
          ["cores", String(machine.cores)],
          ["memory", `${formatCount(machine.memoryBytes / 2 ** 30)} GiB`],
          ["system", `${machine.os}, ${machine.architecture}`],
          ["runtime", machine.runtime],
          ["Rampart", machine.rampart],
          ["client", plan.client.kind === "own" ? "own" : plan.client.kind],
        ];
  const table = rows.length === 0 ? "" : formatPanel(formatTable(["machine", ""], rows));
  const text = escapeHtml(JSON.stringify(json.plan, null, 2));
  return `${table}<details class="panel"><summary>The plan as JSON</summary><pre>${text}</pre></details>`;
}
