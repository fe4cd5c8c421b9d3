/** A server metric over the time of a run, as plots show it. */
export interface TelemetryMetric {
  /** Name in reports: `gpu_power_usage`, or the server's own name. */
  readonly name: string;
  /** Such as `W` or `tokens`; empty when unknown. */
  readonly unit: string;
  readonly series: readonly TelemetrySeries[];
}

/** The readings of one metric of one thing, such as a GPU. Both lists have the same length; in a long run they are thinned out evenly. */
export interface TelemetrySeries {
  /** The GPU, or the labels of the series; empty when there is only one. */
  readonly label: string;
  /** Time of each value, in seconds since the measurement began; ascending. */
  readonly timesSec: readonly number[];
  readonly values: readonly number[];
}
