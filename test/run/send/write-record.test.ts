import assert from "node:assert/strict";
import { test } from "node:test";
import {
  RECORD_CANCELLED,
  RECORD_DELAYED,
  RECORD_FAILED,
  RECORD_SEQUENCE_END,
  RecordColumns,
} from "../../../src/measure/records.ts";
import { writeRecord } from "../../../src/run/send/ended-requests.ts";
import { Slots } from "../../../src/run/send/slots.ts";
import { Call } from "../../../src/transport/call.ts";
import type { FailureKind } from "../../../src/transport/failure.ts";

const request = { step: 0, sequenceId: 0, isSequenceEnd: false, isCut: false };

function makeCall(): Call {
  return Object.assign(new Call(0), { sendStartNs: 10, sendEndNs: 20, firstByteNs: 30, endNs: 40, decodeNs: 5 });
}

test("a finished request becomes a row of its times", () => {
  const records = new RecordColumns(() => {});
  const slots = new Slots();
  slots.schedule(0, Number.NaN, false);
  slots.fill(0, request, 0);
  writeRecord(records, makeCall(), undefined, slots);
  const { intendedSendNs, sendStartNs, sendEndNs, firstByteNs, endNs, overNs, decodeNs, responseCount, flags } =
    records;
  const columns = [intendedSendNs, sendStartNs, sendEndNs, firstByteNs, endNs, overNs, decodeNs, responseCount, flags];
  assert.deepEqual(
    columns.map((column) => column[0]),
    [10, 10, 20, 30, 40, 40, 5, 1, 0],
  );
  assert.equal(records.row, 1);
});

test("it is over with its last message, though that is empty", () => {
  const records = new RecordColumns(() => {});
  const slots = new Slots();
  slots.schedule(0, 4, false);
  slots.fill(0, request, 0);
  writeRecord(records, Object.assign(makeCall(), { lastMessageNs: 60 }), undefined, slots);
  assert.deepEqual([records.endNs[0], records.overNs[0], records.intendedSendNs[0]], [40, 60, 4]);
});

const FLAGS: readonly (readonly [
  name: string,
  kind: FailureKind | undefined,
  intendedNs: number,
  isDelayed: boolean,
  isEnd: boolean,
  flags: number,
])[] = [
  ["a success", undefined, Number.NaN, false, false, 0],
  ["a failure", "http", Number.NaN, false, false, RECORD_FAILED],
  ["a request that was cancelled", "cancelled", Number.NaN, false, false, RECORD_FAILED | RECORD_CANCELLED],
  ["a late request of a schedule", undefined, 5, true, false, RECORD_DELAYED],
  ["lateness where nothing was scheduled", undefined, Number.NaN, true, false, 0],
  ["the end of a sequence", undefined, 5, false, true, RECORD_SEQUENCE_END],
];
for (const [name, kind, intendedNs, isDelayed, isEnd, flags] of FLAGS)
  test(`the flags of ${name}`, () => {
    const records = new RecordColumns(() => {});
    const slots = new Slots();
    slots.schedule(0, intendedNs, isDelayed);
    slots.fill(0, { ...request, isSequenceEnd: isEnd }, 0);
    writeRecord(records, makeCall(), kind && { kind, message: "" }, slots);
    assert.equal(records.flags[0], flags);
  });
