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
