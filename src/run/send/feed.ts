import { assembleContent, assembleExpected, type ExpectedOutput } from "../../inputs/batches.ts";
import type { DataStep, Dataset } from "../../inputs/dataset.ts";
import { LaneIds } from "../../load/lane-ids.ts";
import type { SequencePlace, Sequences } from "../../load/sequences.ts";
import { numberOf, type Share, WHOLE } from "../../load/share.ts";
import { joinBytes } from "../../runtime/bytes.ts";
import type { RequestContent } from "../../service/content.ts";
import type { Service } from "../../service/service.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { SharedTensors } from "../open/shared-tensors.ts";

/** Maximum length of a sequence stamp, far above any real one. */
const MAX_STAMP_BYTES = 1024;
const MAX_ID_DIGITS = 32;
const NOTHING_EXPECTED: readonly ExpectedOutput[] = [];

/** Properties of a feed's requests besides their data. */
export interface FeedOptions {
  /** Whether requests have an id. */
  readonly usesIds: boolean;
  /** Present when requests belong to sequences. */
  readonly sequences?: Sequences | undefined;
  /** Whether a sequence that the end of the load cuts short counts as completed. Default: false. */
  readonly countsCut?: boolean | undefined;
  /** Present when tensors are in shared memory instead of requests. */
  readonly shared?: SharedTensors | undefined;
  /** Whether each request takes the next step of the data, whatever its lane. Default: false. */
  readonly isInOrder?: boolean | undefined;
  /** Index of the sender that has the lanes, and number of senders. Default: one sender. */
  readonly senders?: Share | undefined;
}

/** A source of requests, for a sender and a judge. */
export type Feed = Pick<
  RequestFeed,
  | "step"
  | "stamp"
  | "sequenceId"
  | "isSequenceEnd"
  | "isCut"
  | "sequences"
  | "hasExpectations"
  | "setActiveLanes"
  | "ownPart"
  | "shareSteps"
  | "rewind"
  | "next"
  | "contentOf"
  | "expectedOf"
>;

/** Returns the next requests of lanes: selects the step of the data, encodes each step once, and creates the stamp. */
export class RequestFeed {
  /** Step of the last request, counted over all streams. */
  step = 0;
  /** Stamp of the last request, valid until the next one. */
  stamp: Uint8Array | undefined = undefined;
  /** Correlation id of the last request; 0 without sequences. */
  sequenceId = 0;
  /** Whether the last request ends a sequence that counts as completed. */
  isSequenceEnd = false;
  /** Whether the last request ends its sequence early, so that steps before it were skipped. */
  isCut = false;
  readonly sequences: Sequences | undefined;
  private readonly countsCut: boolean;
  protected readonly service: Service;
  protected readonly dataset: Dataset;
  private readonly usesIds: boolean;
  private readonly laneIds: LaneIds[] = [];
  /** Number of each stream's first step. */
  protected readonly streamStarts: number[] = [];
  /** Number of requests per lane. */
  private readonly turns: number[] = [];
  /** Encodings by step and length of the stamp. */
  private readonly encoded = new Map<number, WireRequest>();
  private readonly contents = new Map<number, RequestContent>();
  private readonly expected = new Map<number, ExpectedOutput[]>();
  private readonly shared: SharedTensors | undefined;
  /** Encodings by slot, when they differ between slots. */
  private readonly encodedBySlot: Map<number, WireRequest>[] = [];
  /** Number of active lanes of all senders: the stride with which a lane goes through the data. */
  private activeLanes = 1;
  private allActiveLanes: number | undefined;
  /** The sender's share of the load. Lanes count among those of all senders. */
  protected share = WHOLE;
  /** Number of requests while lanes share the data; negative when each lane goes through it separately. */
  private sharedTurns: number;
  /** Number of requests that all senders sent before these. */
  private firstShared = 0;
  private readonly isInOrder: boolean;
  private readonly senders: Share;

  constructor(
    service: Service,
    dataset: Dataset,
    { usesIds, sequences, countsCut = false, shared, isInOrder = false, senders = WHOLE }: FeedOptions,
  ) {
    this.countsCut = countsCut;
    this.shared = shared;
    this.senders = senders;
    this.share = senders;
    this.isInOrder = isInOrder;
    this.sharedTurns = isInOrder ? 0 : -1;
    this.service = service;
    this.dataset = dataset;
    this.usesIds = usesIds;
    this.sequences = sequences;
    let start = 0;
    for (const steps of dataset.streams) {
      this.streamStarts.push(start);
      start += steps.length;
    }
  }

  /** Whether any request has expected outputs. */
  get hasExpectations(): boolean {
    if (this.dataset.isStored === true) return this.dataset.hasExpected === true;
    for (const stream of this.dataset.streams) for (const step of stream) if (step.expected.size > 0) return true;
    return false;
  }

  /**
   * Takes the encodings of the first step from another feed of the same session, unless each slot has its own. Other steps may differ: the
   * other feed may have less data, whose batches wrap around earlier.
   */
  takeEncodings({ encoded }: RequestFeed): void {
    if (this.dataset.isStored === true) return;
    for (const [key, request] of encoded) if (key < MAX_ID_DIGITS * MAX_STAMP_BYTES) this.encoded.set(key, request);
  }

  /**
   * Takes over a part of the load.
   * @param activeLanes number of active lanes of all senders. Default: each sender has the same number
   * @param firstNumber number of requests that all senders have sent of the data, when lanes share it. Default: this feed continues with
   * its part
   */
  ownPart(share: Share, activeLanes?: number, firstNumber?: number): void {
    this.share = share;
    this.allActiveLanes = activeLanes;
    if (firstNumber === undefined || this.sharedTurns < 0) return;
    this.firstShared = firstNumber;
    this.sharedTurns = 0;
  }

