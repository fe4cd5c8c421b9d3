import { epochNsToIsoTime } from "../../plan/units.ts";
import { type Failure, isCancelled } from "../../transport/failure.ts";
import type { RecordMetrics } from "./record-metrics.ts";

/** The lines of a file of records, one per request. Names are AIPerf's (`profile_export.jsonl`) where it has the same value. */

/** What the lines of all modes say about a request besides its metrics. */
export interface RecordMetadata {
  readonly model: string | undefined;
  /** Id of its conversation or sequence; undefined when it belongs to none. */
  readonly conversation: string | undefined;
  /** The server that it was sent to, when there are several. */
  readonly server: string | undefined;
  readonly sendEpochNs: bigint;
  /** From the start of the run. Absent: the line does not have it. */
  readonly sendOffsetNs?: bigint;
  /** First byte of the response; undefined when none arrived. */
  readonly ackEpochNs: bigint | undefined;
  readonly endEpochNs: bigint;
  /** The phase, whether the request was cancelled, and what only some files have, in this order. */
  readonly rest: object;
}

/** Formats the metadata as JSON. Time stamps have 19 digits, of which a number keeps 16, so they are formatted as text. */
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

/** Whether the client ended the request, so that it is not a failure of the server. */
export function wasCancelled({ kind }: Pick<Failure, "kind">): boolean {
  return kind === "aborted" || isCancelled({ kind });
}

/** Formats the line of a request. @param metadata as JSON @param error absent for a successful request */
export function formatLine(metadata: string, metrics: RecordMetrics, error: object | undefined): string {
  const failure = error === undefined ? "" : `,"error":${JSON.stringify(error)}`;
  return `{"metadata":${metadata},"metrics":${JSON.stringify(metrics)}${failure}}\n`;
}
