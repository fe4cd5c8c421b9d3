import { TokenGaps } from "../../../measure/tokens/token-gaps.ts";
import { type ExportRules, measureExports } from "../../../report/genai-perf/measure-export.ts";
import type { PlottedRun } from "../../../report/plots/plotted-run.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { HostRun } from "./read-host.ts";

/** More colors than this cannot be told apart. */
const MOST_HOSTS = 8;

/** Returns one run per host for plots, or one joint run for more than eight hosts. @param sources exports of the hosts, in their order */
export function measureForPlots(
  { endpoint }: GenaiSettings,
  hosts: readonly HostRun[],
  sources: readonly HostRun["source"][],
  rules: Pick<ExportRules, "kind" | "countTokens">,
): PlottedRun[] {
  const measure = (name: string, some: readonly HostRun["source"][]): PlottedRun => {
    const gaps = new TokenGaps();
    const columns = measureExports(some, { ...rules, onTimes: ({ contentNs }) => gaps.add(contentNs) });
    return { name, columns, gaps: gaps.summarize(), isStreaming: endpoint.isStreaming };
  };
  if (hosts.length > MOST_HOSTS) return [measure(`${hosts.length} hosts`, sources)];
  return hosts.map(({ files }, i) => measure(files.host, [sources[i] as HostRun["source"]]));
}
