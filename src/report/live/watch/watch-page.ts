/** The page that shows a running load test. It contains nothing of the run, which its script reads from `/events`. */

const STYLE = `
:root { color-scheme: light dark; --back: #ffffff; --text: #1c2024; --dim: #5b636b; --line: #d8dce0; --one: #0b66c3; --two: #b4430a; --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --back: #15181b; --text: #e6e8ea; --dim: #9aa3ab; --line: #343a40; --one: #6cb2ff; --two: #ff9d5c; --bad: #ff8a80; --good: #5fd07a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--back); color: var(--text); font: 16px/1.4 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
p { margin: .2rem 0; color: var(--dim); }
progress { width: 100%; height: .8rem; accent-color: var(--one); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .6rem; margin: 1rem 0; }
dl div { border: 1px solid var(--line); border-radius: .4rem; padding: .4rem .6rem; }
dt { color: var(--dim); font-size: .85rem; }
dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
.bad { color: var(--bad); } .good { color: var(--good); }
svg { display: block; width: 100%; height: 10rem; border: 1px solid var(--line); border-radius: .4rem; }
polyline { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.one { stroke: var(--one); } .two { stroke: var(--two); }
.key-one { color: var(--one); } .key-two { color: var(--two); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .2rem .4rem; border-bottom: 1px solid var(--line); } th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; }
`;

const SCRIPT = `
"use strict";
const byId = (id) => document.getElementById(id);
const put = (id, text, mark) => { const at = byId(id); at.textContent = text; at.className = mark || ""; };
const whole = (value) => Math.round(value).toLocaleString("en-US");
const rate = (value) => value < 100 ? value.toFixed(1) : whole(value);
const ms = (value) => value === null || value === undefined ? "–" : (value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : whole(value)) + " ms";
const clock = (sec) => { const s = Math.floor(sec), two = (n) => String(n).padStart(2, "0"); return (s >= 3600 ? Math.floor(s / 3600) + ":" : "") + two(Math.floor(s / 60) % 60) + ":" + two(s % 60); };
const percent = (ratio) => ratio === null ? "far more" : Number((ratio * 100).toPrecision(2)) + " %";
let history = [];
function draw(id, names) {
  const most = Math.max(1e-9, ...history.flatMap((point) => names.map(([name]) => point[name] || 0)));
  const last = history.length - 1;
  for (const [name, line] of names)
    byId(line).setAttribute("points", history.map((point, i) => (last < 1 ? 0 : i / last * 1000) + "," + (100 - (point[name] || 0) / most * 96)).join(" "));
  put(id + "-most", "highest " + (id === "rate" ? rate(most) + "/s" : ms(most)));
}
function show(state) {
  document.title = state.scenario + " – Rampart";
  put("name", state.scenario);
  put("place", state.place + (state.isFinished ? ", the run has ended" : ""));
  const bar = byId("bar");
  bar.hidden = state.doneRatio === null;
  if (state.doneRatio !== null) bar.value = state.doneRatio;
  put("time", clock(state.elapsedSec) + (state.leftSec === null || state.isFinished ? "" : ", about " + clock(Math.ceil(state.leftSec)) + " left"));
  put("perSec", rate(state.requestsPerSec) + "/s");
  put("completed", whole(state.completed));
  put("failed", whole(state.failed), state.failed > 0 ? "bad" : "");
  put("inFlight", whole(state.inFlight));
  for (const name of ["p50", "p90", "p99", "p999"]) put(name, ms(state[name + "Ms"]));
  put("firstP50", ms(state.firstP50Ms));
  byId("firstTile").hidden = !state.isStreaming;
  put("client", Math.round(state.cpuRatio * 100) + " % of a core");
  const w = state.windows;
  put("windows", w === null ? "none yet" : w.count + (w.atMost === null ? "" : " (at most " + w.atMost + ")"));
  put("stable", w === null || w.isStable === null ? "–" : w.isStable ? "yes" : "not yet", w && w.isStable ? "good" : "");
  put("spread", w === null || w.throughputRatio === undefined ? "" : "throughput varies " + percent(w.throughputRatio) + ", latency " + percent(w.latencyRatio));
  const rows = byId("levels");
  rows.replaceChildren(...state.levels.map((level) => {
    const row = document.createElement("tr");
    for (const text of [level.place, whole(level.completed), whole(level.failed), ms(level.meanMs), ms(level.p50Ms), ms(level.p99Ms)]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  }));
  draw("rate", [["requestsPerSec", "rateLine"]]);
  draw("latency", [["p50Ms", "p50Line"], ["p99Ms", "p99Line"]]);
}
const events = new EventSource("/events");
let ended = false;
events.addEventListener("history", (event) => { history = JSON.parse(event.data); });
events.addEventListener("state", (event) => {
  const state = JSON.parse(event.data);
  history.push(state);
  if (history.length > 600) history.shift();
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
<div><dt>p90</dt><dd id="p90">–</dd></div>
<div><dt>p99</dt><dd id="p99">–</dd></div>
<div><dt>p99.9</dt><dd id="p999">–</dd></div>
<div id="firstTile" hidden><dt>first response p50</dt><dd id="firstP50">–</dd></div>
<div><dt>windows</dt><dd id="windows">–</dd></div>
<div><dt>stable</dt><dd id="stable">–</dd></div>
<div><dt>client</dt><dd id="client">–</dd></div>
</dl>
<p id="spread"></p>
<p>Rates and percentiles are those of the last 5 seconds.</p>
<h2>Requests per second</h2>
<svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="requests per second over time"><polyline id="rateLine" class="one" points=""/></svg>
<p id="rate-most"></p>
<h2>Latency: <span class="key-one">p50</span>, <span class="key-two">p99</span></h2>
<svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="latency over time"><polyline id="p50Line" class="one" points=""/><polyline id="p99Line" class="two" points=""/></svg>
<p id="latency-most"></p>
<h2>Levels so far</h2>
<div class="wide"><table><thead><tr><th>level</th><th>completed</th><th>failed</th><th>mean</th><th>p50</th><th>p99</th></tr></thead><tbody id="levels"></tbody></table></div>
<p>Metrics for Prometheus: <a href="/metrics">/metrics</a>. This page ends with the run.</p>
`;

/** Returns the page. @param nonce that its security policy allows */
export function formatWatchPage(nonce: string): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Rampart</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<link rel="icon" href="data:,"><style nonce="${nonce}">${STYLE}</style></head><body>${BODY}`,
    `<script nonce="${nonce}">${SCRIPT}</script></body></html>\n`,
  ].join("");
}
