import type { Failure } from "../../transport/failure.ts";

/** Answers on their way to where their tokens are counted: bytes and numbers in a row, so that packing costs little and nothing is copied twice. */

/** Several answers, and the prompts that were not packed before. */
export interface PackedAnswers {
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One answered request. */
export interface PackedAnswer {
  /** Which request of the data it is. */
  readonly step: number;
  /** Correlation id; 0 for a request that belongs to no sequence. */
  readonly sequenceId: number;
  /** Whole monotonic nanoseconds. */
  readonly sendNs: number;
  /** When each response came, in whole nanoseconds after the send, ascending. */
  readonly offsetsNs: ArrayLike<number>;
  readonly bodies: readonly Uint8Array[];
}

/** One request that failed, or was cancelled by this client. Times are whole monotonic nanoseconds. */
export interface PackedFailure {
  readonly step: number;
  readonly sequenceId: number;
  readonly sendNs: number;
  /** NaN where no byte came. */
  readonly firstByteNs: number;
  /** When it was known to have failed. */
  readonly endNs: number;
  /** Responses that came before the failure. */
  readonly responseCount: number;
  readonly failure: Pick<Failure, "kind" | "message" | "status">;
}

/** Receives the contents of a package in their order. */
export interface AnswerVisitor {
  /** @param session the conversation that the request is a turn of; undefined without one */
  onPrompt(step: number, body: Uint8Array, session: string | undefined): void;
  onAnswer(answer: PackedAnswer): void;
  onFailure(failure: PackedFailure): void;
}

const PROMPT = 0;
const ANSWER = 1;
const FAILURE = 2;

const FIRST_BYTES = 64 * 1024;
/** A package of this size is worth a message. */
const FULL_BYTES = 256 * 1024;
const FULL_NUMBERS = 32 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Packs answers as they come. */
export class AnswerPacker {
  private readonly send: (packed: PackedAnswers) => void;
  private numbers: number[] = [];
  private bytes = new Uint8Array(FIRST_BYTES);
  private byteCount = 0;
  private readonly packedPrompts = new Set<number>();

  /** @param send takes a package when it is full or asked for */
  constructor(send: (packed: PackedAnswers) => void) {
    this.send = send;
  }

  /** Whether a step's prompt was packed before. */
  knowsPrompt(step: number): boolean {
    return this.packedPrompts.has(step);
  }

  /** @param session the conversation that the request is a turn of */
  addPrompt(step: number, body: Uint8Array, session?: string): void {
    this.packedPrompts.add(step);
    this.numbers.push(PROMPT, step);
    this.append(body);
    this.append(encoder.encode(session ?? ""));
  }

  addAnswer({ step, sequenceId, sendNs, offsetsNs, bodies }: PackedAnswer): void {
    this.numbers.push(ANSWER, step, sequenceId, sendNs, bodies.length);
    for (let read = 0; read < bodies.length; read++) {
      this.numbers.push(offsetsNs[read] as number);
      this.append(bodies[read] as Uint8Array);
    }
    if (this.byteCount >= FULL_BYTES || this.numbers.length >= FULL_NUMBERS) this.flush();
  }

  addFailure({ step, sequenceId, sendNs, firstByteNs, endNs, responseCount, failure }: PackedFailure): void {
    this.numbers.push(FAILURE, step, sequenceId, sendNs, firstByteNs, endNs, responseCount);
    const { kind, message, status } = failure;
    this.append(encoder.encode(JSON.stringify({ kind, message, status })));
    if (this.numbers.length >= FULL_NUMBERS) this.flush();
  }

  flush(): void {
    if (this.numbers.length === 0) return;
    this.send({ numbers: Float64Array.from(this.numbers), bytes: this.bytes.slice(0, this.byteCount) });
    this.numbers = [];
    this.byteCount = 0;
  }

  /** Prompts are packed again from now on: whoever receives them has begun anew. */
  forgetPrompts(): void {
    this.flush();
    this.packedPrompts.clear();
  }

  /** The length as a number, and the bytes. */
  private append(body: Uint8Array): void {
    this.numbers.push(body.length);
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

/** Hands the contents of a package to the visitor. */
export function visitAnswers({ numbers, bytes }: PackedAnswers, visitor: AnswerVisitor): void {
  let at = 0;
  let offset = 0;
  const number = (): number => numbers[at++] as number;
  const body = (): Uint8Array => {
    const length = number();
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  const text = (): string => decoder.decode(body());
  while (at < numbers.length) {
    const type = number();
    const step = number();
    if (type === PROMPT) {
      const prompt = body();
      const session = text();
      visitor.onPrompt(step, prompt, session === "" ? undefined : session);
    } else if (type === ANSWER) {
      const [sequenceId, sendNs] = [number(), number()];
      const offsetsNs = new Float64Array(number());
      const bodies: Uint8Array[] = [];
      for (let read = 0; read < offsetsNs.length; read++) {
        offsetsNs[read] = number();
        bodies.push(body());
      }
      visitor.onAnswer({ step, sequenceId, sendNs, offsetsNs, bodies });
    } else {
      const [sequenceId, sendNs, firstByteNs, endNs, responseCount] = [
        number(),
        number(),
        number(),
        number(),
        number(),
      ];
      const failure = JSON.parse(text()) as PackedFailure["failure"];
      visitor.onFailure({ step, sequenceId, sendNs, firstByteNs, endNs, responseCount, failure });
    }
  }
}
