/** Reads tables back from reports for people. */

/** A table: a record per row, by the names of its columns. The first column is `""`. */
export interface ReadTable {
  readonly header: readonly string[];
  readonly rows: readonly Readonly<Record<string, string>>[];
}

function toTable([header = [], ...rows]: readonly (readonly string[])[]): ReadTable {
  const named = rows.map((row) => Object.fromEntries(header.map((name, column) => [name, row[column] ?? ""])));
  return { header, rows: named };
}

/** Reads the tables of a console: columns are as wide as their rules. Parts of a wide table follow each other and are joined. */
export function readConsoleTables(text: string): ReadTable[] {
  const lines = text.split("\n");
  const tables: { readonly cells: string[][]; readonly rowNames: string }[] = [];
  for (const [at, line] of lines.entries()) {
    if (!/^ *─+( +─+)*$/.test(line)) continue;
    const ends = [...line.matchAll(/─+/g)].map(({ index, 0: rule }) => [index, index + rule.length] as const);
    const length = lines.slice(at + 1).findIndex((next) => next.trim() === "" || next.startsWith("  *"));
    const block = [lines[at - 1] ?? "", ...lines.slice(at + 1, length < 0 ? undefined : at + 1 + length)];
    const cells = block.map((row) => ends.map(([start, end]) => row.slice(start, end).trim()));
    const rowNames = cells.map(([name]) => name).join("\n");
    const before = tables.at(-1);
    if (before?.rowNames !== rowNames) tables.push({ cells, rowNames });
    else for (const [index, row] of cells.entries()) before.cells[index]?.push(...row.slice(1));
  }
  return tables.map(({ cells }) => toTable(cells));
}

/** Reads the tables of Markdown. */
export function readMarkdownTables(text: string): ReadTable[] {
  const blocks = text.match(/(?:^\|.*\n)+/gm) ?? [];
  const cellsOf = (line: string): string[] =>
    line
      .slice(2, -2)
      .split(/(?<!\\) \| /)
      .map((cell) => cell.replace(/\\(.)/g, "$1").trim());
  return blocks.map((block) => {
    const [header = "", _rule, ...rows] = block.trimEnd().split("\n");
    return toTable([header, ...rows].map(cellsOf));
  });
}

/** Reads the tables of a page, without the small lines of their cells. */
export function readPageTables(html: string): ReadTable[] {
  return [...html.matchAll(/<table>(.*?)<\/table>/gs)].map(([, table = ""]) =>
    toTable(
      [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
        [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) =>
          cell.replace(/<small>.*?<\/small>/s, "").replaceAll("&amp;", "&"),
        ),
      ),
    ),
  );
}
