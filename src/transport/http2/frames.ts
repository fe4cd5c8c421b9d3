/** HTTP/2 frame layout (RFC 9113, section 4 and 6) and functions that write frames. */

export const FRAME_HEADER_BYTES = 9;
export const DEFAULT_MAX_FRAME_BYTES = 16 * 1024; // 16 KiB, the smallest limit that a peer may set
export const DEFAULT_WINDOW_BYTES = 65_535;
export const MAX_WINDOW_BYTES = 2 ** 31 - 1;

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
} as const;

/** Error codes (RFC 9113, section 7) by number. */
const ERROR_NAMES: readonly string[] = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

export const ERROR = {
  none: 0,
  protocol: 1,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
} as const;

/** The first bytes that a client sends. */
export const CONNECTION_PREFACE: Uint8Array = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export function errorName(code: number): string {
  return ERROR_NAMES[code] ?? `error ${code}`;
}

/** The header of a frame without its length. One object per connection and direction: it is valid until the next frame. */
export interface FrameHeader {
  type: number;
  flags: number;
  /** 31 bits. */
  streamId: number;
}

/** Writes a frame header at `offset`. @param length length of the payload in bytes */
export function putFrameHeader(
  out: Uint8Array,
  offset: number,
  length: number,
  { type, flags, streamId }: FrameHeader,
): void {
  out[offset] = length >>> 16;
  out[offset + 1] = length >>> 8;
  out[offset + 2] = length;
  out[offset + 3] = type;
  out[offset + 4] = flags;
  putUint32(out, offset + 5, streamId);
}

export function putUint32(out: Uint8Array, offset: number, value: number): void {
  out[offset] = value >>> 24;
  out[offset + 1] = value >>> 16;
  out[offset + 2] = value >>> 8;
  out[offset + 3] = value;
}

export function readUint32(bytes: Uint8Array, offset: number): number {
  return (
    (((bytes[offset] as number) << 24) |
      ((bytes[offset + 1] as number) << 16) |
      ((bytes[offset + 2] as number) << 8) |
      (bytes[offset + 3] as number)) >>>
    0
  );
}

export function readUint24(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] as number) << 16) | ((bytes[offset + 1] as number) << 8) | (bytes[offset + 2] as number);
}

/** Returns a SETTINGS frame. */
export function encodeSettings(settings: readonly (readonly [id: number, value: number])[]): Uint8Array {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + settings.length * 6);
  putFrameHeader(frame, 0, settings.length * 6, { type: FRAME.settings, flags: 0, streamId: 0 });
  let at = FRAME_HEADER_BYTES;
  for (const [id, value] of settings) {
    frame[at] = id >>> 8;
    frame[at + 1] = id;
    putUint32(frame, at + 2, value);
    at += 6;
  }
  return frame;
}

/** Returns a frame whose payload is 32-bit words, such as WINDOW_UPDATE, RST_STREAM or GOAWAY. */
export function encodeWords(type: number, streamId: number, words: readonly number[]): Uint8Array {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + words.length * 4);
  putFrameHeader(frame, 0, words.length * 4, { type, flags: 0, streamId });
  let at = FRAME_HEADER_BYTES;
  for (const word of words) {
    putUint32(frame, at, word);
    at += 4;
  }
  return frame;
}
