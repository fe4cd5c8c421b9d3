import { RECORD_DELAYED, RECORD_FAILED, type RecordColumns } from "../measure/records.ts";
import type { Call } from "../transport/client.ts";

/**
 * Puts a finished request into the columns.
 * @param intendedNs when it was due; NaN where nothing was scheduled
 */
export function writeRecord(
  records: RecordColumns,
  call: Call,
  hasFailed: boolean,
  intendedNs: number,
  isDelayed: boolean,
): void {
  const { row } = records;
  const isScheduled = !Number.isNaN(intendedNs);
  records.intendedSendNs[row] = isScheduled ? intendedNs : call.sendStartNs;
  records.sendStartNs[row] = call.sendStartNs;
  records.sendEndNs[row] = call.sendEndNs;
  records.firstByteNs[row] = call.firstByteNs;
  records.endNs[row] = call.endNs;
  records.decodeNs[row] = call.decodeNs;
  records.flags[row] = (hasFailed ? RECORD_FAILED : 0) | (isScheduled && isDelayed ? RECORD_DELAYED : 0);
  records.commit();
}
