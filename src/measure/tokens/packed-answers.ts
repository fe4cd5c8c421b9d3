/** Answers on their way to where their tokens are counted: bytes and numbers in a row, so that packing costs little and copies nothing twice. */

/** Several answers, and the prompts that were not told before. */
export interface PackedAnswers {
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One read of an answer. */
export interface AnswerRead {
  /** Monotonic nanoseconds. */
  readonly readNs: number;
  readonly body: Uint8Array;
}

/** Told of what is in a package, in its order. */
export interface AnswerVisitor {
  onPrompt(step: number, body: Uint8Array): void;
  /** @param readNs of each read, in nanoseconds after the send */
  onAnswer(step: number, sendNs: number, readNs: Float64Array, bodies: readonly Uint8Array[]): void;
  onFailure(): void;
}

const PROMPT = 0;
const ANSWER = 1;
const FAILURE = 2;

const FIRST_BYTES = 64 * 1024;
/** A package of this size is worth a message. */
const FULL_BYTES = 256 * 1024;
const FULL_NUMBERS = 32 * 1024;

/** Packs answers as they come. */
export class AnswerPacker {
  private readonly send: (packed: PackedAnswers) => void;
  private numbers: number[] = [];
  private bytes = new Uint8Array(FIRST_BYTES);
  private byteCount = 0;
  private readonly told = new Set<number>();

  /** @param send takes a package when it is full or asked for */
  constructor(send: (packed: PackedAnswers) => void) {
    this.send = send;
  }

  /** Whether a step's prompt was told before. */
  knowsPrompt(step: number): boolean {
    return this.told.has(step);
  }

  addPrompt(step: number, body: Uint8Array): void {
    this.told.add(step);
    this.numbers.push(PROMPT, step, body.length);
    this.append(body);
  }

  addAnswer(step: number, sendNs: number, reads: readonly AnswerRead[]): void {
    this.numbers.push(ANSWER, step, sendNs, reads.length);
    for (const { readNs, body } of reads) {
      this.numbers.push(readNs - sendNs, body.length);
      this.append(body);
    }
    if (this.byteCount >= FULL_BYTES || this.numbers.length >= FULL_NUMBERS) this.flush();
  }

  addFailure(): void {
    this.numbers.push(FAILURE);
  }

  flush(): void {
    if (this.numbers.length === 0) return;
    this.send({ numbers: Float64Array.from(this.numbers), bytes: this.bytes.slice(0, this.byteCount) });
    this.numbers = [];
    this.byteCount = 0;
  }

  private append(body: Uint8Array): void {
    const needed = this.byteCount + body.length;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
      grown.set(this.bytes.subarray(0, this.byteCount));
      this.bytes = grown;
    }
    this.bytes.set(body, this.byteCount);
    this.byteCount = needed;
  }
}

/** Goes through a package. */
export function visitAnswers({ numbers, bytes }: PackedAnswers, visitor: AnswerVisitor): void {
  let at = 0;
  let offset = 0;
  const number = (): number => numbers[at++] as number;
  const body = (): Uint8Array => {
    const length = number();
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  while (at < numbers.length) {
    const type = number();
    if (type === FAILURE) visitor.onFailure();
    else if (type === PROMPT) visitor.onPrompt(number(), body());
    else {
      const step = number();
      const sendNs = number();
      const readNs = new Float64Array(number());
      const bodies: Uint8Array[] = [];
      for (let read = 0; read < readNs.length; read++) {
        readNs[read] = number();
        bodies.push(body());
      }
      visitor.onAnswer(step, sendNs, readNs, bodies);
    }
  }
}
