import type { Socket } from "../../runtime/socket.ts";
import { FRAME_HEADER_BYTES, putFrameHeader } from "./frames.ts";

const SMALL_BYTES = 64;
const INITIAL_BYTES = 16 * 1024; // 16 KiB, grown as needed

/** Collects frames so that many requests leave in one write. Does not reuse a buffer that the runtime still reads. */
export class OutBuffer {
  private bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  private length = 0;
  /** A buffer the runtime may still be reading from. */
  private retained: Uint8Array | undefined;

  get isEmpty(): boolean {
    return this.length === 0;
  }

  put(bytes: Uint8Array): void {
    this.grow(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  putFrame(type: number, flags: number, streamId: number, bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.grow(FRAME_HEADER_BYTES + size);
    putFrameHeader(this.bytes, this.length, size, type, flags, streamId);
    this.copy(bytes, start, end, this.length + FRAME_HEADER_BYTES);
    this.length += FRAME_HEADER_BYTES + size;
  }

  writeTo(socket: Socket): void {
    if (this.length === 0) return;
    // When the socket has no pending bytes, it no longer reads the retained buffer.
    const spare = socket.pendingBytes === 0 ? this.retained : undefined;
    const isFree = socket.write(this.bytes.subarray(0, this.length));
    this.length = 0;
    if (isFree) return;
    this.retained = this.bytes;
    this.bytes = spare ?? new Uint8Array(INITIAL_BYTES);
  }

  /** Copies small parts byte by byte, because creating a view costs more. */
  private copy(bytes: Uint8Array, start: number, end: number, to: number): void {
    if (start === 0 && end === bytes.length) this.bytes.set(bytes, to);
    else if (end - start > SMALL_BYTES) this.bytes.set(bytes.subarray(start, end), to);
    else for (let i = start; i < end; i++) this.bytes[to + i - start] = bytes[i] as number;
  }

  private grow(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}
