import { assembleContent, assembleExpected, type ExpectedOutput } from "../../inputs/batches.ts";
import type { DataStep, Dataset } from "../../inputs/dataset.ts";
import { LaneIds } from "../../load/lane-ids.ts";
import type { SequencePlace, Sequences } from "../../load/sequences.ts";
import type { RequestContent, Service } from "../../service/service.ts";
import { joinBytes } from "../../service/tensor.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { SharedTensors } from "../target/shared-tensors.ts";

/** Longest stamp of a sequence, far above any real one. */
const MAX_STAMP_BYTES = 1024;
const MAX_ID_DIGITS = 32;
const NOTHING_EXPECTED: readonly ExpectedOutput[] = [];

/** What a feed's requests have besides their data. */
export interface FeedOptions {
  /** Requests carry an id. */
  readonly usesIds: boolean;
  /** Requests belong to sequences. */
  readonly sequences?: Sequences | undefined;
  /** Where tensors lie in shared memory and not in requests. */
  readonly shared?: SharedTensors | undefined;
  /** Every request takes the next step of the data, whichever lane it is. Default false. */
  readonly isInOrder?: boolean | undefined;
}

/** Gives lanes their next request: which step of the data, encoded once per distinct step, and what is stamped on it. */
export class RequestFeed {
  /** The step of the request given last, counted through all streams of the data. */
  step = 0;
  /** The stamp of the request given last; valid until the next one. */
  stamp: Uint8Array | undefined = undefined;
  /** The correlation id of the request given last; 0 where there are no sequences. */
  sequenceId = 0;
  /** Whether the request given last ends its sequence. */
  isSequenceEnd = false;
  /** Whether steps were left out ahead of the request given last, to end its sequence early. */
  isCut = false;
  readonly sequences: Sequences | undefined;
  protected readonly service: Service;
  protected readonly dataset: Dataset;
  private readonly usesIds: boolean;
  private readonly laneIds: LaneIds[] = [];
  /** The number of each stream's first step. */
  protected readonly streamStarts: number[] = [];
  /** How many requests each lane has been given. */
  private readonly turns: number[] = [];
  /** Encodings by step and by the lengths of what is stamped on them. */
  private readonly encoded = new Map<number, WireRequest>();
  private readonly contents = new Map<number, RequestContent>();
  private readonly expected = new Map<number, ExpectedOutput[]>();
  private readonly shared: SharedTensors | undefined;
  /** By slot, where slots have encodings of their own. */
  private readonly encodedBySlot: Map<number, WireRequest>[] = [];
  /** Lanes in use: the stride with which a lane goes through the data. */
  private activeLanes = 1;
  /** Requests given so far while lanes share the data; negative where each goes through it by itself. */
  private sharedTurns: number;
  private readonly isInOrder: boolean;

  constructor(service: Service, dataset: Dataset, { usesIds, sequences, shared, isInOrder = false }: FeedOptions) {
    this.shared = shared;
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

  setActiveLanes(count: number): void {
    this.activeLanes = Math.max(1, count);
    if (!this.isInOrder) this.sharedTurns = -1;
  }

  /** From now on every request takes the next step, whichever lane it is: where lanes come and go, strides would repeat some and miss others. */
  shareSteps(): void {
    this.sharedTurns = 0;
  }

  /** Every lane begins with its first step again, as perf_analyzer's lanes do after a warm-up. */
  rewind(): void {
    this.turns.length = 0;
    this.sharedTurns = Math.min(this.sharedTurns, 0);
  }

  /**
   * The lane's next request; look at `step`, `stamp` and the rest after the call.
   * @param sequence index of the sequence it belongs to, where there are any
   * @param slot what it is sent on
   * @throws RunError when the data lacks a required input or cannot be encoded
   */
  next(lane: number, sequence: number, slot = lane): WireRequest {
    if (this.sequences !== undefined) return this.nextOfSequence(lane, this.sequences.next(sequence), slot);
    this.step = this.nextStep(lane);
    const digits = this.nextId(lane);
    this.stamp = digits;
    return this.encode(digits?.length ?? 0, undefined, slot);
  }

  /** The request that ends an open sequence early, as `next` gives others. */
  end(lane: number, sequence: number, slot = lane): WireRequest {
    const request = this.nextOfSequence(lane, (this.sequences as Sequences).end(sequence), slot);
    this.isCut = true;
    return request;
  }

  /** What the request that begins with a step is made of. */
  contentOf(step: number): RequestContent {
    let content = this.contents.get(step);
    if (content === undefined) {
      const { steps, first } = this.locate(step);
      content = this.shared?.inputsOf(step) ?? assembleContent(this.service, steps, first);
      if (this.dataset.isStored !== true) this.contents.set(step, content);
    }
    return content;
  }

  /** The outputs that must come back for the request that begins with a step. */
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
    const mark = this.service.codec.stampSequence(place);
    this.stamp = digits === undefined ? mark : joinBytes([digits, mark]);
    return this.encode(digits?.length ?? 0, mark, slot);
  }

  private nextId(lane: number): Uint8Array | undefined {
    if (!this.usesIds) return undefined;
    let ids = this.laneIds[lane];
    if (ids === undefined) {
      ids = new LaneIds(lane);
      this.laneIds[lane] = ids;
    }
    return ids.next();
  }

  private encode(idDigits: number, sequenceStamp: Uint8Array | undefined, slot: number): WireRequest {
    // What is stored is sent once and forgotten: its next time it is read again.
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

  /** As perf_analyzer deals the data: lane L starts at its own number and goes on by the number of lanes, times the batch size. */
  private nextStep(lane: number): number {
    const count = (this.dataset.streams[0] ?? []).length;
    if (!this.dataset.isFromJson || count <= 1) return 0;
    if (this.sharedTurns >= 0) return (this.sharedTurns++ * this.service.batchSize) % count;
    const turn = this.turns[lane] ?? 0;
    this.turns[lane] = turn + 1;
    return ((lane + turn * this.activeLanes) * this.service.batchSize) % count;
  }

  /** The stream that holds a step, and the step's place in it. */
  private locate(step: number): { readonly steps: readonly DataStep[]; readonly first: number } {
    let first = step;
    for (const steps of this.dataset.streams) {
      if (first < steps.length) return { steps, first };
      first -= steps.length;
    }
    return { steps: [], first: 0 };
  }
}
