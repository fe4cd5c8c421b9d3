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

/** From oha's JSON: percentiles in seconds. */
export function readOha(output: string): Latency {
  const { latencyPercentiles = {} }: { latencyPercentiles?: Record<string, number> } = JSON.parse(output);
  const read = (name: string) => (latencyPercentiles[name] ?? Number.NaN) * 1e6;
  return { p50Us: read("p50"), p99Us: read("p99") };
}

/** From what measure/copy.go prints. */
export function readCopy(output: string): Latency {
  const { p50_us, p99_us }: Record<string, number> = JSON.parse(output);
  return { p50Us: p50_us ?? Number.NaN, p99Us: p99_us ?? Number.NaN };
}
