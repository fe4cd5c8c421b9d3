import type { TimelineColumn } from "../../../measure/timeline.ts";
import type { Plan } from "../../../plan/plan.ts";
import { nsToMs, nsToSec, nsToUs } from "../../../plan/units.ts";
import { PAGE_STYLE } from "../../html/page-style.ts";
import { MEANING_COLORS } from "../../plots/themes.ts";
import { measuredSoFar } from "../level-so-far.ts";
import { formatPlace, formatWait } from "../live-text.ts";
import { type LevelTally, RECENT_NAMES, type RunSnapshot } from "../run-snapshot.ts";

/** The page that shows a running load test. It contains no data of the run; its script reads the data from `/events`. */

const LINES = ["throughput", "failed", "p50", "p99"] as const;

const STYLE = `${PAGE_STYLE}
body { max-width: 66rem; } body > p { margin: .2rem 0; color: var(--faint); } dl { margin: .6rem 0; }
progress { width: 100%; height: .8rem; accent-color: ${MEANING_COLORS.throughput}; }
.bad { color: var(--bad); } .good { color: var(--good); }
.chart { height: 190px; margin: 0; display: block; } .chart text { fill: var(--faint); font-size: 12px; } .chart line { stroke: var(--line); }
polyline { fill: none; stroke-width: 1.7; }
${LINES.map((name) => `.chart .${name} { stroke: ${MEANING_COLORS[name]}; } .legend .${name} { border-color: ${MEANING_COLORS[name]}; }`).join(" ")}
td, th { text-align: right; } tbody th, thead th:first-child, td:first-child { text-align: left; } table { width: 100%; }
`;

