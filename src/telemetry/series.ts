/** Readings of a server's metrics over the time of a run, as plain data: what plots draw. */

/** One metric. */
export interface TelemetryMetric {
  /** As reports name it: `gpu_power_usage`, or the server's own name. */
  readonly name: string;
  /** Such as `W` or `tokens`; empty where the server does not tell. */
  readonly unit: string;
  readonly series: readonly TelemetrySeries[];
}

/** The readings of one metric of one thing, such as a GPU. Both lists are equally long; of a long run they are thinned out evenly. */
export interface TelemetrySeries {
  /** The GPU, or the labels of the series; empty where there is only one. */
  readonly label: string;
  /** When each value was read, in seconds after the measurement began; ascending. */
  readonly timesSec: readonly number[];
  readonly values: readonly number[];
}
