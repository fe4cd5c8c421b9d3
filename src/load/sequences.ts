import type { SequencesPlan } from "../plan/sequences.ts";
import { countOf, numberOf, type Share, WHOLE } from "./share.ts";

/** Number of requests in a sequence when neither the plan nor the data gives one. */
const DEFAULT_SEQUENCE_LENGTH = 20;

export interface SequenceOptions {
  readonly plan: Pick<SequencesPlan, "length" | "lengthVariationPct" | "startId" | "idCount">;
  /** Lengths of the data streams, which sequences take in turn. Empty: generated data with one step. */
  readonly streamLengths: readonly number[];
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  /**
   * Index of the sender that has the sequences, and number of senders. Ids and lengths are those of every `count`-th sequence.
   * Default: one sender.
   */
  readonly senders?: Share | undefined;
}

/** Position of a request in its sequence. */
export interface SequencePlace {
  readonly id: number;
  readonly isStart: boolean;
  readonly isEnd: boolean;
  /** Indexes of the data stream and of the step in it. */
  readonly stream: number;
  readonly step: number;
}

interface Running {
  id: number;
  /** Length; 0 before the first sequence. */
  length: number;
  sentCount: number;
  stream: number;
}

/**
 * Assigns requests to sequences like perf_analyzer. Ids count up and wrap around; when the next id is in use, a sequence reuses its own
 * last id. Concurrent sequences never have the same id.
 */
export class Sequences {
  private readonly options: SequenceOptions;
  private readonly running: Running[] = [];
  /** Ids in use, or last used by an ended sequence; only when ids wrap around. */
  private readonly taken = new Set<number>();
  private idsTaken = 0;
  private begunCount = 0;
  private readonly senders: Share;
  /** Number of other senders' sequence lengths to skip before this sender's next one. */
  private skipCount: number;

  constructor(options: SequenceOptions) {
    this.options = options;
    this.senders = options.senders ?? WHOLE;
    this.skipCount = this.senders.index;
  }

  /** Returns the position of a sequence's next request, by the sequence's index from 0. Starts a new sequence after its end. */
  next(index: number): SequencePlace {
    while (this.running.length <= index) this.running.push({ id: -1, length: 0, sentCount: 0, stream: 0 });
    const sequence = this.running[index] as Running;
    const isStart = sequence.sentCount === sequence.length;
    if (isStart) this.begin(sequence);
    return this.place(sequence, isStart);
  }

  /** Whether a sequence has started and not ended. */
  isOpen(index: number): boolean {
    const sequence = this.running[index];
    return sequence !== undefined && sequence.sentCount < sequence.length;
  }

  /** Number of requests that an open sequence still has. */
  remaining(index: number): number {
    const { length, sentCount } = this.running[index] as Running;
    return length - sentCount;
  }

  /** Returns the position of the request that ends an open sequence early, with the data of its last step like perf_analyzer. */
  end(index: number): SequencePlace {
    const sequence = this.running[index] as Running;
    sequence.sentCount = sequence.length - 1;
    return this.place(sequence, false);
  }

  private place(sequence: Running, isStart: boolean): SequencePlace {
    const step = sequence.sentCount % (this.options.streamLengths[sequence.stream] ?? 1);
    sequence.sentCount++;
    return { id: sequence.id, isStart, isEnd: sequence.sentCount === sequence.length, stream: sequence.stream, step };
  }

  private begin(sequence: Running): void {
    const { plan, streamLengths } = this.options;
    sequence.id = this.takeId(sequence.id);
    sequence.stream = numberOf(this.begunCount++, this.senders) % Math.max(1, streamLengths.length);
    const ofStream = plan.length === null ? streamLengths[sequence.stream] : undefined;
    sequence.length = ofStream ?? this.vary(plan.length ?? DEFAULT_SEQUENCE_LENGTH);
    sequence.sentCount = 0;
  }

  private takeId(lastId: number): number {
    const { startId, idCount } = this.options.plan;
    if (idCount === null) return startId + numberOf(this.idsTaken++, this.senders);
    const ownCount = countOf(idCount, this.senders);
    for (let tried = 0; tried < ownCount; tried++) {
      const id = startId + numberOf(this.idsTaken++ % ownCount, this.senders);
      if (this.taken.has(id)) {
        // This sequence has ended, so its last id is free.
        if (lastId >= 0) return lastId;
        continue;
      }
      this.taken.delete(lastId);
      this.taken.add(id);
      return id;
    }
    throw new RangeError(`${ownCount} ids are too few for ${this.running.length} sequences`);
  }

  private vary(length: number): number {
    const { random } = this.options;
    for (; this.skipCount > 0; this.skipCount--) random();
    this.skipCount = this.senders.count - 1;
    const offset = Math.trunc((2 * random() - 1) * (this.options.plan.lengthVariationPct / 100) * length);
    return Math.max(1, length + offset);
  }
}
