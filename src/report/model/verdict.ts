import { formatCount } from "../../plan/units.ts";
import type { ModelVerdict } from "./report-model.ts";
import type { ReportView } from "./report-view.ts";
import { formatSeconds } from "./values.ts";

/** Code of the note of a load that the client could not send, which decides the verdict. */
export const UNSENT_LOAD = "load-not-sent";

/** Returns how a report's runs ended. Where nothing is wrong, the name says all. */
export function verdictOf(view: ReportView): ModelVerdict {
  const { name, headline } = view.json.verdict;
  return { name, headline: name === "passed" || name === "measured" ? "" : headline, facts: factsOf(view) };
}

function factsOf({ json, runs, levels }: ReportView): string[] {
  const measured = levels.reduce((sum, { json: { requests, failed } }) => sum + requests + failed, 0);
  const sent = measured > 0 ? measured : runs.reduce((sum, { json: run }) => sum + run.requests.sent, 0);
  return [
    ...(runs.length > 1 ? [`${runs.length} runs`] : []),
    formatSeconds(json.durationSec),
    `${formatCount(sent)} ${sent === 1 ? "request" : "requests"}`,
  ];
}
