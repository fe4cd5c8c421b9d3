import type { OutputsPlan } from "../plan/plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import { resolveOtlpUrl } from "../report/live/otlp/otlp-settings.ts";
import type { Flag, FlagValues } from "./flags.ts";

/** Options of Rampart's own commands for what one sees while a run lasts. `setting-names.ts` names those that can fail later. */
export const LIVE_FLAGS: readonly Flag[] = [
  {
    name: "live",
    help: "Show the state of the run on stderr while it lasts: redrawn on a terminal, otherwise a line every 5 s. Without this option a terminal shows it too, and anything else gets a line every 30 s.",
  },
  { name: "no-live", help: "Do not show the state of the run." },
  { name: "quiet", short: "q", help: "Print only errors, and why a run did not pass." },
  {
    name: "watch-port",
    value: "PORT",
    help: "Serve the state of the run on 127.0.0.1 while it lasts: a web page, and /metrics for Prometheus. 0 takes a free port and prints it.",
  },
  {
    name: "otlp",
    value: "URL|env",
    help: "Send metrics to this OpenTelemetry collector while the run lasts, as OTLP over HTTP (default path: /v1/metrics). env takes the address from OTEL_EXPORTER_OTLP_ENDPOINT.",
  },
];

/** What the options say about a plan's outputs. */
export type LiveOutputs = Pick<OutputsPlan, "isLive" | "otlpUrl" | "watchPort">;

/** Reads the options. @param problems gets all problems */
export function readLive(flags: FlagValues, problems: Problem[]): LiveOutputs {
  const watchPort = readPort(flags, problems);
  const otlpUrl = readOtlp(flags, problems);
  const off = (["no-live", "quiet"] as const).find((name) => flags.has(name));
  if (flags.has("live") && off !== undefined)
    problems.push(problem("conflict", "--live", `--${off} says the opposite`, "Leave one of both out."));
  return {
    ...(flags.has("live") ? { isLive: true } : off === undefined ? {} : { isLive: false }),
    ...(watchPort === undefined ? {} : { watchPort }),
    ...(otlpUrl === undefined ? {} : { otlpUrl }),
  };
}

function readPort(flags: FlagValues, problems: Problem[]): number | undefined {
  const text = flags.text("watch-port");
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  const hint = "Give a port from 1 to 65535, or 0 for a free one.";
  problems.push(problem("invalid-value", "--watch-port", "is not a port", hint, text));
  return undefined;
}

function readOtlp(flags: FlagValues, problems: Problem[]): string | undefined {
  const text = flags.text("otlp");
  if (text === undefined) return undefined;
  const resolved = resolveOtlpUrl(text, process.env);
  if ("url" in resolved) return resolved.url;
  problems.push(problem("invalid-value", "--otlp", resolved.message, resolved.hint, text));
  return undefined;
}
