/** Latency percentiles as the tool itself reports them, µs; NaN where it reported none. */
export type Latency = { p50Us: number; p99Us: number };

/** From the lines `p50 latency: 123 usec` that perf_analyzer and Rampart print. */
export function readPerfAnalyzer(output: string): Latency {
  const read = (percentile: number) => {
    const match = new RegExp(`^\\s*p${percentile} latency: (\\d+) usec`, "m").exec(output);
    return Number(match?.[1] ?? Number.NaN);
  };
  return { p50Us: read(50), p99Us: read(99) };
}

/** From wrk's `--latency` distribution, whose values carry their unit. */
export function readWrk(output: string): Latency {
  const unitUs: Record<string, number> = { us: 1, ms: 1000, s: 1_000_000, m: 60_000_000 };
  const read = (percentile: number) => {
    const match = new RegExp(`^\\s*${percentile}%\\s+([\\d.]+)(us|ms|s|m)$`, "m").exec(output);
    return Number(match?.[1] ?? Number.NaN) * (unitUs[match?.[2] ?? "us"] ?? 1);
  };
  return { p50Us: read(50), p99Us: read(99) };
}

/** From ghz's JSON summary: `latencyDistribution` in ns. */
export function readGhz(output: string): Latency {
  const start = output.indexOf("{");
  if (start < 0) return { p50Us: Number.NaN, p99Us: Number.NaN };
  const summary: { latencyDistribution?: { percentage: number; latency: number }[] } = JSON.parse(output.slice(start));
  const read = (percentage: number) => {
    const entry = summary.latencyDistribution?.find((candidate) => candidate.percentage === percentage);
    return (entry?.latency ?? Number.NaN) / 1000;
  };
  return { p50Us: read(50), p99Us: read(99) };
}
