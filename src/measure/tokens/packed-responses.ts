import { NO_BYTES } from "../../runtime/bytes.ts";
import { decoder, encoder } from "../../runtime/text.ts";
import type { Failure } from "../../transport/failure.ts";
import { BytePacker, FULL_BYTES, PackageReader, type PackedBytes } from "../../transport/packed-bytes.ts";

/** Packs responses, and prompts that were not packed before, for the thread that counts tokens. */

export interface PackedResponse {
  /** Number of the request among the finished requests of the run, from 0. Default: 0 */
  readonly index?: number | undefined;
  /** Index of the request in the data. */
  readonly step: number;
  /** Correlation id; 0 for a request outside of a sequence. */
  readonly sequenceId: number;
  /** Whole monotonic nanoseconds. */
  readonly sendNs: number;
  /** Time from the due time of the request to the send, in whole nanoseconds. Default: 0 */
  readonly waitNs?: number | undefined;
  /** Arrival of each response, in whole nanoseconds after the send, ascending. */
  readonly offsetsNs: ArrayLike<number>;
  /** Bytes of each response. */
  readonly lengths: readonly number[];
  /** The bytes of all, one after another, in any number of parts. They are copied. */
  readonly parts: readonly Uint8Array[];
  /** The server that responded, if there are several. */
  readonly server?: string | undefined;
}

/** Returns the bytes of responses as they are packed. */
export function partsOf(bodies: readonly Uint8Array[]): Pick<PackedResponse, "lengths" | "parts"> {
  return { lengths: bodies.map(({ length }) => length), parts: bodies };
}

/** A request that failed, or that this client cancelled. Times are whole monotonic nanoseconds. */
export interface PackedFailure {
  readonly step: number;
  readonly sequenceId: number;
  readonly sendNs: number;
  /** NaN if no byte arrived. */
  readonly firstByteNs: number;
  /** Time at which the failure was detected. */
  readonly endNs: number;
  /** Number of responses before the failure. */
  readonly responseCount: number;
  readonly failure: Pick<Failure, "kind" | "message" | "status" | "server" | "cutMark">;
}

/** Receives the responses whose tokens are measured. */
export interface ResponseSink {
  /** Reports whether a step's prompt was added before. */
  knowsPrompt(step: number): boolean;
  /** @param session the conversation of the request */
  addPrompt(step: number, body: Uint8Array, session?: string): void;
  addResponse(response: PackedResponse): void;
  addFailure(failure: PackedFailure): void;
}

/** Receives the contents of a package in order. */
interface ResponseVisitor {
  /** @param session the conversation of the request; undefined if there is none */
  onPrompt(step: number, body: Uint8Array, session: string | undefined): void;
  onResponse(response: Omit<PackedResponse, "lengths" | "parts"> & { readonly texts: readonly string[] }): void;
  onFailure(failure: PackedFailure): void;
}

const PROMPT = 0;
const RESPONSE = 1;
const FAILURE = 2;

/** A package is also sent when it contains this many numbers. */
const FULL_NUMBERS = 32 * 1024;

/** Packs responses as they arrive. */
export class ResponsePacker implements ResponseSink {
  private readonly send: (packed: PackedBytes) => void;
  private readonly packer = new BytePacker();
  private readonly packedPrompts = new Set<number>();

  /** @param send receives a package when it is full or flushed */
  constructor(send: (packed: PackedBytes) => void) {
    this.send = send;
  }

  knowsPrompt(step: number): boolean {
    return this.packedPrompts.has(step);
  }

  addPrompt(step: number, body: Uint8Array, session?: string): void {
    this.packedPrompts.add(step);
    const { packer } = this;
    packer.numbers.push(PROMPT, step);
    packer.append(body);
    packer.append(encoder.encode(session ?? ""));
  }

  addResponse(response: PackedResponse): void {
    const { index = 0, step, sequenceId, sendNs, waitNs = 0, offsetsNs, lengths, parts, server = "" } = response;
    const { packer } = this;
    packer.numbers.push(RESPONSE, step, index, sequenceId, sendNs, waitNs, lengths.length);
    packer.append(server === "" ? NO_BYTES : encoder.encode(server));
    for (let read = 0; read < lengths.length; read++)
      packer.numbers.push(offsetsNs[read] as number, lengths[read] as number);
    for (const part of parts) packer.appendBytes(part);
    if (packer.byteCount >= FULL_BYTES || packer.numbers.length >= FULL_NUMBERS) this.flush();
  }

  addFailure({ step, sequenceId, sendNs, firstByteNs, endNs, responseCount, failure }: PackedFailure): void {
    const { packer } = this;
    packer.numbers.push(FAILURE, step, sequenceId, sendNs, firstByteNs, endNs, responseCount);
    const { kind, message, status, server, cutMark } = failure;
    packer.append(encoder.encode(JSON.stringify({ kind, message, status, server, cutMark })));
    if (packer.numbers.length >= FULL_NUMBERS) this.flush();
  }

  flush(): void {
    if (this.packer.numbers.length > 0) this.send(this.packer.take());
  }

  /** Packs all prompts again from now on, because the receiver has restarted. */
  forgetPrompts(): void {
    this.flush();
    this.packedPrompts.clear();
  }
}

/** Passes the contents of a package to the visitor. */
export function visitResponses(packed: PackedBytes, visitor: ResponseVisitor): void {
  const reader = new PackageReader(packed);
  const number = (): number => reader.number();
  const body = (): Uint8Array => reader.piece();
  const text = (): string => decoder.decode(body());
  while (!reader.isAtEnd) {
    const type = number();
    const step = number();
    if (type === PROMPT) {
      const prompt = body();
      const session = text();
      visitor.onPrompt(step, prompt, session === "" ? undefined : session);
    } else if (type === RESPONSE) {
      const [index, sequenceId, sendNs, waitNs] = [number(), number(), number(), number()];
      const offsetsNs = new Float64Array(number());
      const server = text();
      const lengths = offsetsNs.map((_, read) => {
        offsetsNs[read] = number();
        return number();
      });
      const origin = server === "" ? {} : { server };
      visitor.onResponse({
        index,
        step,
        sequenceId,
        sendNs,
        waitNs,
        offsetsNs,
        texts: reader.texts(lengths),
        ...origin,
      });
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
