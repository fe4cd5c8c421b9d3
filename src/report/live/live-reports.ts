import type { Plan } from "../../plan/plan.ts";
import type { Report, TextSink } from "../report.ts";
import { LiveView } from "./live-view.ts";
import { OtlpExporter } from "./otlp/otlp-exporter.ts";
import { RunState } from "./run-state.ts";
import { openWatchServer } from "./watch/watch-server.ts";

/** Reports that show a run while it lasts: the live view, the web page with its metrics, and OTLP. They share one state. */
export interface LiveReports {
  /** In the order in which they receive events. */
  readonly reports: readonly Report[];
  /** Output for the text of all other reports. */
  readonly sink: TextSink;
}

/** Creates the live reports. @param hasView whether the terminal shows the run @throws UserError for a port that cannot be used */
export async function createLiveReports(plan: Plan, sink: TextSink, hasView: boolean): Promise<LiveReports> {
  const { isLive, otlpUrl, watchPort } = plan.outputs;
  const state = new RunState(plan);
  const reports: Report[] = [state];
  let out = sink;
  if (hasView) {
    const view = new LiveView(state, sink, isLive === true);
    reports.push(view);
    out = view.sink;
  }
  if (watchPort !== undefined) reports.push(await openWatchServer(plan, state, out, watchPort));
  if (otlpUrl !== undefined) reports.push(new OtlpExporter(plan, state, out, otlpUrl));
  return { reports, sink: out };
}
