import { column, makeTable } from "../../report/model/tables.ts";
import { formatTextTable, valueText } from "../../report/text/text-table.ts";
import type { Finding } from "./finding.ts";

/** What `rampart doctor` prints: the verdict, then each check, those with something to do first. */

/** A check with what it found. */
export type NamedFinding = Finding & { readonly check: string };

const MARKS: Readonly<Record<Finding["status"], string>> = {
  problem: "PROBLEM",
  warning: "warning",
  ok: "ok",
  unknown: "unknown",
};
const STYLE = { maxColumns: 80, format: valueText };

/** Formats the findings, with a line break at the end. */
export function formatFindings(findings: readonly NamedFinding[]): string {
  const count = (status: Finding["status"]): number => findings.filter((one) => one.status === status).length;
  const counted = (number: number, what: string): string =>
    `${number === 0 ? "no" : number} ${what}${number === 1 ? "" : "s"}`;
  const [problems, warnings] = [count("problem"), count("warning")];
  const verdict =
    problems > 0 ? "PROBLEM  this host cannot send the asked load as it is" : "OK  nothing prevents the asked load";
  const urgency = ({ status }: Finding): number => ["problem", "warning"].indexOf(status) + 1 || LAST;
  const sorted = findings.toSorted((a, b) => urgency(a) - urgency(b));
  return `${verdict}: ${counted(problems, "problem")}, ${counted(warnings, "warning")}\n\n${formatRows(sorted)}\n`;
}

/** Checks without anything to do stand after the others, in their own order. */
const LAST = 3;

function formatRows(findings: readonly NamedFinding[]): string {
  const rows = findings.flatMap(({ check, status, message, fix }) => [
    { check, mark: MARKS[status], text: message },
    ...(fix === undefined ? [] : [{ check: "", mark: "", text: `→ ${fix}.` }]),
  ]);
  type Row = (typeof rows)[number];
  const columns = [
    column<Row>("mark", "", "text", 0, ({ mark }) => mark),
    column<Row>("check", "", "text", 0, ({ check }) => check),
    column<Row>("found", "", "text", 0, ({ text }) => text),
  ];
  return formatTextTable(makeTable("", columns, rows), STYLE).lines.join("\n");
}
