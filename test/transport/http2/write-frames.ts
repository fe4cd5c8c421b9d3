import { join, latin1, utf8 } from "../bytes.ts";

/** Writes HTTP/2 frames for scripted servers: apart from src/, so that one does not hide the other's mistakes. */

export const TYPE = {
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

export const END_STREAM = 1;
export const ACK = 1;
export const END_HEADERS = 4;
export const PADDED = 8;
export const PRIORITY = 32;

/** What a client sends before its first frame. */
export const PREFACE_BYTES = 24;

/** Any frame, valid or not. */
export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const header = new Uint8Array(9);
  const view = new DataView(header.buffer);
  view.setUint8(0, payload.length >>> 16);
  view.setUint16(1, payload.length & 0xffff);
  view.setUint8(3, type);
  view.setUint8(4, flags);
  view.setUint32(5, streamId);
  return join(header, payload);
}

/** 32-bit words, big-endian. */
export function words(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value);
  return bytes;
}

export function settings(values: Readonly<Record<number, number>> = {}): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [id, value] of Object.entries(values)) parts.push(new Uint8Array([0, Number(id)]), words(value));
  return frame(TYPE.settings, 0, 0, join(...parts));
}

/** A header list as literals without indexing and without Huffman coding. */
export function headerBlock(headers: readonly (readonly [name: string, value: string])[]): Uint8Array {
  return join(...headers.map(([name, value]) => join(new Uint8Array([0]), literal(name), literal(value))));
}

function literal(text: string): Uint8Array {
  const bytes = utf8(text);
  if (bytes.length < 127) return join(new Uint8Array([bytes.length]), bytes);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  return join(new Uint8Array([...length, rest]), bytes);
}

export function headers(streamId: number, list: readonly (readonly [string, string])[], flags = 0): Uint8Array {
  return frame(TYPE.headers, END_HEADERS | flags, streamId, headerBlock(list));
}

/** A gRPC message with its prefix. */
export function grpcMessage(payload: Uint8Array, flag = 0): Uint8Array {
  return join(new Uint8Array([flag]), words(payload.length), payload);
}

export const GRPC_HEADERS = [
  [":status", "200"],
  ["content-type", "application/grpc"],
] as const;
export const GRPC_OK = [["grpc-status", "0"]] as const;

/** A whole unary response. */
export function grpcAnswer(streamId: number, payload: Uint8Array): Uint8Array {
  return join(
    headers(streamId, GRPC_HEADERS),
    frame(TYPE.data, 0, streamId, grpcMessage(payload)),
    headers(streamId, GRPC_OK, END_STREAM),
  );
}

/** A frame the client sent. */
export interface SentFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Uint8Array;
}

/** The complete frames in what a server received, its preface left out. */
export function framesIn(bytes: Uint8Array): SentFrame[] {
  const frames: SentFrame[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = PREFACE_BYTES; at + 9 <= bytes.length; ) {
    const size = (view.getUint8(at) << 16) | view.getUint16(at + 1);
    if (at + 9 + size > bytes.length) break;
    frames.push({
      type: view.getUint8(at + 3),
      flags: view.getUint8(at + 4),
      streamId: view.getUint32(at + 5),
      payload: bytes.slice(at + 9, at + 9 + size),
    });
    at += 9 + size;
  }
  return frames;
}

export const PREFACE = latin1("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
