import { NO_BYTES } from "../../runtime/bytes.ts";
import {
  type CreateResponseCheck,
  explainEncoding,
  type ResponseCheck,
  type ResponseFault,
  type ResponseHead,
} from "../response-check.ts";

/** Passes a response's body to its check: as a view of the read buffer if it arrived in one read, as most do, otherwise in pieces. */
export class CheckedBody {
  private check: ResponseCheck | undefined;
  private head: ResponseHead = { jsonBytes: 0, isJson: false };
  /** The only piece so far, a view of the read buffer. */
  private bytes: Uint8Array | undefined;
  private start = 0;
  private stop = 0;
  private isInPieces = false;
  private isActive = false;

  /** Starts a response. Returns whether it is checked: false without `create`. */
  begin(create: CreateResponseCheck | undefined, head: ResponseHead): boolean {
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
    this.flush();
    this.check?.piece(bytes, start, end);
  }

  addEvent(bytes: Uint8Array, start: number, end: number): void {
    this.openPieces();
    this.check?.event(bytes, start, end);
  }

  /** Passes on the piece in the read buffer before the next read overwrites it. */
  flush(): void {
    const { bytes } = this;
    if (bytes === undefined) return;
    this.bytes = undefined;
    this.openPieces();
    this.check?.piece(bytes, this.start, this.stop);
  }

  /** Drops the received part of a body that does not end. */
  drop(): void {
    this.bytes = undefined;
    if (this.isInPieces) this.check?.begin(this.head);
    this.isInPieces = false;
  }

  /** Ends the body. Returns undefined when the response is valid. @param encoding content encoding of the body; empty: none */
  end(encoding: string): ResponseFault | undefined {
    const { bytes, check } = this;
    if (encoding !== "") return { reason: explainEncoding(encoding), bytes: NO_BYTES };
    if (!this.isActive) return undefined;
    if (this.isInPieces) {
      this.isInPieces = false;
      return check?.end();
    }
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