  setActiveLanes(count: number): void {
    this.activeLanes = Math.max(1, this.allActiveLanes ?? count * this.share.count);
    if (!this.isInOrder) this.sharedTurns = -1;
  }

  /**
   * Makes each request take the next step, whatever its lane. When lanes come and go, strides would repeat some steps and skip others.
   */
  shareSteps(): void {
    this.sharedTurns = Math.max(0, this.sharedTurns);
  }

  /** Skips the next step of data that is sent in order. */
  skip(): void {
    this.sharedTurns++;
  }

  /** Restarts every lane at its first step, like perf_analyzer after a warm-up. */
  rewind(): void {
    this.turns.length = 0;
    this.sharedTurns = Math.min(this.sharedTurns, 0);
    this.firstShared = 0;
  }

  /**
   * Returns the lane's next request. Sets `step`, `stamp` and the other fields.
   * @param sequence index of the sequence, if there are sequences
   * @param slot slot that sends it
   * @throws RunError when a required input is missing or cannot be encoded
   */
  next(lane: number, sequence: number, slot = lane): WireRequest {
    if (this.sequences !== undefined) return this.nextOfSequence(lane, this.sequences.next(sequence), slot);
    this.step = this.nextStep(lane);
    const digits = this.nextId(lane);
    this.stamp = digits;
    return this.encode(digits?.length ?? 0, undefined, slot);
  }

  /** Like `next`, for the request that ends an open sequence early. */
  end(lane: number, sequence: number, slot = lane): WireRequest {
    const sequences = this.sequences as Sequences;
    const isCut = sequences.remaining(sequence) > 1;
    const request = this.nextOfSequence(lane, sequences.end(sequence), slot);
    this.isCut = isCut;
    if (isCut) this.isSequenceEnd = this.countsCut;
    return request;
  }

  /** Returns the content of the request that starts with a step. */
  contentOf(step: number): RequestContent {
    let content = this.contents.get(step);
    if (content === undefined) {
      const { steps, first } = this.locate(step);
      content = this.shared?.inputsOf(step) ?? assembleContent(this.service, steps, first);
      if (this.dataset.isStored !== true) this.contents.set(step, content);
    }
    return content;
  }

  /** Returns the expected outputs of the request that starts with a step. */
  expectedOf(step: number): readonly ExpectedOutput[] {
    if (this.dataset.isStored === true && this.dataset.hasExpected !== true) return NOTHING_EXPECTED;
    let expected = this.expected.get(step);
    if (expected === undefined) {
      const { steps, first } = this.locate(step);
      expected = assembleExpected(this.service.model, steps, first, this.service.batchSize);
      if (this.dataset.isStored !== true) this.expected.set(step, expected);
    }
    return expected;
  }

  private nextOfSequence(lane: number, place: SequencePlace, slot: number): WireRequest {
    this.step = (this.streamStarts[place.stream] ?? 0) + place.step;
    this.sequenceId = place.id;
    this.isSequenceEnd = place.isEnd;
    this.isCut = false;
    const digits = this.nextId(lane);
    const mark = this.service.codec.stampSequence?.(place);
    this.stamp = digits === undefined || mark === undefined ? (digits ?? mark) : joinBytes([digits, mark]);
    return this.encode(digits?.length ?? 0, mark, slot);
  }

  private nextId(lane: number): Uint8Array | undefined {
    if (!this.usesIds) return undefined;
    let ids = this.laneIds[lane];
    if (ids === undefined) {
      ids = new LaneIds(numberOf(lane, this.senders));
      this.laneIds[lane] = ids;
    }
    return ids.next();
  }

  private encode(idDigits: number, sequenceStamp: Uint8Array | undefined, slot: number): WireRequest {
    // Stored data is encoded once and not cached; it is read again the next time.
    if (this.dataset.isStored === true)
      return { ...this.service.codec.encode(this.contentOf(this.step), idDigits, sequenceStamp), isOnce: true };
    const key = (this.step * MAX_ID_DIGITS + idDigits) * MAX_STAMP_BYTES + (sequenceStamp?.length ?? 0);
    const encoded = this.encodedFor(slot);
    let request = encoded.get(key);
    if (request === undefined) {
      const codec = this.shared?.codecOf(slot) ?? this.service.codec;
      request = codec.encode(this.contentOf(this.step), idDigits, sequenceStamp);
      encoded.set(key, request);
    }
    return request;
  }

  private encodedFor(slot: number): Map<number, WireRequest> {
    if (this.shared?.isPerSlot !== true) return this.encoded;
    let encoded = this.encodedBySlot[slot];
    if (encoded === undefined) {
      encoded = new Map();
      this.encodedBySlot[slot] = encoded;
    }
    return encoded;
  }

  /** Like perf_analyzer: lane L starts at its own number and advances by the number of lanes, times the batch size. */
  private nextStep(lane: number): number {
    const count = (this.dataset.streams[0] ?? []).length;
    if (!this.dataset.isFromJson || count <= 1) return 0;
    if (this.sharedTurns >= 0) {
      const number = this.firstShared + numberOf(this.sharedTurns++, this.share);
      return (number * this.service.batchSize) % count;
    }
    const turn = this.turns[lane] ?? 0;
    this.turns[lane] = turn + 1;
    return ((numberOf(lane, this.share) + turn * this.activeLanes) * this.service.batchSize) % count;
  }

  /** Returns the stream that contains a step, and the step's index in it. */
  private locate(step: number): { readonly steps: readonly DataStep[]; readonly first: number } {
    let first = step;
    for (const steps of this.dataset.streams) {
      if (first < steps.length) return { steps, first };
      first -= steps.length;
    }
    return { steps: [], first: 0 };
  }
}
