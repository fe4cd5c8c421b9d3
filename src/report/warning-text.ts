import { type NameOf, word } from "../plan/messages.ts";
import type { RunWarning } from "../result/observer.ts";

/** Formats warnings during a run as lines for stderr without a line break. */

/** Uses perf_analyzer's words if it has the same warning, because scripts search for them. */
export function formatPerfAnalyzerWarning(warning: RunWarning, nameOf?: NameOf): string {
  switch (warning.kind) {
    case "metrics-missing":
      return `WARNING: Unable to parse '${warning.family}' metric.`;
    case "metrics-slow":
      return word({ say: warning.kind, tookMs: warning.tookMs, intervalMs: warning.intervalMs }, nameOf);
    case "many-versions":
      return `WARNING: Multiple versions of model ${warning.model} are loaded in the triton server, and the version to use was unspecified. The stats for that model may be inaccurate.`;
    default:
      return formatRampartWarning(warning, nameOf);
  }
}

/** Uses Rampart's words. */
export function formatRampartWarning(warning: RunWarning, nameOf?: NameOf): string {
  return `rampart: ${describeWarning(warning, nameOf)}.`;
}

/** Describes a warning; a sentence without a full stop. */
export function describeWarning(warning: RunWarning, nameOf?: NameOf): string {
  switch (warning.kind) {
    case "metrics-unreachable":
      return `no metrics from ${warning.url}: ${warning.reason}`;
    case "metrics-missing":
      return `the server's metrics have no ${warning.family}`;
    case "metrics-slow":
      return `reading the metrics took ${warning.tookMs} ms, longer than the ${warning.intervalMs} ms between two readings`;
    case "many-versions":
      return `several versions of model ${warning.model} served requests; the server's times are those of the highest`;
    case "trace-kept":
      return `the server's trace settings could not be set back from ${word(warning.settings, nameOf)}: ${warning.reason}`;
    case "no-statistics":
      return `the server has no statistics, so its own times are not reported: ${warning.reason}`;
    case "failed-statistics":
      return `the server's statistics cannot be read, so its own times are not reported: ${warning.reason}`;
    case "memory-kept":
      return `the server may still have shared memory of this run: ${warning.reason}`;
  }
}

/** Says that the run waits for a server, as a line of its progress. */
export function formatSlowServer(url: string): string {
  return `  waiting for ${url}, which has not responded for some seconds …\n`;
}
