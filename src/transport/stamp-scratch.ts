/** Bytes that are sent again and again, each time with another stamp. */
export interface StampedBytes {
  readonly bytes: Uint8Array;
  /** Offset of the stamp in `bytes`; -1 when there is none. */
  readonly stampOffset: number;
  /** Writes what else depends on the stamp. */
  readonly seal?: { write(bytes: Uint8Array, stamp: Uint8Array): void } | undefined;
}

/** A copy of such bytes with a stamp written in. Each slot keeps one, so that bytes under way are never changed. */
export class StampScratch {
  private bytes = new Uint8Array(0);
  /** What `bytes` was copied from: as long as it stays the same only the stamp is written. */
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
