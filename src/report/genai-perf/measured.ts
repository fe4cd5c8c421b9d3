import { lagWarnings } from "../../measure/client-lag.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { toGoodputPlan } from "../../measure/tokens/goodput.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { interpolated, type TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { measureColumns } from "../../measure/tokens/token-tally.ts";
import { tokenWarnings } from "../../measure/tokens/token-warnings.ts";
import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { isMeasured } from "../../result/judged-levels.ts";
import type { RunResult } from "../../result/run-result.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";
import { familyOf } from "./layout.ts";
import type { GenaiOutputs } from "./outputs.ts";
import { type MergedLoad, toMergedRun, toReportedRun } from "./reported-run.ts";
import { type GenAiPerfResult, type TelemetryStatistics, toGenAiPerfResult } from "./result.ts";
import { reliabilityWarnings } from "./run-notes.ts";
import { type RunSummary, summarizeRun } from "./run-summary.ts";
import { readGpus, toTelemetryStatistics } from "./telemetry/telemetry.ts";

/** The measured requests of a run or of merged exports, for all their reports. */
export interface Measured {
  readonly models: readonly string[];
  readonly outputs: GenaiOutputs;
  readonly columns: TokenColumns;
  /** Token metrics of the same requests. */
  readonly tokens: TokenMeasurement;
  readonly result: GenAiPerfResult;
  readonly summary: RunSummary;
  /** Warnings that the numbers may be misleading, in whole sentences. Warnings about the run precede those about single requests. */
  readonly doubts: readonly Text[];
  readonly warnings: readonly string[];
  /** Undefined for merged exports. */
  readonly run: RunResult | undefined;
  /** The result in Rampart's report: one level, measured by GenAI-Perf's rules. */
  readonly reported: RunResult;
}

/** Source of requests: a run, or merged exports. */
type MeasuredSource = { readonly telemetry: TelemetryStatistics | undefined } & (
  | { readonly run: RunResult }
  | { readonly run: undefined; readonly merged: MergedLoad }
);

/** Computes the content of the reports. @param plan of a profile @param kind kind of the responses */
export function toMeasured(plan: Plan, columns: TokenColumns, kind: ResponseKind, source: MeasuredSource): Measured {
  const { run, telemetry } = source;
  const outputs = plan.outputs.genaiPerf as GenaiOutputs;
  const { goodput = {}, titledType = kind === "custom" ? outputs.endpointType : kind } = outputs;
  const isStreaming = plan.measurement.tokens?.isStreamed === true;
  const family = familyOf(kind);
  const limits = toGoodputPlan(goodput, family);
  const goodputs = limits === undefined || Object.keys(limits).length === 0 ? [] : [limits];
  const measured = goodputs.length === 0 ? run?.levels[0]?.window.tokens : undefined;
  const tokens = interpolated(measured ?? measureColumns(columns, goodputs));
  return {
    models: plan.requests?.layout.models ?? [],
    outputs,
    columns,
    tokens,
    result: toGenAiPerfResult(columns, {
      ...{ family, endpointType: titledType, isStreaming, telemetry },
      goodOf: Object.keys(goodput).length > 0 ? tokens : undefined,
    }),
    summary: summarizeRun(columns, tokens, { isStreaming, run }),
    doubts: run === undefined ? [] : reliabilityWarnings(run),
    warnings: [...(run === undefined ? [] : lagWarnings(windowsOf(run))), ...tokenWarnings(tokens)],
    run,
    reported:
      source.run === undefined
        ? toMergedRun(plan, columns, tokens, source.merged)
        : toReportedRun(source.run, columns, tokens),
  };
}

/** Returns the windows of the levels. The tokens of several levels are measured together, so no level has them. */
function windowsOf({ levels }: RunResult): readonly Measurement[] {
  if (levels.length === 1) return levels.map(({ window }) => window);
  return levels.map(({ window: { tokens: _, ...window } }) => window);
}

/** The computed results of runs, shared by all reports of a run. */
const computed = new WeakMap<RunResult, Measured>();

/** Returns the measured requests of a run; undefined if no request succeeded, or the run ended before its first window. */
export function measuredOf(run: RunResult): Measured | undefined {
  const { plan } = run.prepared;
  const columns = isMeasured(run) ? run.levels[0]?.tokenRows : undefined;
  if (plan.outputs.genaiPerf === undefined || columns === undefined) return undefined;
  let measured = computed.get(run);
  if (measured === undefined) {
    const telemetry = run.scrape && toTelemetryStatistics(readGpus(run.scrape));
    measured = toMeasured(plan, columns, columns.responseKind ?? "custom", { run, telemetry });
    computed.set(run, measured);
  }
  return measured;
}
