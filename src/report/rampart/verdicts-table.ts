import type { VerdictState } from "../../measure/limits/verdict-state.ts";
import { formatMetric } from "../../measure/metrics/metric-text.ts";
import type { PhaseVerdict } from "../../measure/phase-verdicts.ts";
import type { Verdict } from "../../measure/verdicts.ts";
import type { Plan } from "../../plan/plan.ts";
import { paint } from "../../plan/terminal-text.ts";
import { formatDurationNs, msToNs } from "../../plan/units.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import { formatTable } from "./format.ts";

/** How the table of assertions is written. */
export interface VerdictStyle {
  /** The unit of throughput. */
  readonly unit: string;
  readonly hasColor?: boolean | undefined;
  /** What stands behind each value, by assertion. Default: nothing */
  readonly details?: readonly string[];
  /** The results of the checks of phases, which have rows after the assertions. Default: none */
  readonly checks?: readonly Pick<PhaseVerdict, "state" | "text" | "measured">[];
}

/** The words of results in reports for people. */
export const VERDICT_WORDS: Readonly<Record<VerdictState, string>> = {
  pass: "pass",
  fail: "FAIL",
  unresolved: "unresolved",
};
const COLORS = { pass: "green", FAIL: "red", unresolved: "yellow" } as const;

/**
 * Formats a row per assertion; undefined without assertions.
 * @param levels those that were judged; with one, its name is left out
 */
export function formatVerdicts(
  plan: Plan,
  verdicts: readonly Verdict[],
  levels: readonly unknown[],
  { unit, hasColor, details = [], checks = [] }: VerdictStyle,
): string | undefined {
  const rows = verdicts.map((verdict, index) => {
    const measured = describeMeasured(plan, verdict, levels.length > 1, unit);
    return [VERDICT_WORDS[verdict.state], verdict.text, measured, details[index] ?? ""];
  });
  for (const { state, text, measured } of checks) rows.push([VERDICT_WORDS[state], text, measured, ""]);
  if (rows.length === 0) return undefined;
  const table = formatTable(["", "assertion", "measured", "over runs"], rows);
  if (hasColor !== true) return table;
  return table.replaceAll(/^(pass|FAIL|unresolved)(?= )/gm, (word) => paint(word, COLORS[word as keyof typeof COLORS]));
}

/** Describes what an assertion was judged by, and why it is unresolved. @param isPlaced whether the level is named */
function describeMeasured({ load }: Plan, verdict: Verdict, isPlaced: boolean, unit: string): string {
  const { assertion, measured, level, phaseIndex, reason, endedRun } = verdict;
  const where = isPlaced && level !== undefined ? ` at ${describeLevel(load, level, phaseIndex)}` : "";
  if (measured === undefined) return `${reason ?? "nothing measured"}${where}`;
  const value = formatMetric(assertion.metric, measured, unit);
  if (endedRun === true) return `${value} over the last ${formatSpan(assertion)}, which ended the run`;
  return `${value}${where}${reason === undefined ? "" : `: ${reason}`}`;
}

function formatSpan({ abortAfterMs = 0 }: Plan["assertions"][number]): string {
  return formatDurationNs(msToNs(abortAfterMs));
}