const SCRIPT = `
"use strict";
const byId = (id) => document.getElementById(id);
const put = (id, text, mark) => { const at = byId(id); at.textContent = text; at.className = mark || ""; };
const whole = (value) => Math.round(value).toLocaleString("en-US");
const rate = (value) => value < 100 ? value.toFixed(1) : whole(value);
const ms = (value) => value === null || value === undefined ? "–" : (value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : whole(value)) + " ms";
const us = (value) => ms(value === null || value === undefined ? null : value / 1000);
const clock = (sec) => { const s = Math.floor(sec), two = (n) => String(n).padStart(2, "0"); return (s >= 3600 ? Math.floor(s / 3600) + ":" : "") + two(Math.floor(s / 60) % 60) + ":" + two(s % 60); };
const percent = (ratio) => ratio === null ? "far more" : Number((ratio * 100).toPrecision(2)) + " %";
let history = [];
const LEFT = 64, RIGHT = 12, TOP = 10, BOTTOM = 28, HEIGHT = 190;
/* The next of 1, 2 and 5 times powers of ten. */
const nice = (value) => { const power = 10 ** Math.floor(Math.log10(value)); return [1, 2, 5, 10].find((factor) => factor * power >= value * 0.999) * power; };
function add(svg, name, attributes, text) {
  const part = document.createElementNS(svg.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
  if (text !== undefined) part.textContent = text;
  svg.append(part);
}
/* Draws lines over time with axes. A value of null breaks its line. */
function draw(id, lines, format) {
  const svg = byId(id), width = Math.max(200, svg.clientWidth);
  svg.setAttribute("viewBox", "0 0 " + width + " " + HEIGHT);
  svg.replaceChildren();
  const most = Math.max(0, ...history.flatMap((point) => lines.map(([pick]) => pick(point) ?? 0)));
  const step = nice((most || 1) / 4), top = step * Math.max(1, Math.ceil(most / step - 1e-9));
  const first = history[0]?.elapsedSec ?? 0, last = history.at(-1)?.elapsedSec ?? 1;
  const x = (sec) => LEFT + (width - LEFT - RIGHT) * (last > first ? (sec - first) / (last - first) : 0);
  const y = (value) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top;
  for (let tick = 0; tick <= top * 1.001; tick += step) {
    add(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) });
    add(svg, "text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, tick === 0 ? "0" : format(tick));
  }
  const across = nice(Math.max(1, last - first) / Math.max(2, Math.min(6, Math.floor(width / 120))));
  for (let tick = Math.ceil(first / across) * across; tick <= last; tick += across)
    add(svg, "text", { x: x(tick), y: HEIGHT - 8, "text-anchor": "middle" }, clock(tick));
  for (const [pick, name] of lines) {
    let part = [];
    const end = () => { if (part.length > 0) add(svg, "polyline", { class: name, points: part.join(" ") }); part = []; };
    for (const point of history) {
      const value = pick(point);
      if (value === null) end();
      else part.push(x(point.elapsedSec).toFixed(1) + "," + y(value).toFixed(1));
    }
    end();
  }
}
function rowOf(name, texts) {
  const row = document.createElement("tr");
  for (const text of texts) {
    const cell = document.createElement(name);
    cell.textContent = text;
    row.append(cell);
  }
  return row;
}
function redraw() {
  draw("rate", [[(point) => point.requestsPerSec, "throughput"], [(point) => point.failedPerSec, "failed"]], rate);
  draw("latency", ["p50", "p99"].map((name) => [(point) => point.latencyUs?.[name] ?? null, name]), us);
}
addEventListener("resize", redraw);
function show(state) {
  document.title = state.scenario + " – Rampart";
  put("name", state.scenario);
  put("place", state.place + (state.isFinished ? ", the run has ended" : ""));
  const bar = byId("bar");
  bar.hidden = state.doneRatio === null;
  if (state.doneRatio !== null) bar.value = state.doneRatio;
  put("time", clock(state.elapsedSec) + (state.waits !== null ? ", " + state.waits : state.leftSec === null || state.isFinished ? "" : ", about " + clock(Math.ceil(state.leftSec)) + " left"));
  put("perSec", rate(state.requestsPerSec) + "/s");
  put("completed", whole(state.completed));
  const ended = state.completed + state.failed;
  put("failed", whole(state.failed) + (state.failed > 0 ? " (" + percent(state.failed / ended) + ")" : ""), state.failed > 0 ? "bad" : "");
  put("inFlight", whole(state.inFlight));
  for (const name of ["p50", "p90", "p99", "p99.9"]) put(name, us(state.latencyUs?.[name]));
  put("firstP50", us(state.firstResponseUs?.p50));
  byId("firstTile").hidden = state.firstResponseUs === null;
  put("client", Math.round(state.cpuRatio * 100) + " % of a core");
  const w = state.windows;
  for (const name of ["windowsTile", "stableTile"]) byId(name).hidden = w === null;
  put("windows", w === null ? "none yet" : w.count + (w.atMost === null ? "" : " (at most " + w.atMost + ")"));
  put("stable", w === null || w.isStable === null ? "–" : w.isStable ? "yes" : "not yet", w && w.isStable ? "good" : "");
  put("spread", w === null || w.throughputRatio === undefined ? "" : "throughput varies " + percent(w.throughputRatio) + ", latency " + percent(w.latencyRatio));
  const hasTokens = state.levels.some(({ metrics }) => metrics.outputTokensPerSec !== undefined);
  const ofTokens = hasTokens ? ["tokens/s", "TTFT p50", "TTFT p99", "ITL p50", "ITL p99"] : [];
  byId("titles").replaceChildren(rowOf("th", ["level", "completed", "failed", ...ofTokens, ...["mean", "p50", "p99"].map((name) => (hasTokens ? "e2e " : "") + name)]));
  byId("levels").replaceChildren(...state.levels.map((level) => {
    const { outputTokensPerSec, timeToFirstTokenUs, interTokenLatencyUs, latencyUs } = level.metrics;
    const tokens = [outputTokensPerSec === undefined ? "–" : rate(outputTokensPerSec.value), ...[timeToFirstTokenUs?.p50, timeToFirstTokenUs?.p99, interTokenLatencyUs?.p50, interTokenLatencyUs?.p99].map(us)];
    const times = [latencyUs?.mean, latencyUs?.p50, latencyUs?.p99].map(us);
    return rowOf("td", [level.place, whole(level.completed), whole(level.failed), ...(hasTokens ? tokens : []), ...times]);
  }));
  redraw();
}
const events = new EventSource("/events");
let ended = false;
events.addEventListener("history", (event) => { history = JSON.parse(event.data); });
events.addEventListener("state", (event) => {
  const state = JSON.parse(event.data);
  show(state);
  if (state.isFinished) { ended = true; events.close(); }
});
events.onerror = () => { if (!ended) put("place", "no connection to the run"); };
`;

