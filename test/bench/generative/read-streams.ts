import { readFileSync } from "node:fs";

/** What tools recorded of each request of a streamed run. */

export interface MeasuredStream {
  /** When it was sent, by the tool's wall clock. */
  readonly sentNs: bigint;
  /** To the first token with text, and to the last. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Of a profile export, in perf_analyzer's format. */
export function readExportedStreams(path: string): MeasuredStream[] {
  // Times have more digits than a number keeps: they are read as text.
  const text = readFileSync(path, "utf8").replace(/(?<=[:[,]\s*)(\d{19})(?=[,\]}])/g, '"$1"');
  const { experiments } = JSON.parse(text) as {
    experiments: {
      requests: { timestamp: string; response_timestamps: string[]; response_outputs: { response: string }[] }[];
    }[];
  };
  const streams = (experiments[0]?.requests ?? []).map(({ timestamp, response_timestamps, response_outputs }) => {
    const sentNs = BigInt(timestamp);
    const timesMs = response_timestamps.flatMap((time, i) =>
      /"content":"[^"]/.test(response_outputs[i]?.response ?? "") ? [Number(BigInt(time) - sentNs) / 1e6] : [],
    );
    return { sentNs, firstMs: timesMs[0] ?? Number.NaN, lastMs: timesMs.at(-1) ?? Number.NaN };
  });
  return sortBySend(streams);
}

interface AiperfRecord {
  readonly metadata: { readonly request_start_ns: string; readonly benchmark_phase: string };
  readonly metrics: Readonly<Record<string, { readonly value: number } | undefined>>;
}

/** Of AIPerf's records, a line each. */
export function readAiperfStreams(path: string): MeasuredStream[] {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  const records = lines.map(
    (line) => JSON.parse(line.replace(/"request_start_ns":(\d+)/, '"request_start_ns":"$1"')) as AiperfRecord,
  );
  const streams = records
    .filter(({ metadata }) => metadata.benchmark_phase === "profiling")
    .map(({ metadata, metrics }) => ({
      sentNs: BigInt(metadata.request_start_ns),
      firstMs: metrics["time_to_first_token"]?.value ?? Number.NaN,
      lastMs: metrics["request_latency"]?.value ?? Number.NaN,
    }));
  return sortBySend(streams);
}

function sortBySend(streams: MeasuredStream[]): MeasuredStream[] {
  return streams.sort((a, b) => Number(a.sentNs - b.sentNs));
}
