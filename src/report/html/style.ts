import { PAGE_STYLE } from "../plots/page-style.ts";

/** Style of the report: that of pages with plots, with verdicts and tables. */
export const REPORT_STYLE = `${PAGE_STYLE}
:root { --good: #1a7f4b; --bad: #c0392b; --warn: #9a6700; }
:root[data-theme="dark"] { --good: #4cc38a; --bad: #ff7b6e; --warn: #e3b341; }
dl, .cards { margin-bottom: .8rem; }
h3 { font-size: .95rem; margin: 0 0 .5rem; }
nav { display: flex; flex-wrap: wrap; gap: .2rem .9rem; margin: .8rem 0 0; font-size: .88rem; }
nav a { color: var(--faint); text-decoration: none; }
nav a:hover, nav a:focus { color: var(--text); text-decoration: underline; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: .7rem .8rem; margin-bottom: .8rem; }
.verdict { border-left: 6px solid var(--faint); display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem .8rem; margin-top: 1rem; }
.verdict b { font-size: 1.25rem; letter-spacing: .02em; }
.verdict span { overflow-wrap: anywhere; }
.verdict.passed { border-color: var(--good); } .verdict.passed b { color: var(--good); }
.verdict.failed, .verdict.partial { border-color: var(--bad); } .verdict.failed b, .verdict.partial b { color: var(--bad); }
.verdict.unresolved { border-color: var(--warn); } .verdict.unresolved b { color: var(--warn); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; min-width: min(100%, 30rem); font-variant-numeric: tabular-nums; }
th { color: var(--faint); font-weight: 600; text-align: left; white-space: nowrap; }
th, td { padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; }
.figure { text-align: right; }
td small { display: block; color: var(--faint); font-size: .74rem; font-weight: 400; }
td.good { color: var(--good); } td.bad { color: var(--bad); font-weight: 600; }
td.text { white-space: normal; min-width: 8rem; }
td.wide { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 16rem; }
.answer { font-size: 1.1rem; font-weight: 600; margin: 0 0 .3rem; }
.why { margin: 0; padding-left: 1.2rem; color: var(--faint); overflow-wrap: anywhere; }
.warnings { margin: 0; padding-left: 1.2rem; }
.warnings li { margin: .25rem 0; overflow-wrap: anywhere; }
.warnings b { color: var(--warn); font-weight: 600; }
pre { overflow: auto; max-height: 32rem; font-size: .8rem; margin: .6rem 0 0; }
summary { cursor: pointer; }
footer { margin-top: 2rem; color: var(--faint); font-size: .85rem; }
`;
