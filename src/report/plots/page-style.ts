/** Style of the page: one column on a phone, several on a screen; light or dark by the system's setting or the button. */
export const PAGE_STYLE = `
:root { color-scheme: light; --ground: #f3f5f9; --panel: #ffffff; --text: #1d2433; --faint: #5b6575; --line: #dfe4ec; }
:root[data-theme="dark"] { color-scheme: dark; --ground: #12161e; --panel: #1b212c; --text: #e6eaf2; --faint: #9aa5b8; --line: #303848; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1500px; padding: 1.2rem clamp(.7rem, 3vw, 2rem) 3rem; background: var(--ground); color: var(--text);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
header { display: flex; justify-content: space-between; align-items: start; gap: 1rem; }
h1 { font-size: 1.45rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .7rem; color: var(--faint); font-weight: 600; }
header p { margin: .15rem 0 0; color: var(--faint); overflow-wrap: anywhere; }
button { font-size: 1.2rem; line-height: 1; width: 2.4rem; height: 2.4rem; flex: none; border: 1px solid var(--line); border-radius: 50%;
  background: var(--panel); color: var(--text); cursor: pointer; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: .7rem; margin: 1.1rem 0 0; }
dl div, figure { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
dl div { padding: .55rem .8rem; }
dt { color: var(--faint); font-size: .8rem; }
dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 520px), 1fr)); gap: 1rem; }
figure { margin: 0; padding: .9rem .6rem .7rem; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
figcaption { font-weight: 600; padding: 0 .5rem .3rem; }
.chart { height: 360px; width: 100%; }
.note { color: var(--faint); font-size: .85rem; margin: .4rem .5rem 0; }
ul.note { padding-left: 1.2rem; }
@media print { button { display: none; } figure { break-inside: avoid; } }
`;
