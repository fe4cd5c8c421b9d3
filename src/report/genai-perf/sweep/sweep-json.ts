import type { Statistics, TelemetryStatistics } from "../result.ts";
import { chooseAxes, findPareto } from "./pareto.ts";
import type { SweepPoint } from "./sweep.ts";

/**
 * Rampart's own summary of a sweep, `analyze_export_rampart.json`: all results of all points, the Pareto-optimal points, and the search.
 */

/** A point without results. */
export interface FailedPoint {
  readonly parameters: SweepPoint["parameters"];
  readonly reason: string;
}

/** By point name, the search limits that a point breaks, in words; empty if it meets all. */
export type BrokenLimits = ReadonlyMap<string, readonly string[]>;

/** Result of one search. */
export interface SearchSummary {
  /** The load parameter that was searched. */
  readonly parameter: string;
  /** The other parameters, which are constant in this search. */
  readonly fixed: SweepPoint["parameters"];
  /** Highest load tried that meets all limits; null if none does. */
  readonly highest: number | null;
  /** Lowest load tried above it that breaks a limit; null if the highest load of the sweep meets them. */
  readonly lowestBroken: number | null;
  /** Whether `lowestBroken` may be caused by the client instead of the server. */
  readonly isClientLimited: boolean;
  /** Measurements of each of the two loads, by outcome; null if there is no such load. */
  readonly highestVotes: SearchVotes | null;
  readonly lowestBrokenVotes: SearchVotes | null;
}

/** Number of measurements of a load that met all limits, and of those that did not. */
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

/** Formats the text, with a final newline. */
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
