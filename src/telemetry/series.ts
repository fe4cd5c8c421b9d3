/** A server metric over the time of a run, as plots show it. */
export interface TelemetryMetric {
  /** Name in reports: `gpu_power_usage`, or the server's name. */
  readonly name: string;
  /** For example `W` or `tokens`; empty if unknown. */
  readonly unit: string;
  readonly series: readonly TelemetrySeries[];
}

/** The readings of one metric for one source, such as a GPU. Both lists have the same length. In a long run they are thinned out evenly. */
export interface TelemetrySeries {
  /** The GPU, or the labels of the series; empty if there is only one series. */
  readonly label: string;
  /** Time of each value, in seconds since the measurement began; ascending. */
  readonly timesSec: readonly number[];
  readonly values: readonly number[];
}
