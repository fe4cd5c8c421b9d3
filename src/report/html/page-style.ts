import { HOLLOW } from "../plots/themes.ts";

const LIGHT =
  "color-scheme: light; --ground: #f3f5f9; --panel: #ffffff; --text: #1d2433; --faint: #5b6575; --line: #dfe4ec; --good: #1a7f4b; --bad: #c0392b; --warn: #9a6700;";
const DARK =
  "color-scheme: dark; --ground: #12161e; --panel: #1b212c; --text: #e6eaf2; --faint: #9aa5b8; --line: #303848; --good: #4cc38a; --bad: #ff7b6e; --warn: #e3b341;";

/** Style of all pages, for screens, phones and paper; light or dark by the system's setting or the button. */
export const PAGE_STYLE = `
:root { ${LIGHT} }
:root[data-theme="dark"] { ${DARK} }
@media screen and (prefers-color-scheme: dark) { :root:not([data-theme]) { ${DARK} } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1500px; padding: .8rem clamp(.7rem, 3vw, 2rem) 3rem; background: var(--ground); color: var(--text);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
header { display: flex; justify-content: space-between; align-items: start; gap: 1rem; }
h1 { font-size: 1.3rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .7rem; color: var(--faint); font-weight: 600; }
h3 { font-size: .95rem; margin: 0 0 .4rem; }
header p { margin: .15rem 0 0; color: var(--faint); overflow-wrap: anywhere; }
header button { font-size: 1.05rem; line-height: 1; width: 2.1rem; height: 2.1rem; flex: none; border: 1px solid var(--line); border-radius: 50%;
  background: var(--panel); color: var(--text); cursor: pointer; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: .7rem; margin: 1.1rem 0 0; }
dl div, figure { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
dl div { padding: .55rem .8rem; }
dt { color: var(--faint); font-size: .8rem; }
dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: .55rem .8rem; margin-bottom: .7rem; }
.panel p { margin: .15rem 0; overflow-wrap: anywhere; }
.verdict { border-left: 6px solid var(--faint); display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .8rem; margin-top: .6rem; }
.verdict b { font-size: 1.2rem; letter-spacing: .02em; }
.verdict > span { overflow-wrap: anywhere; }
.verdict.passed { border-color: var(--good); } .verdict.passed b { color: var(--good); }
.verdict.failed, .verdict.partial { border-color: var(--bad); } .verdict.failed b, .verdict.partial b { color: var(--bad); }
.verdict.unresolved { border-color: var(--warn); } .verdict.unresolved b { color: var(--warn); }
.facts { margin-left: auto; color: var(--faint); font-size: .88rem; display: flex; flex-wrap: wrap; gap: .1rem 1rem; }
.facts a { color: var(--warn); }
nav { flex-basis: 100%; display: flex; flex-wrap: wrap; gap: 0 .9rem; font-size: .82rem; }
nav a { color: var(--faint); text-decoration: none; } nav a:hover, nav a:focus { color: var(--text); text-decoration: underline; }
.checks, .notes { list-style: none; margin: 0; padding: 0; }
.checks li, .notes li { margin: .12rem 0; overflow-wrap: anywhere; }
.checks li { display: flex; gap: .6rem; } .checks b { flex: 0 0 6rem; overflow-wrap: normal; }
.checks .pass b { color: var(--good); } .checks .fail b { color: var(--bad); } .checks .unresolved b { color: var(--warn); }
.checks .measured { color: var(--faint); padding-left: .6rem; }
.notes li { padding-left: .7rem; border-left: 3px solid var(--line); }
.notes .wrong { border-color: var(--bad); } .notes .caution { border-color: var(--warn); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 520px), 1fr)); gap: .7rem; margin-bottom: .7rem; }
.cards:not(.summary) > :only-child { grid-column: 1 / -1; }
.cards.summary { grid-template-columns: repeat(auto-fit, minmax(min(100%, 350px), 1fr)); }
figure { margin: 0; padding: .5rem .5rem .4rem; min-width: 0; display: flex; flex-direction: column; }
figure.wide { grid-column: 1 / -1; }
figcaption { font-weight: 600; padding: 0 .5rem; }
figcaption, .legend { padding-bottom: .1rem; position: relative; z-index: 1; width: fit-content; max-width: calc(100% - 8rem); }
figcaption:has(+ .legend) { max-width: none; }
.chart { width: 100%; margin-top: -1.5rem; }
.still { container-type: inline-size; } .still svg { display: block; width: 100%; height: auto; } .still svg:only-child { max-width: 900px; } .still svg:not(.narrow, :only-child) { display: none; }
@container (min-width: 460px) { .still .narrow { display: none; } .still svg.middle { display: block; } }
@container (min-width: 740px) { .still svg.middle:not(:only-child) { display: none; } .still svg.broad { display: block; } }
.note { color: var(--faint); margin: .2rem .5rem 0; font-size: .8rem; } section > .note { margin: -.3rem .5rem .7rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0 .8rem; padding: 0 .5rem; min-height: 1.2rem; }
.legend button { all: unset; cursor: pointer; font-size: .78rem; color: var(--text); } .legend button:focus-visible { outline: 2px solid var(--faint); }
.legend button[aria-pressed="false"] { color: var(--faint); text-decoration: line-through; }
.legend span { font-size: .78rem; } .legend .hollow { width: .6rem; height: .6rem; border: 2px solid; border-radius: 50%; }
[data-plot] [fill="${HOLLOW}"] { fill: var(--panel); }
.legend i { display: inline-block; width: 1.1rem; border-top: 3px solid; margin-right: .35rem; vertical-align: middle; }
.scroll { overflow-x: auto; background: linear-gradient(to right, var(--panel) 30%, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(to left, var(--panel) 30%, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(to right, rgba(91,101,117,.45), transparent) left / .8rem 100% no-repeat scroll,
  linear-gradient(to left, rgba(91,101,117,.45), transparent) right / .8rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: .86rem; min-width: min(100%, 30rem); font-variant-numeric: tabular-nums; }
th { font-weight: 600; text-align: left; } thead th { color: var(--faint); vertical-align: bottom; line-height: 1.2; } tbody th { font-weight: 500; }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td, tbody th { white-space: nowrap; }
@media screen { .dense { font-size: .8rem; } .dense th, .dense td { padding-right: .45rem; } .dense td small { font-size: .7rem; } }
tbody tr:last-child > * { border-bottom: 0; }
.figure { text-align: right; }
td small { display: block; color: var(--faint); font-size: .74rem; } th small { font-weight: 400; }
td.failed, td.worse { color: var(--bad); font-weight: 600; } td.better { color: var(--good); font-weight: 600; } td.unresolved { color: var(--warn); font-weight: 600; } td.uncertain { color: var(--faint); }
td.long, th.long { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 14rem; }
pre { overflow: auto; max-height: 32rem; font-size: .8rem; margin: .6rem 0 0; }
summary { cursor: pointer; color: var(--faint); font-size: .88rem; }
footer { margin-top: 1.5rem; color: var(--faint); font-size: .85rem; }
@media (max-width: 600px) {
  .panel { padding: .55rem .6rem; } .checks b { flex-basis: auto; min-width: 2.6rem; } .checks .measured { display: block; padding: 0; }
  nav { flex-wrap: nowrap; overflow-x: auto; white-space: nowrap; }
  table { font-size: .78rem; } th, td { padding-right: .35rem; }
  tbody th:first-child { position: sticky; left: 0; background: var(--panel); padding-right: .45rem; min-width: 5rem; max-width: 40vw; white-space: normal; overflow-wrap: break-word; }
}
[data-print] body { max-width: 700px; padding: 0; } [data-print] figcaption, [data-print] .legend { max-width: none; } [data-print] .cards { grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); } [data-print] header button, [data-print] nav, [data-print] .plan { display: none; }
@page { margin: 12mm; }
@media print {
  :root { --ground: #fff; } body { max-width: none; padding: 0; font-size: 12px; } header button, nav, .plan { display: none; }
  details:not(.plan)::details-content { content-visibility: visible; display: block; block-size: auto; }
  h2, h3, figcaption, thead { break-after: avoid; } h2 { margin-top: 1rem; } tr, li, .verdict, figure { break-inside: avoid; }
  .cards, .cards.summary { grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); }
  .cards.summary > :last-child:nth-child(odd) { grid-column: 1 / -1; }
  .scroll { overflow: visible; background: none; } table { width: 100%; font-size: 9.5px; min-width: 0; }
  th, td { padding: .12rem .35rem .12rem 0; } td { white-space: normal; } td.figure { white-space: nowrap; } td small { white-space: normal; font-size: 8px; }
  td.long, th.long { min-width: 0; }
  .dense { font-size: 8px; } .dense th, .dense td { padding-right: .2rem; } .dense td small { font-size: 7px; }
}
`;
