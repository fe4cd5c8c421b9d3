import { snakeNameOf } from "../../measure/metrics/metric.ts";
import { entryOf, isTimeMetric, nameOfMetric, TOKEN_METRICS, type TokenMetric } from "../../measure/tokens/metrics.ts";
import { epochNsToIsoTime, nsToMs } from "../../plan/units.ts";
import { type Failure, isCancelled } from "../../transport/failure.ts";

/** The lines of a file of records, one per request. Names are AIPerf's (`profile_export.jsonl`) if it has the same value. */

/** Data of a request in the lines of all modes, in addition to its metrics. */
export interface RecordMetadata {
  readonly model: string | undefined;
  /** Id of the request's conversation or sequence; undefined if it has none. */
  readonly conversation: string | undefined;
  /** The server that received the request, if there are several. */
  readonly server: string | undefined;
  readonly sendEpochNs: bigint;
  /** Time of the send after the start of the run. Absent: not in the line. */
  readonly sendOffsetNs?: bigint;
  /** First byte of the response; undefined if none arrived. */
  readonly ackEpochNs: bigint | undefined;
  readonly endEpochNs: bigint;
  /** The phase, whether the request was cancelled, and fields of some files only, in this order. */
  readonly rest: object;
}

/** Formats the metadata as JSON. Time stamps have 19 digits, but a number keeps only 16, so they are formatted as text. */
export function formatMetadata(of: RecordMetadata): string {
  const { model, conversation, server, sendEpochNs, sendOffsetNs, ackEpochNs, endEpochNs, rest } = of;
  // Undefined fields are not in the text.
  const names = { model, conversation_id: conversation, server, request_start_time: epochNsToIsoTime(sendEpochNs) };
  const times = [
    `"request_start_ns":${sendEpochNs}`,
    ...(sendOffsetNs === undefined ? [] : [`"request_start_offset_ns":${sendOffsetNs}`]),
    ...(ackEpochNs === undefined ? [] : [`"request_ack_ns":${ackEpochNs}`]),
    `"request_end_ns":${endEpochNs}`,
  ];
  return `${JSON.stringify(names).slice(0, -1)},${times.join(",")},${JSON.stringify(rest).slice(1)}`;
}

/** Returns why a request failed. */
export function failureOf({ kind, message, status }: Failure): object {
  return { code: status, type: kind, message };
}

/** Reports whether the client ended the request, so that it is not a failure of the server. */
export function wasCancelled({ kind }: Pick<Failure, "kind">): boolean {
  return kind === "aborted" || isCancelled({ kind });
}

/** Formats the line of a request. @param metadata as JSON @param error absent for a successful request */
export function formatLine(metadata: string, metrics: RecordMetrics, error: object | undefined): string {
  const failure = error === undefined ? "" : `,"error":${JSON.stringify(error)}`;
  return `{"metadata":${metadata},"metrics":${JSON.stringify(metrics)}${failure}}\n`;
}

/** Metrics of a record, with the names of AIPerf's file of records if it has the same value. */
export type RecordMetrics = Readonly<
  Record<string, { readonly value: number | readonly number[]; readonly unit: string }>
>;

/** Returns a metric by name. */
export function measure(name: string, value: number | readonly number[], unit: string): RecordMetrics {
  return { [name]: { value, unit } };
}

/**
 * Composes the token metrics of a record. Times are in milliseconds. `inter_chunk_latency` has the gaps between reads with content,
 * so that with the time to first token it gives the time of each.
 * @param read returns the value of a metric in the table's unit; NaN: no value
 * @param contentNs arrival of each read with content, after the send
 * @param isComplete whether to include times without a name in GenAI-Perf and AIPerf, under Rampart's names
 */
export function tokenRecordMetrics(
  read: (metric: TokenMetric) => number,
  contentNs: ArrayLike<number>,
  isComplete: boolean,
): RecordMetrics {
  const metrics: Record<string, RecordMetrics[string]> = {};
  for (const metric of TOKEN_METRICS) {
    const entry = entryOf(metric);
    const fallback =
      isComplete && isTimeMetric(metric) ? { name: snakeNameOf(nameOfMetric(metric)), unit: "ms" } : undefined;
    const named = entry.record ?? entry.genaiPerf ?? fallback;
    const value = read(metric);
    if (named === undefined || Number.isNaN(value) || (entry.record?.omitsZero === true && value === 0)) continue;
    metrics[named.name] = { value: isTimeMetric(metric) ? nsToMs(value) : value, unit: named.unit };
  }
  if (contentNs.length > 1)
    metrics["inter_chunk_latency"] = {
      value: Array.from({ length: contentNs.length - 1 }, (_, i) =>
        nsToMs((contentNs[i + 1] as number) - (contentNs[i] as number)),
      ),
      unit: "ms",
    };
  return metrics;
}
