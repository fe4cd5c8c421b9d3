import {
  RECORD_CANCELLED,
  RECORD_DELAYED,
  RECORD_FAILED,
  RECORD_RESENT,
  RECORD_SEQUENCE_END,
  type RecordColumns,
} from "../../measure/records.ts";
import type { Call } from "../../transport/client.ts";
import { type Failure, isCancelled } from "../../transport/failure.ts";
import type { Slots } from "./slots.ts";

/** Writes a completed request and its slot's data into the columns. @param group index of its group */
export function writeRecord(
  records: RecordColumns,
  call: Call,
  failure: Failure | undefined,
  slots: Slots,
  group = 0,
): void {
  const { row } = records;
  const { slot } = call;
  const intendedNs = slots.intendedNs[slot] as number;
  const isScheduled = !Number.isNaN(intendedNs);
  records.intendedSendNs[row] = isScheduled ? intendedNs : call.sendStartNs;
  records.sendStartNs[row] = call.sendStartNs;
  records.sendEndNs[row] = call.sendEndNs;
  records.firstByteNs[row] = call.firstByteNs;
  records.endNs[row] = call.endNs;
  records.overNs[row] = Math.max(call.endNs, call.lastMessageNs);
  records.decodeNs[row] = call.decodeNs;
  records.responseCount[row] = call.responseCount;
  records.flags[row] =
    (failure === undefined ? 0 : isCancelled(failure) ? RECORD_FAILED | RECORD_CANCELLED : RECORD_FAILED) |
    (isScheduled && slots.isDelayed[slot] === true ? RECORD_DELAYED : 0) |
    (slots.endsSequence[slot] === true ? RECORD_SEQUENCE_END : 0) |
    (call.isResent ? RECORD_RESENT : 0);
  records.group[row] = group;
  records.commit();
}
