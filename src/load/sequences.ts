import type { SequencesPlan } from "../plan/sequences.ts";

/** Sequences of requests: which sequence a request belongs to, where in it it stands, and when the sequence ends. */

/** Requests of a sequence where nothing else says how many. */
export const DEFAULT_SEQUENCE_LENGTH = 20;

/** How long sequences are and how they are numbered. */
export interface SequenceOptions {
  readonly plan: Pick<SequencesPlan, "length" | "lengthVariationPct" | "startId" | "idCount">;
  /** Steps of each data stream, of which a sequence takes one at random; empty: the data is made up, and has one step for all. */
  readonly streamLengths: readonly number[];
  /** A number from 0 up to but not 1, a new one with each call. */
  readonly random: () => number;
}

/** A request's place in its sequence. */
export interface SequencePlace {
  /** Correlation id. */
  readonly id: number;
  readonly isStart: boolean;
  readonly isEnd: boolean;
  /** The data stream and the step in it. */
  readonly stream: number;
  readonly step: number;
}

interface Running {
  id: number;
  /** 0 before the first sequence. */
  length: number;
  sentCount: number;
  stream: number;
}

/**
 * Numbers requests of sequences as perf_analyzer does: ids count up and wrap around their range; one that is still in use is passed over for
 * the sequence's own last one. Never two sequences under way have the same id.
 */
export class Sequences {
  private readonly options: SequenceOptions;
  private readonly running: Running[] = [];
  /** Ids of sequences under way or, until they take another, ended; only where ids come again. */
  private readonly taken = new Set<number>();
  private idsTaken = 0;

  constructor(options: SequenceOptions) {
    this.options = options;
  }

  /** The place of the next request of a sequence, by its index from 0. After its end a new one begins. */
  next(index: number): SequencePlace {
    while (this.running.length <= index) this.running.push({ id: -1, length: 0, sentCount: 0, stream: 0 });
    const sequence = this.running[index] as Running;
    const isStart = sequence.sentCount === sequence.length;
    if (isStart) this.begin(sequence);
    return this.place(sequence, isStart);
  }

  /** Whether a sequence has begun and not ended. */
  isOpen(index: number): boolean {
    const sequence = this.running[index];
    return sequence !== undefined && sequence.sentCount < sequence.length;
  }

  /** The place of the request that ends an open sequence early: its data is that of the sequence's last step, as in perf_analyzer. */
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
    const { plan, random, streamLengths } = this.options;
    sequence.id = this.takeId(sequence.id);
    sequence.stream = Math.floor(random() * streamLengths.length);
    const ofStream = plan.length === null ? streamLengths[sequence.stream] : undefined;
    sequence.length = ofStream ?? this.vary(plan.length ?? DEFAULT_SEQUENCE_LENGTH);
    sequence.sentCount = 0;
  }

  private takeId(lastId: number): number {
    const { startId, idCount } = this.options.plan;
    if (idCount === null) return startId + this.idsTaken++;
    for (let tried = 0; tried < idCount; tried++) {
      const id = startId + (this.idsTaken++ % idCount);
      if (this.taken.has(id)) {
        // This sequence has ended, so that its own id is free.
        if (lastId >= 0) return lastId;
        continue;
      }
      this.taken.delete(lastId);
      this.taken.add(id);
      return id;
    }
    throw new RangeError(`${idCount} ids are too few for ${this.running.length} sequences`);
  }

  private vary(length: number): number {
    const offset = Math.trunc((2 * this.options.random() - 1) * (this.options.plan.lengthVariationPct / 100) * length);
    return Math.max(1, length + offset);
  }
}
