import type { ExponentialHistogram } from "../../measure/exponential-histogram.ts";
import { reportedMetrics } from "../../measure/metrics/catalogue.ts";
import { snakeNameOf } from "../../measure/metrics/metric.ts";
import { nsToSec } from "../../plan/units.ts";
import { followedOf } from "./level-so-far.ts";
import type { LevelPlace, LevelTally, RunSnapshot } from "./run-snapshot.ts";

/** The metrics of a running load test, named after the keys of the catalogue in the style of Prometheus and OTLP. */

/** Labels of a series by name. */
export type Labels = Readonly<Record<string, string>>;

interface MetricHead {
  /** In OpenTelemetry's style, with dots and without the unit: `rampart.time_to_first_token`. */
  readonly name: string;
  readonly help: string;
  /** OpenTelemetry's unit: `s`, `1`, `{request}`. */
  readonly unit: string;
}

interface NumberMetric extends MetricHead {
  readonly kind: "counter" | "gauge";
  readonly points: readonly { readonly labels: Labels; readonly value: number }[];
}

interface HistogramMetric extends MetricHead {
  readonly kind: "histogram";
  readonly points: readonly { readonly labels: Labels; readonly histogram: ExponentialHistogram }[];
}

/** A metric with its points, one for each combination of labels. */
export type Metric = NumberMetric | HistogramMetric;

/** Lists the metrics of a snapshot. Counters and histograms have one series for each level; their sums are those of the run. */
export function listMetrics(state: RunSnapshot): Metric[] {
  return [...listCounters(state), ...listFollowed(state), ...listGauges(state)];
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
      help: "Responses to completed requests; a stream has several, over HTTP all its events.",
      points: levels.map((level) => ({ labels: labelsOf(level), value: level.responseCount })),
    },
  ];
}

/** Lists the catalogue's metrics of running levels: times as histograms, counts as sums, and ratios as their means. */
function listFollowed({ levels }: RunSnapshot): Metric[] {
  const rows = levels.map((level) => ({ labels: labelsOf(level), ...followedOf(level) }));
  return reportedMetrics().flatMap(({ key, entry: { label, quantity } }): Metric[] => {
    const head = { name: `rampart.${snakeNameOf(key)}`, help: `Of completed requests: ${label}.` };
    const histograms = rows.flatMap(({ labels, times: { [key]: histogram } }) =>
      histogram === undefined ? [] : [{ labels, histogram }],
    );
    if (histograms.length > 0) return [{ ...head, kind: "histogram", unit: "s", points: histograms }];
    const isRatio = quantity === "ratio";
    const points = rows.flatMap(({ labels, sums: { [key]: total } }) =>
      total === undefined ? [] : [{ labels, value: isRatio ? total.sum / total.count : total.sum }],
    );
    const kind = isRatio ? "gauge" : "counter";
    return points.length === 0 ? [] : [{ ...head, kind, unit: isRatio ? "1" : "{token}", points }];
  });
}

function listGauges({ outstanding, elapsedSec, client, place, windows }: RunSnapshot): Metric[] {
  const gauge = (name: string, unit: string, value: number, help: string, labels: Labels = {}): Metric => ({
    ...{ kind: "gauge", name, unit, help },
    points: [{ labels, value }],
  });
  return [
    gauge("rampart.requests.in_flight", "{request}", outstanding, "Requests in flight."),
    gauge("rampart.run.elapsed", "s", elapsedSec, "Time since the run began."),
    gauge("rampart.client.cpu_ratio", "1", client.cpuRatio, "CPU time of the measuring thread; 1 is a full core."),
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
