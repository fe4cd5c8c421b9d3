/** Bytes that are sent repeatedly, each time with another stamp. */
export interface StampedBytes {
  readonly bytes: Uint8Array;
  /** Offset of the stamp in `bytes`; -1 without a stamp. */
  readonly stampOffset: number;
  /** Updates the bytes that depend on the stamp, such as a checksum. */
  readonly seal?: { write(bytes: Uint8Array, stamp: Uint8Array): void } | undefined;
}

/** A copy of stamped bytes into which stamps are written. One per slot, so that bytes in flight never change. */
export class StampScratch {
  private bytes = new Uint8Array(0);
  /** The bytes that were copied; only the stamp is written while they stay the same. */
  private source: Uint8Array | undefined;

  fill({ bytes, stampOffset, seal }: StampedBytes, stamp: Uint8Array): Uint8Array {
    if (this.source !== bytes) {
      this.source = bytes;
      if (this.bytes.length !== bytes.length) this.bytes = new Uint8Array(bytes.length);
      this.bytes.set(bytes);
    }
    this.bytes.set(stamp, stampOffset);
    seal?.write(this.bytes, stamp);
    return this.bytes;
  }
}
