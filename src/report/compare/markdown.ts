import type { Check, ModelTable, Note, ReportModel, Section } from "../model/report-model.ts";

/** Formats the model of a comparison as Markdown for a pull request: the verdict first, the limits, and a table for each level. */
export function formatMarkdown({ verdict, subject, checks, sections, notes }: ReportModel): string {
  const blocks = [
    `### ${verdict.name.toUpperCase()}: ${escapeMarkdown(subject)}`,
    `**${escapeMarkdown(verdict.headline)}** (${verdict.facts.join(", ")})`,
    checks.map(formatCheck).join("\n"),
    ...sections.flatMap(formatSection),
    notes.map(formatNote).join("\n"),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

const CHECK_WORDS = { pass: "pass", fail: "FAIL", unresolved: "unresolved" } as const;

function formatCheck({ state, text, measured }: Check): string {
  return `- **${CHECK_WORDS[state]}** ${escapeMarkdown(text)}: ${escapeMarkdown(measured)}`;
}

function formatNote({ levels, text }: Note): string {
  const place = levels.length === 0 ? "" : `${levels.join(", ")}: `;
  return `- ${escapeMarkdown(`${place}${text}`)}`;
}

function formatSection({ title, tables, lines = [] }: Section): string[] {
  return [
    title === "" ? "" : `#### ${escapeMarkdown(title)}`,
    ...tables.flatMap(formatTable),
    lines.map((line) => `- ${escapeMarkdown(line)}`).join("\n"),
  ];
}

function formatTable({ title, columns, rows }: ModelTable): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = columns.map((_, at) => (at === 0 || at === columns.length - 1 ? "---" : "---:"));
  const body = rows.map((cells) =>
    row(
      cells.map(({ value = "", mark }) =>
        mark === undefined ? escapeMarkdown(String(value)) : `**${escapeMarkdown(String(value))}**`,
      ),
    ),
  );
  const table = [row(columns.map((column) => column.title)), row(rule), ...body].join("\n");
  return [`#### ${escapeMarkdown(title)}`, table];
}

/** Keeps names of files and models from being markup. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`_[\]<>|*]/g, "\\$&").replaceAll("\n", " ");
}
