import type { PhaseVerdict } from "../../measure/phase-verdicts.ts";
import { formatMetric, type Verdict } from "../../measure/verdicts.ts";
import type { Plan } from "../../plan/plan.ts";
import { paint } from "../../plan/terminal-text.ts";
import { formatDurationNs, msToNs } from "../../plan/units.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import type { RunResult } from "../../result/run-result.ts";
import { formatTable } from "./format.ts";

/** How the table of assertions is written. */
export interface VerdictStyle {
  /** The unit of throughput. */
  readonly unit: string;
  readonly hasColor?: boolean | undefined;
  /** Why no assertion is judged. Absent: they are. */
  readonly unjudged?: string | undefined;
  /** What stands behind each value, by assertion. Default: nothing */
  readonly details?: readonly string[];
  /** The results of the checks of phases, which have rows after the assertions. Default: none */
  readonly checks?: readonly Pick<PhaseVerdict, "isMet" | "text" | "measured">[];
}

/**
 * Formats a row per assertion; undefined without assertions.
 * @param levels those that were judged; with one, its name is left out
 * @param aborted the assertion that ended the run early, if any
 */
export function formatVerdicts(
  plan: Plan,
  verdicts: readonly Verdict[],
  levels: readonly unknown[],
  aborted: RunResult["aborted"],
  { unit, hasColor, details = [], checks = [], unjudged }: VerdictStyle,
): string | undefined {
  const rows = verdicts.map((verdict, index) => {
    const { assertion } = verdict;
    if (aborted?.assertionIndex === index) {
      const value = formatMetric(assertion.metric, aborted.measured, unit);
      return ["FAIL", verdict.text, `${value} over the last ${formatSpan(assertion)}, which ended the run`, ""];
    }
    if (unjudged !== undefined) return ["skip", verdict.text, unjudged, ""];
    const measured =
      verdict.measured === undefined ? "nothing measured" : formatMetric(assertion.metric, verdict.measured, unit);
    const where =
      levels.length > 1 && verdict.level !== undefined
        ? ` at ${describeLevel(plan.load, verdict.level, verdict.phaseIndex)}`
        : "";
    const reason = verdict.reason === undefined ? "" : `: ${verdict.reason}`;
    return [verdict.isMet ? "pass" : "FAIL", verdict.text, `${measured}${where}${reason}`, details[index] ?? ""];
  });
  for (const { isMet, text, measured } of checks) rows.push([isMet ? "pass" : "FAIL", text, measured, ""]);
  if (rows.length === 0) return undefined;
  const table = formatTable(["", "assertion", "measured", "over runs"], rows);
  if (hasColor !== true) return table;
  return table.replaceAll(/^(pass|FAIL)(?= )/gm, (word) => paint(word, word === "pass" ? "green" : "red"));
}

function formatSpan({ abortAfterMs = 0 }: Plan["assertions"][number]): string {
  return formatDurationNs(msToNs(abortAfterMs));
}
