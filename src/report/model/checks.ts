import type { Check } from "./report-model.ts";
import { ofRun, type ReportView } from "./report-view.ts";

/** Results of assertions, checks of phases, and rules of MLPerf. */

/** Returns the checks of a report, in the order of the plan. */
export function checksOf({ json, runs, levels }: ReportView): Check[] {
  const phases = runs.flatMap(({ name, json: run }) =>
    (run.phases ?? []).flatMap(({ checks }) =>
      checks.map(({ state, text, measured }) => ({ state, text: ofRun(name, text), measured })),
    ),
  );
  const mlperf = levels.flatMap(({ run, json: { mlperf: found } }): Check[] => {
    if (found === undefined) return [];
    const { scenario, isValid, broken } = found;
    const text = ofRun(run, `MLPerf ${scenario} is valid`);
    return [{ state: isValid ? "pass" : "fail", text, measured: isValid ? "VALID" : broken.join("; ") }];
  });
  return [
    ...json.assertions.map(({ state, text, measuredText }) => ({ state, text, measured: measuredText })),
    ...phases,
    ...mlperf,
  ];
}
