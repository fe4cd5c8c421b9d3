import type { Statistics, TelemetryStatistics } from "../result.ts";
import { chooseAxes, findPareto } from "./pareto.ts";
import type { SweepPoint } from "./sweep.ts";

/** Rampart's own summary of a sweep, `analyze_export_rampart.json`: all points whole, which of them are worth choosing, and the search. */

/** A point that has no results. */
export interface FailedPoint {
  readonly parameters: SweepPoint["parameters"];
  readonly reason: string;
}

/** Limits of a search that a point breaks, in words; empty when it keeps all. By the point's name. */
export type BrokenLimits = ReadonlyMap<string, readonly string[]>;

/** What one search came to. */
export interface SearchSummary {
  /** The load that was searched. */
  readonly parameter: string;
  /** What else was varied, and is the same in this search. */
  readonly fixed: SweepPoint["parameters"];
  /** The highest load tried that keeps all limits; null when none does. */
  readonly highest: number | null;
  /** The lowest load above it that was tried and does not; null when the sweep's end keeps them. */
  readonly lowestBroken: number | null;
  /** Whether `lowestBroken` may be the client's limit and not the server's. */
  readonly isClientLimited: boolean;
  /** How often each of the two was measured, by what it did; null where there is no such load. */
  readonly highestVotes: SearchVotes | null;
  readonly lowestBrokenVotes: SearchVotes | null;
}

/** How many measurements of a load kept all limits, and how many did not. */
export interface SearchVotes {
  readonly kept: number;
  readonly broken: number;
}

export interface SweepSummary {
  readonly points: readonly SweepPoint[];
  readonly failed: readonly FailedPoint[];
  /** Undefined without a search. */
  readonly search: { readonly limits: readonly string[]; readonly answers: readonly SearchSummary[] } | undefined;
  readonly brokenLimits: BrokenLimits;
}

/** The text, with a line end. */
export function formatSweepJson({ points, failed, search, brokenLimits }: SweepSummary): string {
  const axes = chooseAxes(points);
  const places = findPareto(points, axes);
  const document = {
    pareto: { throughput: axes.throughput, is_per_gpu: axes.gpuCounts !== undefined, latency: "request_latency.p99" },
    points: points.map(({ name, parameters, folder, result, repeat }, index) => ({
      name,
      parameters: Object.fromEntries(parameters),
      ...(repeat === undefined ? {} : { repeat }),
      folder,
      is_pareto_optimal: places[index]?.isOptimal ?? false,
      throughput: places[index]?.throughput ?? null,
      latency_ms: places[index]?.latencyMs ?? null,
      ...(search === undefined ? {} : { broken_limits: brokenLimits.get(name) ?? [] }),
      metrics: toJson(result.statistics),
      ...(result.telemetry === undefined ? {} : { telemetry: telemetryToJson(result.telemetry) }),
    })),
    failed: failed.map(({ parameters, reason }) => ({ parameters: Object.fromEntries(parameters), reason })),
    ...(search === undefined
      ? {}
      : {
          search: {
            limits: search.limits,
            answers: search.answers.map((answer) => ({
              parameter: answer.parameter,
              fixed: Object.fromEntries(answer.fixed),
              highest: answer.highest,
              lowest_broken: answer.lowestBroken,
              is_client_limited: answer.isClientLimited,
              highest_votes: answer.highestVotes,
              lowest_broken_votes: answer.lowestBrokenVotes,
            })),
          },
        }),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toJson(statistics: Statistics): Record<string, unknown> {
  return Object.fromEntries(
    [...statistics].map(([name, { unit, values }]) => [name, { unit, ...Object.fromEntries(values) }]),
  );
}

function telemetryToJson(telemetry: TelemetryStatistics): Record<string, unknown> {
  return Object.fromEntries(
    [...telemetry].map(([name, { unit, gpus }]) => [
      name,
      { unit, ...Object.fromEntries([...gpus].map(([gpu, values]) => [gpu, Object.fromEntries(values)])) },
    ]),
  );
}
