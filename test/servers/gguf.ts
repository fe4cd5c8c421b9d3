/**
 * Writes model files in the GGUF format, version 3 (github.com/ggml-org/ggml, docs/gguf.md): what llama.cpp's server needs to serve a model that
 * nobody has to download.
 */

/** A value of the metadata; numbers say which type they have there. */
export type GgufValue =
  | string
  | boolean
  | { readonly u32: number }
  | { readonly f32: number }
  | { readonly strings: readonly string[] }
  | { readonly i32s: readonly number[] };

/** A tensor of 32-bit floats. */
export interface GgufTensor {
  readonly name: string;
  /** The fastest dimension first, as the format has it. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

const TYPES = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 };
const FLOATS = 0;
const ALIGNMENT = 32;

const encoder = new TextEncoder();

/** The bytes of a model file. */
export function encodeGguf(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Uint8Array<ArrayBuffer> {
  const head = new Bytes();
  head.raw(encoder.encode("GGUF"));
  head.u32(3);
  head.u64(tensors.length);
  head.u64(Object.keys(metadata).length);
  for (const [name, value] of Object.entries(metadata)) {
    head.string(name);
    putValue(head, value);
  }
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    head.string(name);
    head.u32(shape.length);
    for (const size of shape) head.u64(size);
    head.u32(FLOATS);
    head.u64(offset);
    offset = align(offset + values.byteLength);
  }
  head.pad(ALIGNMENT);
  for (const { values } of tensors) {
    head.raw(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    head.pad(ALIGNMENT);
  }
  return head.take();
}

function putValue(to: Bytes, value: GgufValue): void {
  if (typeof value === "string") {
    to.u32(TYPES.string);
    to.string(value);
  } else if (typeof value === "boolean") {
    to.u32(TYPES.bool);
    to.raw(Uint8Array.of(value ? 1 : 0));
  } else if ("u32" in value) {
    to.u32(TYPES.u32);
    to.u32(value.u32);
  } else if ("f32" in value) {
    to.u32(TYPES.f32);
    to.raw(new Uint8Array(Float32Array.of(value.f32).buffer));
  } else if ("strings" in value) {
    to.u32(TYPES.array);
    to.u32(TYPES.string);
    to.u64(value.strings.length);
    for (const text of value.strings) to.string(text);
  } else {
    to.u32(TYPES.array);
    to.u32(TYPES.i32);
    to.u64(value.i32s.length);
    to.raw(new Uint8Array(Int32Array.from(value.i32s).buffer));
  }
}

function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

/** Little-endian bytes, one after the other. */
class Bytes {
  private readonly parts: Uint8Array[] = [];
  private length = 0;

  raw(bytes: Uint8Array): void {
    this.parts.push(bytes);
    this.length += bytes.length;
  }

  u32(value: number): void {
    this.raw(new Uint8Array(Uint32Array.of(value).buffer));
  }

  u64(value: number): void {
    this.raw(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer));
  }

  string(text: string): void {
    const bytes = encoder.encode(text);
    this.u64(bytes.length);
    this.raw(bytes);
  }

  pad(alignment: number): void {
    const missing = (alignment - (this.length % alignment)) % alignment;
    if (missing > 0) this.raw(new Uint8Array(missing));
  }

  take(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.length);
    let offset = 0;
    for (const part of this.parts) {
      all.set(part, offset);
      offset += part.length;
    }
    return all;
  }
}
