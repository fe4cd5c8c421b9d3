import { formatSuites, outcomeOf, type TestCase } from "../junit.ts";
import type { ReportModel } from "../model/report-model.ts";
import { renderText } from "../text/render-text.ts";
import type { ChangeLimitState, ComparedSides } from "./limits.ts";
import { measuredOfLimit } from "./words.ts";

/**
 * Formats comparisons as JUnit XML: a test case for each limit, and one that has the comparison as its output. A limit without a result is an
 * error where the command fails for it.
 * @param isStrict whether an unresolved limit fails the command
 */
export function formatComparisonJunit(model: ReportModel, sides: readonly ComparedSides[], isStrict: boolean): string {
  const failing: Readonly<Record<ChangeLimitState, "pass" | "fail" | "unresolved">> = {
    broken: "fail",
    kept: "pass",
    unresolved: isStrict ? "unresolved" : "pass",
    undecidable: "unresolved",
  };
  const limits = sides.flatMap(({ comparison, limits: verdicts }) =>
    verdicts.map((verdict): TestCase => {
      const measured = measuredOfLimit(verdict);
      const message = verdict.state === "unresolved" ? `unresolved: ${measured}` : measured;
      const place = sides.length > 1 ? `${comparison.next.name}: ` : "";
      const outcome = outcomeOf(failing[verdict.state], { message, type: verdict.state });
      return { name: `${place}${verdict.limit.text}`, timeSec: 0, ...outcome };
    }),
  );
  const whole: TestCase = { name: "runs are compared", timeSec: 0, output: renderText(model, { isVerbose: false }) };
  const suite = { name: model.name, startedAt: new Date().toISOString(), durationSec: 0, cases: [...limits, whole] };
  return formatSuites(model.name, [suite], 0);
}
