/**
 * Frames between a run and the process with a server: the length of the rest (u32), a type (u8), a number (u32), a body. All numbers
 * are little-endian.
 */
export interface Frame {
  readonly type: number;
  /** The number of a call or of a template. */
  readonly id: number;
  /** A view of memory that the next chunk may reuse. */
  readonly body: Uint8Array;
}

/**
 * Frames sent by a run: the bytes of a request under a number, a call of such a request, a query, and that a number is
 * no longer used.
 */
export const TO_SERVER = { template: 1, infer: 2, query: 3, forget: 4 } as const;

/**
 * Frames sent by the process: ready, with or without a warning; the reason why it is not ready; a response of a call; the response of a
 * query.
 */
export const FROM_SERVER = { ready: 1, refused: 2, response: 3, queryResult: 4 } as const;

/** Flags of a response: the last one, without content, an error with its message as the body. */
export const RESPONSE_FLAGS = { final: 1, empty: 2, failed: 4 } as const;

/**
 * Number of bytes before a response's body: its flags (u8), and two times in monotonic nanoseconds (f64): the start of
 * its request's call, or 0 without a call, and the arrival of the response.
 */
export const RESPONSE_HEAD_BYTES = 17;

const HEAD_BYTES = 9;

/** Returns a frame's bytes. */
export function encodeFrame(type: number, id: number, ...parts: readonly Uint8Array[]): Uint8Array {
  let size = HEAD_BYTES;
  for (const part of parts) size += part.length;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, size - 4, true);
  view.setUint8(4, type);
  view.setUint32(5, id, true);
  let at = HEAD_BYTES;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Returns the frame of a call's response. @param times start of the call, or 0 without a call, and arrival of its response */
export function encodeResponseFrame(
  call: number,
  flags: number,
  { beganNs, atNs }: { readonly beganNs: number; readonly atNs: number },
  body: Uint8Array,
): Uint8Array {
  const head = new DataView(new ArrayBuffer(RESPONSE_HEAD_BYTES));
  head.setUint8(0, flags);
  head.setFloat64(1, beganNs, true);
  head.setFloat64(9, atNs, true);
  return encodeFrame(FROM_SERVER.response, call, new Uint8Array(head.buffer), body);
}

/** Splits a byte stream into frames. */
export class FrameReader {
  private readonly onFrame: (frame: Frame) => void;
  /** Chunks of an incomplete frame, so that a long frame is joined only once. */
  private parts: Uint8Array[] = [];
  private partBytes = 0;
  private neededBytes = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.onFrame = onFrame;
  }

  feed(chunk: Uint8Array): void {
    this.parts.push(chunk);
    this.partBytes += chunk.length;
    if (this.partBytes < this.neededBytes) return;
    const bytes = this.parts.length === 1 ? chunk : Buffer.concat(this.parts);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    this.neededBytes = 4;
    while (bytes.length - at >= 4) {
      const size = 4 + view.getUint32(at, true);
      if (bytes.length - at < size) {
        this.neededBytes = size;
        break;
      }
      const body = bytes.subarray(at + HEAD_BYTES, at + size);
      this.onFrame({ type: view.getUint8(at + 4), id: view.getUint32(at + 5, true), body });
      at += size;
    }
    const rest = bytes.subarray(at);
    this.parts = rest.length === 0 ? [] : [rest];
    this.partBytes = rest.length;
  }
}
