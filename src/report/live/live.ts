import type { Plan } from "../../plan/plan.ts";
import type { Report, TextSink } from "../report.ts";

/** What shows a run while it lasts: the live view, the web page with its metrics, and OTLP. They share one state. */
export interface LiveReports {
  /** In the order in which they receive events. */
  readonly reports: readonly Report[];
  /** For the text of all other reports. */
  readonly sink: TextSink;
}

/** Whether a plan asks for one of them. */
export function isLiveWanted(plan: Plan): boolean {
  const { otlpUrl, watchPort } = plan.outputs;
  return isViewWanted(plan) || watchPort !== undefined || otlpUrl !== undefined;
}

/** Creates those that a plan asks for. @throws UserError for a port that cannot be used */
export async function createLiveReports(plan: Plan, sink: TextSink): Promise<LiveReports> {
  const { isLive, otlpUrl, watchPort } = plan.outputs;
  const state = new (await import("./run-state.ts")).RunState(plan);
  const reports: Report[] = [state];
  let out = sink;
  if (isViewWanted(plan)) {
    const view = (await import("./live-view.ts")).createLiveView(state, sink, isLive === true);
    reports.push(view);
    out = view.sink;
  }
  if (watchPort !== undefined)
    reports.push(await (await import("./watch/watch-server.ts")).openWatchServer(plan, state, out, watchPort));
  if (otlpUrl !== undefined)
    reports.push((await import("./otlp/otlp-exporter.ts")).createOtlpExporter(plan, state, out, otlpUrl));
  return { reports, sink: out };
}

/** Rampart's own commands show the state unless the user does not want it. */
function isViewWanted({ outputs: { isLive, style } }: Plan): boolean {
  return isLive ?? style === "rampart";
}
