import {
  type AnswerCheck,
  type AnswerFault,
  type AnswerHead,
  type CreateAnswerCheck,
  explainEncoding,
} from "../answer-check.ts";

const NO_BYTES = new Uint8Array(0);

/** Hands a response's body to its check: as it lies in the read buffer when it came whole in one read, as most do, otherwise in pieces. */
export class CheckedBody {
  private check: AnswerCheck | undefined;
  private head: AnswerHead = { jsonBytes: 0, isJson: false };
  /** The only piece so far, still in the read buffer. */
  private bytes: Uint8Array | undefined;
  private start = 0;
  private stop = 0;
  private isInPieces = false;
  private isActive = false;

  /** A response begins. Returns whether it is checked; without `create` it is not. */
  begin(create: CreateAnswerCheck | undefined, head: AnswerHead): boolean {
    this.bytes = undefined;
    this.isInPieces = false;
    this.isActive = create !== undefined;
    this.head = head;
    if (create !== undefined) this.check ??= create();
    return this.isActive;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    if (this.bytes === undefined && !this.isInPieces) {
      this.bytes = bytes;
      this.start = start;
      this.stop = end;
      return;
    }
    this.keep();
    this.check?.piece(bytes, start, end);
  }

  addEvent(event: Uint8Array): void {
    this.openPieces();
    this.check?.event(event);
  }

  /** The read buffer is about to be overwritten. */
  keep(): void {
    const { bytes } = this;
    if (bytes === undefined) return;
    this.bytes = undefined;
    this.openPieces();
    this.check?.piece(bytes, this.start, this.stop);
  }

  /**
   * The body is complete. Undefined when it is an answer.
   *
   * @param encoding its content encoding; empty: none
   */
  end(encoding: string): AnswerFault | undefined {
    const { bytes, check } = this;
    if (encoding !== "") return { reason: explainEncoding(encoding), bytes: NO_BYTES };
    if (!this.isActive) return undefined;
    if (this.isInPieces) return check?.end();
    this.bytes = undefined;
    return bytes === undefined
      ? check?.whole(NO_BYTES, 0, 0, this.head)
      : check?.whole(bytes, this.start, this.stop, this.head);
  }

  private openPieces(): void {
    if (this.isInPieces) return;
    this.isInPieces = true;
    this.check?.begin(this.head);
  }
}
