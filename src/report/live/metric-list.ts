import type { ExponentialHistogram } from "../../measure/exponential-histogram.ts";
import { nsToSec } from "../../plan/units.ts";
import type { LevelPlace, LevelTally, RunSnapshot } from "./run-snapshot.ts";

/** The metrics of a running load test, for Prometheus and OTLP. */

/** A label of a series, and its value. */
export type Labels = Readonly<Record<string, string>>;

interface MetricHead {
  /** In OpenTelemetry's style, with dots and without the unit: `rampart.request.duration`. */
  readonly name: string;
  readonly help: string;
  /** OpenTelemetry's unit: `s`, `1`, `{request}`. */
  readonly unit: string;
}

/** A metric with numbers. */
interface NumberMetric extends MetricHead {
  readonly kind: "counter" | "gauge";
  readonly points: readonly { readonly labels: Labels; readonly value: number }[];
}

/** A metric with histograms of durations. */
interface HistogramMetric extends MetricHead {
  readonly kind: "histogram";
  readonly points: readonly { readonly labels: Labels; readonly histogram: ExponentialHistogram }[];
}

/** A metric with its points, one for each combination of labels. */
export type Metric = NumberMetric | HistogramMetric;

/** Lists the metrics of a snapshot. Counters and histograms have one series for each level; their sums are those of the run. */
export function listMetrics(state: RunSnapshot): Metric[] {
  return [...listCounters(state), ...listHistograms(state), ...listGauges(state)];
}

function listCounters({ levels }: RunSnapshot): Metric[] {
  const ended = { completed: "completedCount", failed: "failedCount", cancelled: "cancelledCount" } as const;
  return [
    {
      ...{ kind: "counter", name: "rampart.requests", unit: "{request}" },
      help: "Requests that ended, by outcome and by the level that was running.",
      points: levels.flatMap((level) =>
        Object.entries(ended).map(([outcome, key]) => ({ labels: { outcome, ...labelsOf(level) }, value: level[key] })),
      ),
    },
    {
      ...{ kind: "counter", name: "rampart.requests.sent", unit: "{request}" },
      help: "Requests that were sent.",
      points: levels.map((level) => ({ labels: labelsOf(level), value: level.sentCount })),
    },
    {
      ...{ kind: "counter", name: "rampart.responses", unit: "{response}" },
      help: "Responses with content to completed requests; a stream has several.",
      points: levels.map((level) => ({ labels: labelsOf(level), value: level.responseCount })),
    },
  ];
}

function listHistograms({ levels }: RunSnapshot): Metric[] {
  const firsts = levels.flatMap((level) =>
    level.firstResponse === undefined ? [] : [{ labels: labelsOf(level), histogram: level.firstResponse }],
  );
  return [
    {
      ...{ kind: "histogram", name: "rampart.request.duration", unit: "s" },
      help: "Time from the send of a completed request to the end of its response.",
      points: levels.map((level) => ({ labels: labelsOf(level), histogram: level.latency })),
    },
    ...(firsts.length === 0
      ? []
      : [
          {
            ...({ kind: "histogram", name: "rampart.first_response.duration", unit: "s" } as const),
            help: "Time from the send of a completed request to its first response.",
            points: firsts,
          },
        ]),
  ];
}

function listGauges({ outstanding, elapsedSec, client, place, windows }: RunSnapshot): Metric[] {
  const gauge = (name: string, unit: string, value: number, help: string, labels: Labels = {}): Metric => ({
    ...{ kind: "gauge", name, unit, help },
    points: [{ labels, value }],
  });
  return [
    gauge("rampart.requests.in_flight", "{request}", outstanding, "Requests in flight."),
    gauge("rampart.run.elapsed", "s", elapsedSec, "Time since the run began."),
    gauge("rampart.client.cpu", "1", client.cpuRatio, "CPU time of the measuring thread; 1 is a full core."),
    gauge(
      "rampart.client.event_loop.lag",
      "s",
      nsToSec(client.loopLagMaxNs),
      "Maximum delay of its event loop recently.",
    ),
    ...(place === undefined
      ? []
      : [gauge("rampart.level", "1", place.level, "The current level, in the unit of its label.", placeLabels(place))]),
    ...(windows?.isStable === undefined
      ? []
      : [gauge("rampart.stable", "1", windows.isStable ? 1 : 0, "Whether the last three windows agree.")]),
  ];
}

function labelsOf({ place }: LevelTally): Labels {
  return place === undefined ? { level: "other" } : placeLabels(place);
}

function placeLabels({ unit, level, isWarmup, phase }: LevelPlace): Labels {
  return {
    level: String(level),
    level_unit: unit,
    stage: isWarmup ? "warm-up" : "measured",
    ...(phase === undefined ? {} : { phase: phase.label, phase_number: String(phase.number) }),
  };
}