const BODY = `
<h1 id="name">Rampart</h1>
<p id="place" role="status">connecting</p>
<progress id="bar" max="1" value="0" aria-label="progress"></progress>
<p id="time"></p>
<dl>
<div><dt>requests</dt><dd id="perSec">–</dd></div>
<div><dt>completed</dt><dd id="completed">–</dd></div>
<div><dt>failed</dt><dd id="failed">–</dd></div>
<div><dt>in flight</dt><dd id="inFlight">–</dd></div>
<div><dt>latency p50</dt><dd id="p50">–</dd></div>
<div><dt>latency p90</dt><dd id="p90">–</dd></div>
<div><dt>latency p99</dt><dd id="p99">–</dd></div>
<div><dt>latency p99.9</dt><dd id="p99.9">–</dd></div>
<div id="firstTile" hidden><dt>first response p50</dt><dd id="firstP50">–</dd></div>
<div id="windowsTile"><dt>windows</dt><dd id="windows">–</dd></div>
<div id="stableTile"><dt>stable</dt><dd id="stable">–</dd></div>
<div><dt>client</dt><dd id="client">–</dd></div>
</dl>
<p id="spread"></p>
<p>These rates and percentiles are those of the last 5 seconds; the charts show the whole run.</p>
<h2>Levels so far</h2>
<div class="panel"><div class="scroll"><table><thead id="titles"></thead><tbody id="levels"></tbody></table></div></div>
<h2>Requests per second</h2>
<div class="panel"><div class="legend"><span><i class="throughput"></i>ended</span><span><i class="failed"></i>failed</span></div>
<svg id="rate" class="chart" role="img" aria-label="requests per second over time"></svg></div>
<h2>Latency</h2>
<div class="panel"><div class="legend"><span><i class="p50"></i>p50</span><span><i class="p99"></i>p99</span></div>
<svg id="latency" class="chart" role="img" aria-label="latency over time"></svg></div>
<p>Metrics for Prometheus: <a href="/metrics">/metrics</a>. This page ends with the run.</p>
`;

/** Returns the page. @param nonce nonce that its security policy allows */
export function formatWatchPage(nonce: string): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Rampart</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<link rel="icon" href="data:,"><style nonce="${nonce}">${STYLE}</style></head><body>${BODY}`,
    `<script nonce="${nonce}">${SCRIPT}</script></body></html>\n`,
  ].join("");
}

/** Returns percentiles in microseconds by name, as in reports; null if there are none. */
function toPercentiles(ns: readonly number[] | undefined, names: readonly string[] = ["p50", "p99"]) {
  return ns === undefined ? null : Object.fromEntries(names.map((name, at) => [name, nsToUs(ns[at] as number)]));
}

/** Converts a column of the run's timeline to a point of the page's charts, at its middle. */
export function toPagePoint({ startNs, endNs, requestCount, failedCount, cancelledCount, latency }: TimelineColumn) {
  const sec = nsToSec(endNs - startNs);
  return {
    elapsedSec: nsToSec((startNs + endNs) / 2),
    requestsPerSec: (requestCount + failedCount + cancelledCount) / sec,
    failedPerSec: failedCount / sec,
    latencyUs: toPercentiles(latency.quantiles([0.5, 0.99])),
  };
}

/** Converts a snapshot for the page. Names are those of the report. Null: unknown. */
export function toPageState(plan: Plan, state: RunSnapshot) {
  const { recent, progress, windows, client } = state;
  return {
    scenario: plan.name,
    place: formatPlace(state.place),
    isFinished: state.isFinished,
    elapsedSec: state.elapsedSec,
    doneRatio: progress?.doneRatio ?? null,
    leftSec: progress?.leftSec ?? null,
    waits: formatWait(state) ?? null,
    sent: state.sentCount,
    completed: state.completedCount,
    failed: state.failedCount,
    cancelled: state.cancelledCount,
    inFlight: state.outstanding,
    requestsPerSec: recent.requestsPerSec,
    chunksPerSec: recent.chunksPerSec ?? null,
    latencyUs: toPercentiles(recent.latencyNs, RECENT_NAMES),
    firstResponseUs: toPercentiles(recent.firstResponseNs, RECENT_NAMES),
    windows:
      windows === undefined
        ? null
        : {
            count: windows.count,
            atMost: windows.atMost ?? null,
            isStable: windows.isStable ?? null,
            ...(windows.spread ?? {}),
          },
    cpuRatio: client.cpuRatio,
    loopLagMaxMs: nsToMs(client.loopLagMaxNs),
    levels: state.levels.map(toLevel),
  };
}

function toLevel(level: LevelTally) {
  const { place, completedCount, failedCount } = level;
  const name = place === undefined ? "other levels" : formatPlace(place);
  return { place: name, completed: completedCount, failed: failedCount, metrics: measuredSoFar(level).metrics };
}
