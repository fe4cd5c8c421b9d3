import { wrapWords } from "../../plan/terminal-text.ts";

/** Conversion of Markdown to plain text for a terminal, for the subset of Markdown in the guides. */

/** Layout of the text. */
export interface MarkdownLayout {
  /** Width of a line. Code is not wrapped. */
  readonly columns: number;
  /** Returns the text to print after a link's text; empty for none. */
  describeLink(target: string): string;
}

const CODE_INDENT = "    ";
const COLUMN_GAP = "  ";
const UNBROKEN_BLANK = "\u00a0";
/** Maximum number of characters of code that is not broken into lines. */
const MAX_UNBROKEN = 24;

/** A picture that is a separate paragraph, which a terminal cannot show. */
const PICTURE = /^!\[[^\]]*\]\([^)]*\)$/;

/** Formats a text: headings are underlined, paragraphs and cells of tables are wrapped, comments and pictures are left out. */
export function formatMarkdown(text: string, layout: MarkdownLayout): string {
  const blocks = splitBlocks(text.replace(/<!--[\s\S]*?-->\n*/g, "")).filter(([first = ""]) => !PICTURE.test(first));
  const lines = blocks.map((block) => formatBlock(block, layout)).join("\n\n");
  return `${lines.replaceAll(UNBROKEN_BLANK, " ")}\n`;
}

/** Splits a text into blocks of lines: a code block with its fences, a table, a list, a heading or a paragraph. */
function splitBlocks(text: string): string[][] {
  const blocks: string[][] = [];
  let block: string[] = [];
  const end = (): void => {
    if (block.length > 0) blocks.push(block);
    block = [];
  };
  for (const line of text.split("\n")) {
    const isInCode = block[0]?.startsWith("```") === true;
    if (!isInCode && (line.trim() === "" || /^(#|```)/.test(line) || block[0]?.startsWith("#") === true)) end();
    if (isInCode || line.trim() !== "") block.push(line);
    if (isInCode && line.startsWith("```")) end();
  }
  end();
  return blocks;
}

function formatBlock(lines: readonly string[], layout: MarkdownLayout): string {
  const [first = ""] = lines;
  if (first.startsWith("```"))
    return lines
      .slice(1, -1)
      .map((line) => `${CODE_INDENT}${line}`.trimEnd())
      .join("\n");
  if (first.startsWith("|")) return formatTable(lines, layout);
  if (/^(- |\d+\. )/.test(first)) return formatList(lines, layout);
  const heading = /^(#+) (.*)/.exec(first);
  if (heading === null) return wrapWords(formatInline(lines.join(" "), layout), layout.columns).join("\n");
  const title = formatInline(heading[2] ?? "", layout);
  const [, level = ""] = heading;
  return `${title}\n${("=-~"[level.length - 1] ?? "~").repeat(title.length)}`;
}

/** Formats list items. An indented line continues the previous item. */
function formatList(lines: readonly string[], layout: MarkdownLayout): string {
  const items: string[] = [];
  for (const line of lines) {
    if (/^(- |\d+\. )/.test(line)) items.push(line);
    else items[items.length - 1] = `${items.at(-1)} ${line.trim()}`;
  }
  return items
    .map((item) => {
      const [mark = ""] = /^(- |\d+\. )/.exec(item) ?? [];
      const wrapped = wrapWords(formatInline(item.slice(mark.length), layout), layout.columns - mark.length);
      return wrapped.map((line, index) => (index === 0 ? mark : " ".repeat(mark.length)) + line).join("\n");
    })
    .join("\n");
}

/** Formats a table. Columns are as wide as their cells if the line has room for this; otherwise the widest ones are wrapped. */
function formatTable(lines: readonly string[], layout: MarkdownLayout): string {
  const [head = [], , ...rows] = lines.map((line) => splitCells(line).map((cell) => formatInline(cell, layout)));
  const widths = fitWidths([head, ...rows], layout.columns);
  const isWrapped = rows.some((row) => row.some((cell, index) => cell.length > (widths[index] ?? 0)));
  const body = rows.map((row) => formatRow(row, widths));
  const rule = widths.map((width) => "─".repeat(width)).join(COLUMN_GAP);
  return [formatRow(head, widths), rule, body.join(isWrapped ? "\n\n" : "\n")].join("\n");
}

/** Splits a row into cells. A bar within a cell is written `\|`. */
function splitCells(line: string): string[] {
  return line
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function fitWidths(rows: readonly (readonly string[])[], columns: number): number[] {
  const widest = (measure: (cell: string) => number): number[] =>
    (rows[0] ?? []).map((_, index) => Math.max(1, ...rows.map((row) => measure(row[index] ?? ""))));
  const widths = widest((cell) => cell.length);
  const least = widest((cell) => Math.max(...cell.split(" ").map((word) => word.length)));
  const gaps = COLUMN_GAP.length * (widths.length - 1);
  while (widths.reduce((sum, width) => sum + width, gaps) > columns) {
    const spare = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const most = Math.max(...spare);
    if (most === 0) break;
    widths[spare.indexOf(most)] = most - 1;
  }
  return widths;
}

function formatRow(cells: readonly string[], widths: readonly number[]): string {
  const wrapped = widths.map((width, index) => wrapWords(cells[index] ?? "", width));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths
      .map((width, index) => (wrapped[index]?.[line] ?? "").padEnd(width))
      .join(COLUMN_GAP)
      .trimEnd(),
  ).join("\n");
}

/** Formats text without the marks of code and emphasis. A link is followed by its target. */
function formatInline(text: string, layout: MarkdownLayout): string {
  return (
    text
      // A link's text may be code.
      .replace(/\[`([^`\]]*)`\]\(/g, "[$1](")
      .split(/(`[^`]*`)/)
      .map((part) => (part.startsWith("`") ? formatCode(part.slice(1, -1)) : formatProse(part, layout)))
      .join("")
  );
}

function formatCode(code: string): string {
  return code.length > MAX_UNBROKEN ? code : code.replaceAll(" ", UNBROKEN_BLANK);
}

function formatProse(text: string, layout: MarkdownLayout): string {
  return text
    .replace(/\[([^\]]*)\]\(([^)]*)\)/g, (_, shown: string, target: string) => {
      const place = layout.describeLink(target);
      if (place === "" || place === shown) return shown;
      // A link whose text is the topic becomes the command to type.
      return place.endsWith(` ${shown}`) ? place : `${shown} (${place})`;
    })
    .replaceAll("**", "");
}
