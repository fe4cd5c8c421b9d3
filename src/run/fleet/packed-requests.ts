import { RECORD_FAILED, RECORD_RESENT, type RecordColumns } from "../../measure/records.ts";
import type { Payload, RequestContent } from "../../service/content.ts";
import { Call, type ReceivedResponse } from "../../transport/call.ts";
import type { Failure } from "../../transport/failure.ts";
import { BytePacker, FULL_BYTES, PackageReader, type PackedBytes } from "../../transport/packed-bytes.ts";
import type { Judging } from "../judge/judge.ts";
import type { JudgedRequests } from "../run-parts.ts";
import { Slots } from "../send/slots.ts";

/** Single requests on the way to a remote conductor: the data of each request that a batch of records lacks. */

const NUMBER_BYTES = 8;
const NO_BYTES = new Uint8Array(0);
const NO_CONTENT = -1;
const SINGLE = -1;
const UNREAD: ReceivedResponse = { readNs: 0, body: NO_BYTES, isEmpty: true };

/** Single requests that the conductor wants. Failed ones are always sent. */
export interface RequestsWanted {
  /** Whether successful requests are sent too, with their responses. */
  readonly hasResponses: boolean;
}

/** The requests of a batch of records, in the order of its rows: plain data. Times are nanoseconds after the send. */
export interface PackedRequests extends PackedBytes {
  /** Failures, and the sessions of contents. */
  readonly values: readonly unknown[];
}

/** The sender's side: packs requests as they are judged. */
export class RequestPacker implements JudgedRequests {
  readonly needsBodies: boolean;
  /** Called when the batch is full, before the next request is added. Drains the records, so that the batch is taken. */
  onFull: () => void = () => {};
  private readonly packer = new BytePacker();
  private values: unknown[] = [];

  constructor({ hasResponses }: RequestsWanted) {
    this.needsBodies = hasResponses;
  }

  /** @param content content of the request, unless the conductor finds it in the data */
  add(call: Call, slots: Slots, failure: Failure | undefined, content?: RequestContent): void {
    if (failure === undefined && !this.needsBodies) return;
    const { packer } = this;
    // A single request may be larger than a batch.
    if (packer.byteCount + NUMBER_BYTES * packer.numbers.length >= FULL_BYTES) this.onFull();
    const { slot, server, member } = call;
    packer.numbers.push(slots.steps[slot] as number, slots.sequenceIds[slot] as number, server, member);
    this.addContent(content);
    if (failure === undefined) this.addResponses(call);
    else {
      packer.numbers.push(call.responses.length);
      this.values.push(failure);
    }
  }

  /** Returns the requests since the last call. */
  take(): PackedRequests {
    const { values } = this;
    this.values = [];
    return { ...this.packer.take(), values };
  }

  private addContent(content: RequestContent | undefined): void {
    if (content === undefined || !("bytes" in content)) {
      this.packer.numbers.push(NO_CONTENT);
      return;
    }
    this.packer.append(content.bytes);
    this.values.push(content.session);
  }

  private addResponses(call: Call): void {
    const { packer } = this;
    const { events, jsonBytes, sendStartNs } = call;
    if (events !== undefined) {
      packer.numbers.push(jsonBytes, events.count);
      for (const [i, length] of events.lengths.entries())
        packer.numbers.push((events.readsNs[i] as number) - sendStartNs, 0, length);
      for (const part of events.parts()) packer.appendBytes(part);
      return;
    }
    const { responses, body = NO_BYTES } = call;
    packer.numbers.push(jsonBytes, responses.length === 0 ? SINGLE : responses.length);
    if (responses.length === 0) packer.append(body);
    for (const response of responses) {
      packer.numbers.push(response.readNs - sendStartNs, response.isEmpty ? 1 : 0);
      packer.append(response.body);
    }
  }
}

/** The content of the request being read, if it was sent along; undefined otherwise. */
export interface CurrentContent {
  content: Payload | undefined;
}

/** Dependencies of a {@link RequestReader}. */
export interface ReaderParts extends RequestsWanted {
  /** Judges like the judge in the sending thread, but does not repeat the checks that were made there. */
  readonly judge: Judging;
  /** Counts the judged requests. */
  readonly finished: { count: number };
  /** Set before each request. */
  readonly current: CurrentContent;
}

/**
 * The conductor's side: has requests judged again, so that its observer and its token meter get the same data as with a single local
 * sender.
 */
export class RequestReader {
  private readonly parts: ReaderParts;
  private readonly call = new Call(0);
  private readonly slots = new Slots();
  private reader = new PackageReader({ numbers: new Float64Array(0), bytes: NO_BYTES });
  private values: readonly unknown[] = [];
  private valueAt = 0;

  constructor(parts: ReaderParts) {
    this.parts = parts;
    this.slots.grow(1);
    this.call.isChecked = true;
  }

  /** Reads the requests of the rows `[0, count)`. */
  read(records: RecordColumns, count: number, packed: PackedRequests): void {
    this.reader = new PackageReader(packed);
    this.values = packed.values;
    this.valueAt = 0;
    for (let row = 0; row < count; row++) {
      const hasFailed = ((records.flags[row] as number) & RECORD_FAILED) !== 0;
      if (hasFailed || this.parts.hasResponses) this.readRequest(records, row, hasFailed);
      else this.parts.finished.count++;
    }
  }

  private readRequest(records: RecordColumns, row: number, hasFailed: boolean): void {
    const { call, slots, parts } = this;
    call.sendStartNs = records.sendStartNs[row] as number;
    call.firstByteNs = records.firstByteNs[row] as number;
    call.endNs = records.endNs[row] as number;
    call.responseCount = records.responseCount[row] as number;
    call.resends = Number(((records.flags[row] as number) & RECORD_RESENT) !== 0);
    slots.intendedNs[0] = records.intendedSendNs[row] as number;
    slots.steps[0] = this.reader.number();
    slots.sequenceIds[0] = this.reader.number();
    call.server = this.reader.number();
    call.member = this.reader.number();
    parts.current.content = this.readContent();
    call.body = undefined;
    call.failure = undefined;
    if (hasFailed) {
      call.responses = Array.from({ length: this.reader.number() }, () => UNREAD);
      call.failure = this.value() as Failure;
    } else this.readResponses();
    parts.judge.judge(call, slots);
  }

  private readContent(): Payload | undefined {
    const length = this.reader.number();
    if (length === NO_CONTENT) return undefined;
    const session = this.value() as Payload["session"];
    return { bytes: this.reader.piece(length), ...(session === undefined ? {} : { session }) };
  }

  private readResponses(): void {
    const { call } = this;
    call.jsonBytes = this.reader.number();
    const count = this.reader.number();
    call.responses = [];
    if (count === SINGLE) call.body = this.reader.piece();
    for (let read = 0; read < count; read++) {
      const readNs = call.sendStartNs + this.reader.number();
      const isEmpty = this.reader.number() === 1;
      call.responses.push({ readNs, isEmpty, body: this.reader.piece() });
    }
  }

  private value(): unknown {
    return this.values[this.valueAt++];
  }
}
