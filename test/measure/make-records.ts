import type { RecordColumns } from "../../src/measure/records.ts";

/** Records for tests, made from plain numbers. */

/** A record; times in nanoseconds. */
export interface Row {
  readonly sendStartNs: number;
  readonly endNs: number;
  readonly intendedSendNs?: number;
  readonly sendEndNs?: number;
  readonly firstByteNs?: number;
  readonly decodeNs?: number;
  readonly flags?: number;
  /** Default: 1. */
  readonly responseCount?: number;
  /** Default: `endNs`. */
  readonly overNs?: number;
}

/** Adds a record. */
export function fill(records: RecordColumns, row: Row): void {
  const at = records.row;
  records.sendStartNs[at] = row.sendStartNs;
  records.intendedSendNs[at] = row.intendedSendNs ?? row.sendStartNs;
  records.sendEndNs[at] = row.sendEndNs ?? row.sendStartNs;
  records.firstByteNs[at] = row.firstByteNs ?? row.endNs;
  records.endNs[at] = row.endNs;
  records.overNs[at] = row.overNs ?? row.endNs;
  records.decodeNs[at] = row.decodeNs ?? 0;
  records.responseCount[at] = row.responseCount ?? 1;
  records.flags[at] = row.flags ?? 0;
  records.commit();
}
