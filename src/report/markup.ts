/** Escapes texts for HTML, XML, Markdown and CSV, because they may come from servers, models and files. */

/** Returns a text as one line. Error responses of servers can be whole pages. */
export function toOneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

/** Escapes a text for HTML, including attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Escapes a text for XML, including attributes. Characters that XML does not allow are replaced. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;")
    .replaceAll("\r", "&#13;")
    .replaceAll("\t", "&#9;");
}

/** Longer texts from servers would make a summary unreadable. */
const MOST_CHARACTERS = 1000;

/** Escapes a text for Markdown, including tables: it stays on one line, and contains no link, mention, HTML or formatting. */
export function escapeMarkdown(text: string): string {
  const line = toOneLine(text);
  const short = line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
  return (
    short
      // A parenthesis has a meaning only after a bracket.
      .replace(/[\\`*_{}[\]<>#|~]/g, "\\$&")
      .replaceAll("&", "&amp;")
      // An invisible character breaks up mentions and addresses, which are recognized without any formatting.
      .replace(/@(?=\w)/g, "@\u200b")
      .replace(/:\/\//g, ":\u200b//")
      .replace(/\bwww\./gi, "www\u200b.")
  );
}

/** Formats a row of a CSV file, with quotes around cells that need them. @param lineEnd default: as in RFC 4180 */
export function formatCsvRow(cells: readonly string[], lineEnd: "\r\n" | "\n" = "\r\n"): string {
  const quoted = cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(",")}${lineEnd}`;
}
